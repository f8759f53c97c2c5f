// Finds the lines of a header in the forms in which HTTP clients hand over the headers of a response.
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * The headers of a response, in any of these forms:
 *
 * - an object with `get(name)`, such as the `Headers` of fetch. It joins the lines of a repeated
 *   header with commas.
 * - an object by name in any case, such as `IncomingMessage.headers` and `headersDistinct` of Node.
 *   A value is a string, which may be several lines joined with commas, or a list of lines.
 * - pairs of name and value, one for each line; or a flat list of them, such as `rawHeaders` of Node.
 *
 * The lists and the pairs keep the lines of a repeated header apart. Robots tags need this: see
 * `RobotsDirectives.uncertain`.
 */
export type ResponseHeaders =
  | { get(name: string): string | readonly string[] | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [name: string, value: string]>
  | readonly string[]

/** A line of a header. */
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
    return linesOf(headers.get(name) ?? undefined, name)
  }
  if (Array.isArray(headers) && typeof headers[0] === 'string') return linesOfPairs(pairsOf(headers), name)
  if (Symbol.iterator in headers) return linesOfPairs(headers as Iterable<unknown>, name)
  const lines = Object.entries(headers).filter(([key]) => key.toLowerCase() === name)
  return lines.flatMap(([, value]) => linesOf(value, name))
}

/** Returns the lines of a header whose value is a string or a list. */
function linesOf(value: unknown, name: string): readonly HeaderLine[] {
  if (value === undefined) return []
  if (typeof value === 'string') return [{ text: value, isJoined: value.includes(',') }]
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
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string') {
      throw new OptionError('headers', `the entry ${describeValue(pair)} is not a pair; ${EXPECTED}`)
    }
    if (pair[0].toLowerCase() !== name) continue
    if (typeof pair[1] !== 'string') throw invalidValue(name, pair[1])
    lines.push({ text: pair[1], isJoined: false })
  }
  return lines
}

const EXPECTED =
  'expected the headers of a response: a Headers object, an object such as { "x-robots-tag": "noindex" }, or pairs such as [["X-Robots-Tag", "noindex"]]'

function invalid(headers: unknown): OptionError {
  return new OptionError('headers', `${describeValue(headers)} is not known; ${EXPECTED}`)
}

function invalidValue(name: string, value: unknown): OptionError {
  return new OptionError('headers', `${describeValue(value)} is not a value of ${name}; expected a string`)
}
