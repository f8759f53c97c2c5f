// Finds the lines of a header in the forms in which HTTP clients hand over the headers of a response.
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * The headers of a response, in any of these forms:
 *
 * - an object with `get(name)`, such as the `Headers` of fetch. It joins the lines of a repeated
 *   header with commas. If it has the method `raw` of node-fetch, that is read.
 * - an object by name in any case, such as `IncomingMessage.headers` and `headersDistinct` of Node.
 *   A value is a string, which may be several lines joined with commas, or a list of lines.
 * - pairs of name and value, one for each line, such as `headersArray()` of Playwright; or a flat
 *   list of them, such as `rawHeaders` of Node.
 *
 * The lists and the pairs keep the lines of a repeated header apart. Robots tags need this: see
 * `RobotsDirectives.uncertain`. So does a value with line feeds between the lines, as in the events
 * `Network.responseReceivedExtraInfo` of the DevTools protocol.
 */
export type ResponseHeaders =
  | { get(name: string): string | readonly string[] | null | undefined }
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [name: string, value: string] | { readonly name: string; readonly value: string }>
  | readonly string[]

/**
 * A line of a header.
 * @inline
 */
export interface HeaderLine {
  readonly text: string
  /** Whether the HTTP client may have joined several lines to this one. */
  readonly isJoined: boolean
}

/**
 * Returns the lines of a header.
 *
 * @param name The name in lower case.
 * @throws {OptionError} if `headers` has none of the forms of `ResponseHeaders`.
 */
export function headerLines(headers: ResponseHeaders | undefined, name: string): readonly HeaderLine[] {
  if (headers === undefined) return []
  if (typeof headers !== 'object' || headers === null || headers instanceof Uint8Array) throw invalid(headers)
  if (!(headers instanceof Map) && 'get' in headers && typeof headers.get === 'function') {
    const lines = rawLines(headers, name)
    if (lines !== undefined && lines.length > 1) return linesOf(lines, name)
    return linesOf(headers.get(name), name)
  }
  // These would read as an object without headers.
  if ('next' in headers && typeof headers.next === 'function') {
    throw new OptionError('headers', 'an iterator is read only once; write [...headers]')
  }
  if ('headers' in headers && typeof headers.headers === 'object' && !Array.isArray(headers.headers)) {
    throw new OptionError('headers', `${describeValue(headers)} is not known; write response.headers`)
  }
  if (Array.isArray(headers) && typeof headers[0] === 'string') return linesOfPairs(pairsOf(headers), name)
  if (Symbol.iterator in headers) return linesOfPairs(headers as Iterable<unknown>, name)
  const lines = Object.entries(headers).filter(([key]) => key.toLowerCase() === name)
  return lines.flatMap(([, value]) => linesOf(value, name))
}

/** Returns the lines of a header that the headers of node-fetch have apart; undefined for others. */
function rawLines(headers: object, name: string): readonly string[] | undefined {
  if (!('raw' in headers) || typeof headers.raw !== 'function') return undefined
  const raw: Readonly<Record<string, readonly string[]>> = headers.raw()
  return Object.entries(raw).flatMap(([key, lines]) => (key.toLowerCase() === name ? lines : []))
}

/** Returns the lines of a header whose value is a string or a list. */
function linesOf(value: unknown, name: string): readonly HeaderLine[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') {
    // A line feed is in no value (RFC 9110 §5.5).
    if (value.includes('\n')) return value.split('\n').map((text) => ({ text, isJoined: false }))
    return [{ text: value, isJoined: value.includes(',') }]
  }
  if (!Array.isArray(value)) throw invalidValue(name, value)
  return value.map((text) => {
    if (typeof text !== 'string') throw invalidValue(name, text)
    return { text, isJoined: false }
  })
}

/** Returns the pairs of a flat list: each name with the value after it. */
function pairsOf(list: readonly unknown[]): readonly unknown[] {
  return list.filter((_, i) => i % 2 === 0).map((name, i) => [name, list[2 * i + 1]])
}

function linesOfPairs(pairs: Iterable<unknown>, name: string): readonly HeaderLine[] {
  const lines: HeaderLine[] = []
  for (const entry of pairs) {
    const [key, value] = pairOf(entry)
    if (key.toLowerCase() !== name) continue
    if (typeof value !== 'string') throw invalidValue(name, value)
    lines.push({ text: value, isJoined: false })
  }
  return lines
}

function pairOf(entry: unknown): readonly [name: string, value: unknown] {
  if (Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string') return [entry[0], entry[1]]
  const { name, value } = (entry ?? {}) as { readonly name?: unknown; readonly value?: unknown }
  if (typeof name === 'string') return [name, value]
  throw new OptionError('headers', `the entry ${describeValue(entry)} is not a pair; ${EXPECTED}`)
}

const EXPECTED =
  'expected the headers of a response: a Headers object, an object such as { "x-robots-tag": "noindex" }, or pairs such as [["X-Robots-Tag", "noindex"]]'

function invalid(headers: unknown): OptionError {
  return new OptionError('headers', `${describeValue(headers)} is not known; ${EXPECTED}`)
}

function invalidValue(name: string, value: unknown): OptionError {
  return new OptionError('headers', `${describeValue(value)} is not a value of ${name}; expected a string`)
}

// Splits header values that are lists.

/** Splits a list at its commas, except those inside quotes. RFC 9110 §5.6.1. */
export function membersOf(value: string): readonly string[] {
  return value.match(/(?:[^,"]|"[^"]*"?)+/g) ?? []
}
