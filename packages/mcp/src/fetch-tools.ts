import type { McpServer } from '@modelcontextprotocol/server'
import { assertOptions } from '@politely/fetcher/internal'
import { createFetchServer, registerFetchTools } from './fetch-server.ts'
import { FETCH_TOOLS_OPTIONS, type FetchToolsOptions } from './options.ts'
import { createReaders, type Readers } from './readers.ts'

/**
 * The tools `fetch_url` and `may_fetch`, and the prompt `fetch`. All servers of one object share its
 * robots.txt cache, and one pace for each site.
 */
export class FetchTools {
  readonly #readers: Readers

  /** @throws {OptionError} for an invalid option. */
  constructor(options: FetchToolsOptions) {
    assertOptions(options, '{ userAgent: "YourMCP/1.0 (+https://your.site/mcp)" }', FETCH_TOOLS_OPTIONS)
    this.#readers = createReaders(options)
  }

  /** Creates a server that has only these tools. Make one for each connection. */
  createServer(): McpServer {
    return createFetchServer(this.#readers)
  }

  /** Adds the tools and the prompt to your server. */
  addTo(server: McpServer): void {
    registerFetchTools(server, this.#readers)
  }

  /** Ends all requests. Later calls of the tools fail. */
  close(): Promise<void> {
    return this.#readers.close()
  }
}
