// The public API of `@politely/mcp/tool`: the server's fetch tool as a function, for agents that
// call tools in their own process. This entry loads neither the MCP SDK nor, at once, undici.
import { OptionError, productTokenOf } from '@politely/core'
import { assertOptions, callable } from '@politely/fetcher/internal'
import { LocalPacer } from '@politely/gate'
import type { FetchToolResult } from './fetch-result.ts'
import { type FetchToolArguments, type FetchToolInput, fetchTool } from './fetch-tool.ts'
import { FETCH_TOOLS_OPTIONS, type FetchToolsOptions } from './options.ts'
import { PageReader } from './page-reader.ts'

export type * from '@politely/gate/shown-types'
export type { FetchToolResult } from './fetch-result.ts'
export type { FetchToolInput } from './fetch-tool.ts'

/** The options of `politeFetchTool`: the options of the MCP server, and `fetch`. */
export interface PoliteFetchToolOptions extends Omit<FetchToolsOptions, 'userAgent'> {
  /** Your User-Agent, such as `ExampleAgent/1.0 (+https://example.com/agent)`. It is sent as it is. */
  readonly userAgent: string
  /**
   * Sends the requests for pages and robots.txt: through a proxy, or to the fake web of a test. The
   * guard then sees only URLs, not the addresses that they lead to. Default: guarded connections;
   * on Bun, its own fetch, after a look at the addresses of each name.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * What `execute` reads of its second argument: the AI SDK and Mastra pass it.
 * @inline
 */
interface FetchToolContext {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly abortSignal?: AbortSignal | undefined
}

/**
 * What `validate` of a Standard Schema returns.
 * @inline
 */
type FetchToolValidation =
  | { readonly value: FetchToolArguments; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/**
 * A tool that fetches pages for a model. It has the shape that the AI SDK and Mastra take:
 * `tool(fetchUrl)`, `createTool({ id: fetchUrl.name, ...fetchUrl })`.
 */
export interface PoliteFetchTool extends AsyncDisposable {
  readonly name: 'fetch_url'
  /** Says what the tool does, for the model. */
  readonly description: string
  /**
   * The input of the tool as a Standard Schema, with its JSON Schema (https://standardschema.dev). It
   * is a schema of Zod.
   */
  readonly inputSchema: {
    readonly '~standard': {
      readonly version: 1
      readonly vendor: string
      readonly types?: { readonly input: FetchToolInput; readonly output: FetchToolArguments } | undefined
      readonly validate: (value: unknown) => FetchToolValidation | Promise<FetchToolValidation>
      readonly jsonSchema: {
        readonly input: (options: { readonly target: string }) => Record<string, unknown>
        readonly output: (options: { readonly target: string }) => Record<string, unknown>
      }
    }
  }
  /**
   * Fetches a part of a page. What keeps the tool from it is a result with a reason, not an error:
   * robots.txt, the time limit, a failure of the site, an invalid input.
   * @throws the reason of `abortSignal`; {GateClosedError} after `close`.
   */
  readonly execute: (input: FetchToolInput, context?: FetchToolContext) => Promise<FetchToolResult>
  /** Ends all requests. Later calls reject. */
  readonly close: () => Promise<void>
}

/**
 * Returns the fetch tool of the MCP server, for a program that runs an agent itself. Each page is
 * checked against robots.txt and waits for its slot, and the server's limits hold: public addresses
 * only, the size of a page, the time limit. Create one for the process: calls share a cache of
 * robots.txt, and one pace for each site.
 * @throws {OptionError} for an invalid or unknown option.
 *
 * @example
 * ```ts
 * import { politeFetchTool } from '@politely/mcp/tool'
 * import { generateText, isStepCount, tool } from 'ai'
 *
 * const fetchUrl = politeFetchTool({ userAgent: 'ExampleAgent/1.0 (+https://example.com/agent)' })
 * const tools = { fetch_url: tool(fetchUrl) }
 * const { text } = await generateText({ model, prompt, tools, stopWhen: isStepCount(5) })
 * ```
 */
export function politeFetchTool(options: PoliteFetchToolOptions): PoliteFetchTool {
  const example = '{ userAgent: "ExampleAgent/1.0 (+https://example.com/agent)" }'
  assertOptions(options, example, { ...FETCH_TOOLS_OPTIONS, fetch: true })
  callable('fetch', options.fetch, 'a function like the global fetch')
  const { userAgent } = options
  if (typeof userAgent === 'string' && userAgent.trim() !== '' && productTokenOf(userAgent) === undefined) {
    // The client would ask for its option productToken, which the tool doesn't have.
    const remedy = 'begin it with a name such as ExampleAgent/1.0'
    throw new OptionError('userAgent', `${JSON.stringify(userAgent)} contains no product token; ${remedy}`)
  }
  const reader = new PageReader({ ...options, pacer: new LocalPacer(), self: 'tool' })
  const { name, description, inputSchema, execute } = fetchTool(reader)
  const close = () => reader.close()
  return { name, description, inputSchema, execute, close, [Symbol.asyncDispose]: close }
}
