// The MCP server: two tools that the model calls, and a prompt that a person chooses.
import { createRequire } from 'node:module'
import { McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { withProgress } from './progress.ts'
import type { Readers } from './readers.ts'
import { describeProblem, forecastResult, readResult, textBlocks } from './tool-results.ts'

const INSTRUCTIONS = `fetch_url reads public web pages and obeys each site's robots.txt. If it refuses a page, tell the user and do not
try another way to get it. The user can open the page in a browser, or choose the prompt "fetch", which uses another User-Agent.`

/** The most characters of a page that a prompt returns. A prompt cannot request the next part. */
const PROMPT_LENGTH = 50_000

const url = z.string().describe('The absolute http or https URL of the page.')

/** Creates a server that uses these readers. The caller closes the readers. */
export function createFetchServer(readers: Readers): McpServer {
  const server = new McpServer({ name: 'politely-fetch', version: version() }, { instructions: INSTRUCTIONS })
  registerFetchTools(server, readers)
  return server
}

function version(): string {
  const manifest = createRequire(import.meta.url)('@politely/mcp/package.json') as { readonly version: string }
  return manifest.version
}

export function registerFetchTools(server: McpServer, { autonomous, user }: Readers): void {
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: true }

  const page = z.object({
    url,
    start_index: z.int().min(0).default(0).describe('The index of the first character to return.'),
    max_length: z.int().min(100).max(100_000).default(5_000).describe('The most characters to return.'),
    raw: z.boolean().default(false).describe('Return HTML unchanged, not as text.'),
  })
  const fetchUrl = {
    title: 'Fetch a page',
    description:
      'Reads a public web page as text, one part for each call. Refuses pages that robots.txt disallows, and waits if the site asks for a delay.',
    annotations,
    inputSchema: page,
  }
  server.registerTool('fetch_url', fetchUrl, async ({ url, start_index, max_length, raw }, context) => {
    const form = raw ? 'raw' : 'text'
    const { signal } = context.mcpReq
    const result = await withProgress(context, (onStage) =>
      autonomous.read(url, { signal, form, source: start_index === 0 ? 'site' : 'cache', onStage }),
    )
    return readResult(result, { start: start_index, length: max_length })
  })

  const mayFetch = {
    title: 'May a page be fetched?',
    description:
      'Tells whether fetch_url may read a page, when, and which line of robots.txt decides. Does not fetch the page.',
    annotations,
    inputSchema: z.object({ url }),
  }
  server.registerTool('may_fetch', mayFetch, async ({ url }, { mcpReq }: ServerContext) =>
    forecastResult(await autonomous.forecast(url, mcpReq.signal)),
  )

  const prompt = {
    title: 'Fetch a page',
    description: 'Adds the text of a page that you name to the conversation.',
    argsSchema: z.object({ url }),
  }
  server.registerPrompt('fetch', prompt, async ({ url }, context) => {
    const result = await withProgress(context, (onStage) => user.read(url, { signal: context.mcpReq.signal, onStage }))
    const texts =
      result.kind === 'page'
        ? textBlocks(result, { start: 0, length: PROMPT_LENGTH }, 'prompt')
        : [describeProblem(result)]
    return {
      description: result.kind === 'page' ? `The page at ${result.url}` : 'The page was not fetched',
      messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
    }
  })
}
