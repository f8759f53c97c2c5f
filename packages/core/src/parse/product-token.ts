// The crawler's name in robots.txt. RFC 9309 §2.2.1.
import { ALPHANUMERIC, byteSet, CR, LOWER_CASE, SPACE, STAR, TAB } from '../ascii.ts'
import { bytesOfLatin1 } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'

/** A product token as callers may give it: the RFC's letters, `_` and `-`; and digits, which 9 % of real files use. */
const TOKEN = /^[A-Za-z0-9_-]+$/

/** Is this a product token: one or more of `a-z A-Z _ -`, or digits? */
export function isProductToken(text: string): boolean {
  return TOKEN.test(text)
}

/**
 * The product token in a User-Agent header: `ExampleBot` of `ExampleBot/1.0 (+https://example.com/bot)` and of
 * `Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)`. Undefined where neither place has a name, as in a browser's header,
 * or where the name has other characters than letters, digits, `_` and `-`.
 */
export function productTokenOf(userAgent: string): string | undefined {
  const header = userAgent.trim()
  const name = /^Mozilla\//i.test(header)
    ? /[(;]\s*compatible;\s*([^\s/;()]+)/i.exec(header)?.[1]
    : /^[^\s/;()]+/.exec(header)?.[0]
  return name !== undefined && isProductToken(name) ? name : undefined
}

/** Does a user-agent line name every crawler? `*` alone, or with a blank and anything after it (google/robotstxt). */
export function namesEveryone(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== STAR || start >= end) return false
  const next = bytes[start + 1] as number
  return end - start === 1 || next === SPACE || (next >= TAB && next <= CR)
}

const LETTERS = byteSet(`${ALPHANUMERIC.replace(/\d/g, '')}_-`)
const LETTERS_AND_DIGITS = byteSet(`${ALPHANUMERIC}_-`)
/** What stands before the version of a name. */
const NOT_VERSION = new Uint8Array(256).fill(1)
for (const byte of bytesOfLatin1('/ \t')) NOT_VERSION[byte] = 0
const ALL_BYTES = new Uint8Array(256).fill(1)

/** The end of the product token, with digits, that a user-agent line begins with: `ExampleBot/2.1` names `ExampleBot`. */
export function endOfToken(bytes: Uint8Array, start: number, end: number): number {
  return endOfRun(bytes, start, end, LETTERS_AND_DIGITS)
}

function endOfRun(bytes: Uint8Array, start: number, end: number, set: Uint8Array): number {
  let i = start
  while (i < end && set[bytes[i] as number] === 1) i++
  return i
}

/** Compares user-agent lines with one name of a crawler: a product token, or a whole User-Agent header. Case is folded in ASCII only. */
export class CrawlerName {
  /** In lower case; undefined where the crawler has no name that a line could have. */
  readonly #token: Uint8Array | undefined
  /** The bytes of a line that are compared are those of its beginning that are in this set. */
  readonly #compared: Uint8Array
  readonly #isSubstring: boolean

  constructor(crawler: string, agents: ParsingRules['agents']) {
    // google/robotstxt compares the name that it is given as it is, so `ExampleBot/1.0`, which is not a token, finds no group.
    const token = agents === 'token' || isProductToken(crawler) ? crawler : productTokenOf(crawler)
    // A character above U+00FF becomes 0xFF, which no token has, and not the ASCII letter whose upper case it may be (U+212A).
    this.#token = token === undefined ? undefined : lowerCase(bytesOfLatin1(token))
    this.#isSubstring = agents === 'substring'
    this.#compared = comparedBytes(agents, token)
  }

  /** Does a user-agent line with this value name the crawler? */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const token = this.#token
    if (token === undefined) return false
    if (this.#isSubstring) return this.#hasSubstring(bytes, start, end)
    // Most lines name other crawlers: their first byte tells.
    if (token.length > 0 && lowerByte(bytes[start] as number) !== token[0]) return false
    return (
      endOfRun(bytes, start, end, this.#compared) - start === token.length && isAt(bytes, start, token, 0, token.length)
    )
  }

  /** Does the name on the line, without a version, occur in the crawler's? */
  #hasSubstring(bytes: Uint8Array, start: number, end: number): boolean {
    const token = this.#token as Uint8Array
    const length = endOfRun(bytes, start, end, this.#compared) - start
    if (length === 0) return false
    for (let at = 0; at + length <= token.length; at++) if (isAt(bytes, start, token, at, length)) return true
    return false
  }
}

function comparedBytes(agents: ParsingRules['agents'], token: string | undefined): Uint8Array {
  switch (agents) {
    case 'token':
      return LETTERS
    case 'token-or-digits':
      // A token of the RFC's characters is compared with lines as the reference cuts them; only one with digits needs them.
      return token !== undefined && /[0-9]/.test(token) ? LETTERS_AND_DIGITS : LETTERS
    case 'whole-value':
      return ALL_BYTES
    case 'name':
    case 'substring':
      return NOT_VERSION
  }
}

/** Are these bytes of a line, in lower case, those of the token from `at` on? */
function isAt(bytes: Uint8Array, start: number, token: Uint8Array, at: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (lowerByte(bytes[start + i] as number) !== token[at + i]) return false
  return true
}

function lowerByte(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte | LOWER_CASE : byte
}

function lowerCase(bytes: Uint8Array): Uint8Array {
  return bytes.map(lowerByte)
}
