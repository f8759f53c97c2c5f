// What came of a reading, as sentences for a model and as data for programs. Where a client shows a model only one of the two, it has
// the sentence all the same.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { describeVerdict } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { Forecast } from '@politely/gate'
import { type Failure, type Page, type Reading, type Refusal, refusalOf, seconds } from './page-reader.ts'

/** Which part of a text is wanted. Characters. */
export interface Part {
  readonly start: number
  readonly length: number
}

/** A tool's result: the part of a page, or why there is none. */
export function resultOf(reading: Reading, { start, length }: Part): CallToolResult {
  if (reading.kind !== 'page') return errorResult(reading)
  const { url, text } = reading
  if (start > 0 && start >= text.length) {
    const message = `start_index ${start} is past the end, since the text of ${url} has ${text.length} characters`
    return errorResult({ kind: 'failure', reason: 'part', message })
  }
  return { content: blocksOf(reading, { start, length }, 'tool').map((block) => ({ type: 'text', text: block })) }
}

/** Our words about a page, and then its own, apart from them: no page can speak as this server does. */
export function blocksOf(page: Page, { start, length }: Part, by: 'tool' | 'prompt'): string[] {
  const { url, status, mediaType, text, isCut } = page
  const part = wholeCharacters(text, start, start + length)
  const answer = shortened(`${url} answered ${status}, ${mediaType}`)
  if (part === '') return [`${answer}, and has no text.`]
  const end = start + part.length
  const facts = [`${answer}. Characters ${start} to ${end} of ${text.length} follow.`]
  if (end < text.length && by === 'tool') facts.push(`For more, call again with start_index ${end}.`)
  if (isCut) facts.push('The page is longer than is read here: its end is missing.')
  return [facts.join(' '), part]
}

/** Cuts no character in half. */
function wholeCharacters(text: string, start: number, end: number): string {
  const isHigh = (at: number) => /[\uD800-\uDBFF]/.test(text.charAt(at))
  return text.slice(start, end < text.length && end - 1 > start && isHigh(end - 1) ? end - 1 : end)
}

/** The answer to a question about a page; a no is an answer like any other. */
export function forecastResult(forecast: Forecast | Failure): CallToolResult {
  if ('kind' in forecast) return errorResult(forecast)
  if (!forecast.allowed) {
    const refusal = refusalOf(forecast)
    const { verdict, retryAfterMs } = refusal
    return told(sentenceOf(refusal), { allowed: false, verdict: bounded(verdict), retryAfterMs })
  }
  const { verdict, waitMs, because, ahead } = forecast
  const when = waitMs === 0 ? 'now' : `in about ${seconds(waitMs)} (${because}, ${ahead} before it)`
  const message = `${verdict.url} may be fetched ${when}. It is ${shortened(describeVerdict(verdict))}.`
  return told(message, { allowed: true, waitMs, because, ahead, verdict: bounded(verdict) })
}

/** Why there is no page, and what to do about it. */
export function sentenceOf(reading: Refusal | Failure): string {
  const again =
    reading.retryAfterMs === undefined ? '' : ` It makes sense to ask again in ${seconds(reading.retryAfterMs)}.`
  if (reading.kind === 'failure') return `Not fetched: ${shortened(reading.message)}.${again}`
  const { verdict } = reading
  const robots = 'access' in verdict ? ` Its robots.txt is ${shortened(verdict.access.url)}.` : ''
  return `Not fetched: ${shortened(verdict.url)} is ${shortened(describeVerdict(verdict))}.${robots} ${adviceOn(verdict)}${again}`
}

function adviceOn(verdict: ClientVerdict): string {
  if (verdict.because !== 'unreachable') {
    return 'The site asks automatic clients to leave it alone, so do not look for another way to it; a person can open it in a browser.'
  }
  switch (verdict.access.reason) {
    case 'blocked-address':
      return 'Only public addresses are reached from here.'
    case 'dns':
      return 'The name of the host may be wrong.'
    default:
      return 'Nobody knows what it allows, so that nothing may be fetched there now.'
  }
}

function errorResult(reading: Refusal | Failure): CallToolResult {
  const { retryAfterMs } = reading
  const why =
    reading.kind === 'refusal'
      ? { reason: 'robots.txt', verdict: bounded(reading.verdict) }
      : { reason: reading.reason, status: reading.status }
  return { ...told(sentenceOf(reading), { ...why, retryAfterMs }), isError: true }
}

/** A client may show its model either of the two, so both have the sentence. */
function told(message: string, data: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: message }], structuredContent: { message, ...data } }
}

const MOST_CHARACTERS = 1_000
const MOST_ITEMS = 20

/** A site may write a rule of half a megabyte, and thousands of hours for visits. */
function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

function bounded(verdict: ClientVerdict): unknown {
  const text = JSON.stringify(verdict, (_key, value: unknown) => {
    if (typeof value === 'string') return shortened(value)
    return Array.isArray(value) ? value.slice(0, MOST_ITEMS) : value
  })
  return JSON.parse(text)
}
