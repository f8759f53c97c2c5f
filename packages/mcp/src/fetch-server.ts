// The MCP server: two tools that the model calls, and a prompt that a person chooses.
import { createRequire } from 'node:module'
import { McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { fetchTool, pageUrl } from './fetch-tool.ts'
import { type Stage, seconds } from './page-reader.ts'
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

// Sends progress notifications to a client that asks for them: at once, then every second.

const INTERVAL_MS = 1_000

/** Runs `work` and notifies the client of each stage that it reports. */
async function withProgress<T>(
  { mcpReq }: ServerContext,
  work: (onStage: (stage: Stage) => void) => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return await work(() => undefined)
  const start = performance.now()
  let stage: Stage = { waitsFor: 'robots.txt' }
  let total: number | undefined
  const notify = () => {
    const progress = (performance.now() - start) / 1000
    const params = { progressToken, progress, message: messageOf(stage), ...(total !== undefined && { total }) }
    // A failed notification means that the client has disconnected. The request's signal then ends
    // the work.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const timer = setInterval(notify, INTERVAL_MS)
  try {
    return await work((next) => {
      stage = next
      // In seconds, like `progress`. Only the wait for a slot has a known length.
      total = stage.waitsFor === 'slot' ? (performance.now() - start + stage.forecast.waitMs) / 1000 : undefined
      notify()
    })
  } finally {
    clearInterval(timer)
  }
}

function messageOf(stage: Stage): string {
  if (stage.waitsFor !== 'slot') return `waiting for ${stage.waitsFor === 'response' ? 'the page' : 'robots.txt'}`
  const { waitMs, because, ahead, verdict } = stage.forecast
  const where = verdict.origin ?? verdict.url
  if (waitMs === 0) return `waiting to start the request to ${where}`
  return `waiting to start the request to ${where}: about ${seconds(waitMs)} (${because}, requests ahead: ${ahead})`
}
