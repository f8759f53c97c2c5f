// Turns the result of a read into the result of a tool: a sentence for the model, and data for
// programs. Some MCP clients show their model only one of the two, so both contain the sentence.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { describeVerdict } from '@politely/core'
import { escapeControls } from '@politely/core/internal'
import type { ClientVerdict } from '@politely/fetcher'
import type { Forecast } from '@politely/gate'
import type { FetchedPart, FetchToolResult, NotFetched } from './fetch-result.ts'
import {
  type Page,
  type ReadFailure,
  type ReadRefusal,
  type ReadResult,
  readRefusalOf,
  type Self,
  seconds,
} from './page-reader.ts'

/** The requested part of a text, in characters. */
export interface Part {
  readonly start: number
  readonly length: number
}

/** Returns the requested part of a page, or why it was not fetched. */
export function fetchResult(result: ReadResult, { start, length }: Part, self: Self): FetchToolResult {
  if (result.kind !== 'page') return notFetched(result, self)
  const { url, status, mediaType, text } = result
  if (start > 0 && start >= text.length) {
    const message = `start_index ${start} is out of range, because the text of ${url} has ${text.length} characters`
    return notFetched({ kind: 'failure', reason: 'part', message }, self)
  }
  const [message = '', part = ''] = textBlocks(result, { start, length }, 'tool', self)
  const end = start + part.length
  const fetched: FetchedPart = { fetched: true, message, url, status, mediaType, text: part }
  return end < text.length ? { ...fetched, nextIndex: end } : fetched
}

/** Returns an MCP result. */
export function callResult(result: FetchToolResult): CallToolResult {
  if (!result.fetched) {
    const { fetched: _, message, ...data } = result
    return { ...toolResult(message, data), isError: true }
  }
  const { message, text } = result
  return { content: (text === '' ? [message] : [message, text]).map((block) => ({ type: 'text', text: block })) }
}

/**
 * Returns the tool's words and the page's text as separate blocks, so that a page cannot imitate
 * the tool.
 */
export function textBlocks(page: Page, { start, length }: Part, caller: 'tool' | 'prompt', self: Self): string[] {
  const { url, status, mediaType, text } = page
  const part = sliceWholeCharacters(text, start, start + length)
  const summary = shorten(`${url} responded with ${status}, ${mediaType}`)
  const missing = missingParts(page, self)
  if (part === '') return [[`${summary}, and contains no text.`, ...missing].join(' ')]
  const end = start + part.length
  const facts = [`${summary}. Characters ${start} to ${end} of ${text.length} follow.`]
  if (end < text.length && caller === 'tool') facts.push(`For more, call again with start_index ${end}.`)
  return [[...facts, ...missing].join(' '), part]
}

/** Says what of the page the text lacks. */
function missingParts({ isCut, lacksUrls }: Page, self: Self): string[] {
  return [
    ...(isCut ? [`The page is longer or more deeply nested than this ${self} reads, so its end is missing.`] : []),
    ...(lacksUrls ? ['The page has too many links, so some of them are written without their URLs.'] : []),
  ]
}

/** Slices without splitting a surrogate pair. */
function sliceWholeCharacters(text: string, start: number, end: number): string {
  const isHigh = (index: number) => /[\uD800-\uDBFF]/.test(text.charAt(index))
  return text.slice(start, end < text.length && end - 1 > start && isHigh(end - 1) ? end - 1 : end)
}

/** Returns the result of `may_fetch`. A refusal is a normal result, not an error. */
export function forecastResult(forecast: Forecast | ReadFailure): CallToolResult {
  if ('kind' in forecast) return callResult(notFetched(forecast, 'server'))
  if (!forecast.allowed) {
    const refusal = readRefusalOf(forecast)
    const { verdict, retryAfterMs } = refusal
    return toolResult(describeProblem(refusal, 'server'), {
      allowed: false,
      verdict: shortenVerdict(verdict),
      retryAfterMs,
    })
  }
  const { verdict, waitMs, because, ahead } = forecast
  const when = waitMs === 0 ? 'now' : `in about ${seconds(waitMs)} (${because}, requests ahead: ${ahead})`
  const message = `${verdict.url} may be fetched ${when}. It is ${shorten(describeVerdict(verdict))}.`
  return toolResult(message, { allowed: true, waitMs, because, ahead, verdict: shortenVerdict(verdict) })
}

/** Says why the page was not fetched, and what to do. */
export function describeProblem(result: ReadRefusal | ReadFailure, self: Self): string {
  const again = result.retryAfterMs === undefined ? '' : ` Try again in ${seconds(result.retryAfterMs)}.`
  if (result.kind === 'failure') return `Not fetched: ${shorten(result.message)}.${again}`
  const { verdict } = result
  const robots = verdict.access ? ` Its robots.txt is ${shorten(verdict.access.url)}.` : ''
  return `Not fetched: ${shorten(verdict.url)} is ${shorten(describeVerdict(verdict))}.${robots} ${advice(verdict, self)}${again}`
}

function advice(verdict: ClientVerdict, self: Self): string {
  if (verdict.because !== 'unreachable') {
    return 'The site asks automatic clients not to fetch this page, so do not try another way; a person can open it in a browser.'
  }
  switch (verdict.access.reason) {
    case 'blocked-address':
      return `This ${self} connects to public addresses only.`
    case 'dns':
      return 'The host name may be wrong.'
    default:
      return 'The rules of the site are unknown, so nothing may be fetched from it now.'
  }
}

/** Returns why a page was not fetched. */
export function notFetched(result: ReadRefusal | ReadFailure, self: Self): NotFetched {
  const { retryAfterMs } = result
  const cause =
    result.kind === 'refusal'
      ? { reason: 'robots.txt' as const, verdict: shortenVerdict(result.verdict) }
      : { reason: result.reason, ...(result.status !== undefined && { status: result.status }) }
  const message = describeProblem(result, self)
  return { fetched: false, message, ...cause, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function toolResult(message: string, data: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: message }], structuredContent: { message, ...data } }
}

const MAX_TEXT_LENGTH = 1_000
const MAX_LIST_LENGTH = 20

/**
 * Shortens text of a site, which may contain a rule of half a megabyte, and escapes its control
 * characters.
 */
function shorten(text: string): string {
  return escapeControls(text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text)
}

/**
 * Shortens and escapes all texts, and shortens all lists. A site may write thousands of Visit-time
 * lines.
 */
function shortenVerdict(verdict: ClientVerdict): ClientVerdict {
  const text = JSON.stringify(verdict, (_key, value: unknown) => {
    if (typeof value === 'string') return shorten(value)
    return Array.isArray(value) ? value.slice(0, MAX_LIST_LENGTH) : value
  })
  return JSON.parse(text)
}
