// The tool fetch_url: what the MCP server registers, and what politeFetchTool returns.
import { z } from 'zod'
import type { FetchToolResult } from './fetch-result.ts'
import type { PageReader, Stage } from './page-reader.ts'
import { fetchResult, notFetched } from './tool-results.ts'

/** What a model gives to the tool. */
export interface FetchToolInput {
  /** The absolute http or https URL of the page. */
  readonly url: string
  /** The index of the first character to return. Default 0. */
  readonly start_index?: number | undefined
  /** The most characters to return: 100 to 100,000. Default 5,000. */
  readonly max_length?: number | undefined
  /** Returns HTML unchanged instead of as text. Default false. */
  readonly raw?: boolean | undefined
}

interface ParsedInput {
  readonly data: {
    readonly url: string
    readonly start_index: number
    readonly max_length: number
    readonly raw: boolean
  }
}

/**
 * The input with its defaults.
 * @inline
 */
export type FetchToolArguments = ParsedInput['data']

/** What the MCP server and politeFetchTool share. */
export interface FetchTool {
  readonly name: 'fetch_url'
  readonly description: string
  readonly inputSchema: z.ZodType<FetchToolArguments, FetchToolInput>
  readonly execute: (
    input: FetchToolInput,
    context?: {
      readonly abortSignal?: AbortSignal | undefined
      /** Called when the read starts to wait for something else. */
      readonly onStage?: (stage: Stage) => void
    },
  ) => Promise<FetchToolResult>
}

export const pageUrl: z.ZodString = z.string().describe('The absolute http or https URL of the page.')

const inputSchema: FetchTool['inputSchema'] = z.object({
  url: pageUrl,
  start_index: z.int().min(0).default(0).describe('The index of the first character to return.'),
  max_length: z.int().min(100).max(100_000).default(5_000).describe('The most characters to return.'),
  raw: z.boolean().default(false).describe('Return HTML unchanged, not as text.'),
})

const NEVER: AbortSignal = new AbortController().signal

export function fetchTool(reader: PageReader): FetchTool {
  return {
    name: 'fetch_url',
    description:
      'Reads a public web page as text, one part for each call. Refuses pages that robots.txt disallows, and waits if the site asks for a delay.',
    inputSchema,
    execute: async (input, { abortSignal = NEVER, onStage } = {}) => {
      abortSignal.throwIfAborted()
      // A framework has validated the input already, a direct caller has not.
      const { data, error } = inputSchema.safeParse(input)
      if (error !== undefined) return notFetched(inputFailure(error), reader.self)
      const { url, start_index, max_length, raw } = data
      const form = raw ? 'raw' : 'text'
      const source = start_index === 0 ? 'site' : 'cache'
      const result = await reader.read(url, { signal: abortSignal, form, source, ...(onStage && { onStage }) })
      return fetchResult(result, { start: start_index, length: max_length }, reader.self)
    },
  }
}

function inputFailure({ issues }: z.ZodError) {
  const message = issues.map(({ path, message }) => `${path.join('.') || 'the input'}: ${message}`).join('; ')
  return { kind: 'failure', reason: 'input', message } as const
}
