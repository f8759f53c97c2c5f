// The MCP server: two tools that the model calls, and a prompt that a person chooses.
import { createRequire } from 'node:module'
import { McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { fetchTool, pageUrl } from './fetch-tool.ts'
import { withProgress } from './progress.ts'
import type { Readers } from './readers.ts'
import { callResult, describeProblem, forecastResult, textBlocks } from './tool-results.ts'

const INSTRUCTIONS = `fetch_url reads public web pages and obeys each site's robots.txt. If it refuses a page, tell the user and do not
try another way to get it. The user can open the page in a browser, or choose the prompt "fetch", which uses another User-Agent.`

/** The most characters of a page that a prompt returns. A prompt cannot request the next part. */
const PROMPT_LENGTH = 50_000

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

  const { name, description, inputSchema, execute } = fetchTool(autonomous)
  const fetchUrl = { title: 'Fetch a page', description, annotations, inputSchema }
  server.registerTool(name, fetchUrl, async (input, context) => {
    const abortSignal = context.mcpReq.signal
    return callResult(await withProgress(context, (onStage) => execute(input, { abortSignal, onStage })))
  })

  const mayFetch = {
    title: 'May a page be fetched?',
    description:
      'Tells whether fetch_url may read a page, when, and which line of robots.txt decides. Does not fetch the page.',
    annotations,
    inputSchema: z.object({ url: pageUrl }),
  }
  server.registerTool('may_fetch', mayFetch, async ({ url }, { mcpReq }: ServerContext) =>
    forecastResult(await autonomous.forecast(url, mcpReq.signal)),
  )

  const prompt = {
    title: 'Fetch a page',
    description: 'Adds the text of a page that you name to the conversation.',
    argsSchema: z.object({ url: pageUrl }),
  }
  server.registerPrompt('fetch', prompt, async ({ url }, context) => {
    const result = await withProgress(context, (onStage) => user.read(url, { signal: context.mcpReq.signal, onStage }))
    const texts =
      result.kind === 'page'
        ? textBlocks(result, { start: 0, length: PROMPT_LENGTH }, 'prompt', user.self)
        : [describeProblem(result, user.self)]
    return {
      description: result.kind === 'page' ? `The page at ${result.url}` : 'The page was not fetched',
      messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
    }
  })
}
