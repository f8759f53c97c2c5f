// The MCP server: two tools for a model's own wishes, and a prompt for a person's.
import { McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { withProgress } from './progress.ts'
import type { Readers } from './readers.ts'
import { blocksOf, forecastResult, resultOf, sentenceOf } from './telling.ts'

const INSTRUCTIONS = `fetch_url reads public web pages and keeps to what each site's robots.txt says. Where it is refused, say so to the
user and leave the page alone: the user can open it in a browser, or choose the prompt "fetch", which asks the site under another name.`

/** Characters of a page that a prompt brings; nobody asks for the rest of it. */
const PROMPT_LENGTH = 50_000

const url = z.string().describe('The absolute http or https URL of the page.')

/** A server over these readers; they stay the caller's to close. */
export function createFetchServer({ autonomous, user }: Readers): McpServer {
  const server = new McpServer({ name: 'politely-fetch', version: '1.0.0' }, { instructions: INSTRUCTIONS })
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: true }

  const page = z.object({
    url,
    start_index: z.int().min(0).default(0).describe('The first character that is wanted of the text.'),
    max_length: z.int().min(100).max(100_000).default(5_000).describe('How many characters are wanted.'),
    raw: z.boolean().default(false).describe('HTML as it is, and not as text.'),
  })
  const fetchUrl = {
    title: 'Fetch a page',
    description:
      'Reads a public web page as text, a part at a time. Pages that robots.txt disallows are refused; where the site asks for pauses, the call waits.',
    annotations,
    inputSchema: page,
  }
  server.registerTool('fetch_url', fetchUrl, async ({ url, start_index, max_length, raw }, context) => {
    const form = raw ? 'raw' : 'text'
    const { signal } = context.mcpReq
    const reading = await withProgress(context, (onStage) =>
      autonomous.read(url, { signal, form, from: start_index === 0 ? 'site' : 'copy', onStage }),
    )
    return resultOf(reading, { start: start_index, length: max_length })
  })

  const mayFetch = {
    title: 'May a page be fetched?',
    description:
      'Says whether fetch_url may read a page, when, and which line of robots.txt decides. Does not fetch the page.',
    annotations,
    inputSchema: z.object({ url }),
  }
  server.registerTool('may_fetch', mayFetch, async ({ url }, { mcpReq }: ServerContext) =>
    forecastResult(await autonomous.forecast(url, mcpReq.signal)),
  )

  const prompt = {
    title: 'Fetch a page',
    description: 'Brings a page that you name into the conversation, as text.',
    argsSchema: z.object({ url }),
  }
  server.registerPrompt('fetch', prompt, async ({ url }, context) => {
    const reading = await withProgress(context, (onStage) => user.read(url, { signal: context.mcpReq.signal, onStage }))
    const texts =
      reading.kind === 'page' ? blocksOf(reading, { start: 0, length: PROMPT_LENGTH }, 'prompt') : [sentenceOf(reading)]
    return {
      description: reading.kind === 'page' ? `The page at ${reading.url}` : 'The page was not fetched',
      messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
    }
  })
  return server
}
