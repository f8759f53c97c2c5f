// The crawler's name in robots.txt. RFC 9309 §2.2.1.
import { ALPHANUMERIC, byteSet, CR, LOWER_CASE, SLASH, SPACE, STAR, TAB, without } from '../ascii.ts'
import { bytesOfLatin1 } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { isProductToken, tokenInHeader } from './user-agent-name.ts'

/**
 * Returns whether a user-agent line names every crawler: `*`, alone or before a blank and any other
 * text (google/robotstxt).
 */
export function namesEveryone(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== STAR || start >= end) return false
  const next = bytes[start + 1] as number
  return end - start === 1 || next === SPACE || (next >= TAB && next <= CR)
}

const LETTERS = byteSet(`${ALPHANUMERIC.replace(/\d/g, '')}_-`)
const LETTERS_AND_DIGITS = byteSet(`${ALPHANUMERIC}_-`)
const ALL_BYTES = new Uint8Array(256).fill(1)
/** All bytes that do not separate a name from its version. */
const NAME_BYTES = without(ALL_BYTES, SLASH, SPACE, TAB)

/** Returns the end of the longest run of bytes from `start` on that are in the set. */
function endOfRun(bytes: Uint8Array, start: number, end: number, set: Uint8Array): number {
  let i = start
  while (i < end && set[bytes[i] as number] === 1) i++
  return i
}

/**
 * Compares user-agent lines with one name of a crawler: a product token, or a User-Agent header.
 * Ignores the case of ASCII letters.
 */
export class CrawlerName {
  /** In lower case; undefined if no line can name the crawler. */
  readonly #token: Uint8Array | undefined
  /** A user-agent value is compared up to its first byte that is not in this set. */
  readonly #comparedBytes: Uint8Array
  readonly #isSubstring: boolean

  constructor(crawler: string, agents: ParsingRules['agents']) {
    // google/robotstxt compares a crawler's name unchanged, so `ExampleBot/1.0`, which is not a
    // token, has no group.
    const isCompared = agents === 'token' || isProductToken(crawler)
    const token = isCompared ? crawler : (tokenInHeader(crawler) ?? wholeName(crawler, agents))
    // A character above U+00FF becomes 0xFF, which is in no token. So U+212A, whose lower case is
    // `k`, does not become `k`.
    this.#token = token === undefined ? undefined : bytesOfLatin1(token).map((byte) => LOWER_CASE[byte] as number)
    this.#isSubstring = agents === 'substring'
    this.#comparedBytes = comparedBytes(agents, token)
  }

  /** Returns whether a user-agent line with this value names the crawler. */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const token = this.#token
    if (token === undefined) return false
    if (this.#isSubstring) return this.#hasSubstring(bytes, start, end)
    // Most lines name other crawlers, and differ in the first byte.
    if (token.length > 0 && LOWER_CASE[bytes[start] as number] !== token[0]) return false
    return (
      endOfRun(bytes, start, end, this.#comparedBytes) - start === token.length &&
      isAt(bytes, start, token, 0, token.length)
    )
  }

  /**
   * Returns whether the name on the line, without a version, is a substring of the crawler's name.
   */
  #hasSubstring(bytes: Uint8Array, start: number, end: number): boolean {
    const token = this.#token as Uint8Array
    const length = endOfRun(bytes, start, end, this.#comparedBytes) - start
    if (length === 0) return false
    for (let at = 0; at + length <= token.length; at++) if (isAt(bytes, start, token, at, length)) return true
    return false
  }
}

/** Returns a name such as `archive.org_bot` in dialects that compare more than a product token. */
function wholeName(crawler: string, agents: ParsingRules['agents']): string | undefined {
  if (agents === 'token-or-digits' || !/^[\w-][^/;,()]*$/.test(crawler)) return undefined
  return agents === 'name' ? crawler.split(/[ \t]/, 1)[0] : crawler
}

function comparedBytes(agents: ParsingRules['agents'], token: string | undefined): Uint8Array {
  switch (agents) {
    case 'token':
      return LETTERS
    case 'token-or-digits':
      // A token without digits is compared as google/robotstxt does: a digit ends the name on the
      // line.
      return token !== undefined && /[0-9]/.test(token) ? LETTERS_AND_DIGITS : LETTERS
    case 'whole-value':
      return ALL_BYTES
    case 'name':
    case 'substring':
      return NAME_BYTES
  }
}

/**
 * Returns whether `length` bytes of a line, in lower case, are equal to the bytes of the token from
 * `at` on.
 */
function isAt(bytes: Uint8Array, start: number, token: Uint8Array, at: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (LOWER_CASE[bytes[start + i] as number] !== token[at + i]) return false
  return true
}
