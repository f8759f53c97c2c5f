// The normal form: the spelling in which a rule's pattern and a URL's path are compared. RFC 9309
// §2.2.2 and §2.2.3.
//
// Two spellings of one path must become equal: `/%7Ejoe` and `/~joe`, `/é` and `/%C3%A9`. Two
// different paths must stay different: `/a%2Fb` and `/a/b`. The normal form of RFC 9309 treats
// bytes so:
//
//   unreserved characters                   decoded: `%7E` becomes `~`
//   bytes that a URL cannot have unencoded  encoded: a space becomes `%20`
//   all others                              unchanged, but hex digits become upper case: `%2f` becomes `%2F`
//
// Other dialects have other normal forms: see `ParsingRules.compare`.
import { ALPHANUMERIC, byteSet, DOLLAR, LF, PERCENT, SLASH, without } from '../ascii.ts'
import { bytesOfLatin1, encodeText, latin1Of, textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'

export type NormalForm = ParsingRules['compare']

/**
 * How a normal form treats the bytes of a pattern, or of a URL's path. Each table has 1 for some
 * bytes and 0 for all others.
 */
export interface ByteForms {
  /** The bytes that stay as they are. All others are encoded. */
  readonly kept: Uint8Array
  /** The bytes whose `%XX` is decoded. All others stay encoded, with upper-case hex digits. */
  readonly decoded: Uint8Array
  /** What happens to a `%` that does not begin a `%XX`. */
  readonly malformed: 'kept' | 'encoded'
  /** Whether a `$` at the end stays, as in patterns, where it is special. */
  readonly keepsFinalDollar: boolean
}

/**
 * The bytes that a path or query can have unencoded (RFC 3986 §3.3), with `[` and `]`, and without
 * `*` and `$`. Our choice: also without `'`, which a client sends unencoded in a path and as %27 in
 * a query (WHATWG URL). A rule must match both, so both become %27.
 */
export const PATH_BYTES: string = `${ALPHANUMERIC}-._~!&()+,/:;=?@[]`

/** The unreserved bytes. RFC 3986 §2.3. */
const UNRESERVED = byteSet(`${ALPHANUMERIC}-._~`)

const RFC9309_RULE: ByteForms = {
  kept: byteSet(`${PATH_BYTES}#*`),
  decoded: UNRESERVED,
  malformed: 'kept',
  keepsFinalDollar: true,
}
const RFC9309_URL: ByteForms = { ...RFC9309_RULE, kept: byteSet(`${PATH_BYTES}#`), keepsFinalDollar: false }

const ALL = new Uint8Array(256).fill(1)
const NONE = new Uint8Array(256)
const ASCII = without(NONE.slice().fill(1, 0, 0x80), PERCENT)
const PLAIN: ByteForms = { kept: ASCII, decoded: NONE, malformed: 'kept', keepsFinalDollar: true }

const NOT_PERCENT = without(ALL, PERCENT)
// The draft of 1996, §3.2.2: the slash is not decoded, because it is special in a path. Neither is
// `%`, and a malformed `%` is encoded: otherwise `%252F` would become `%2F`, which is another path.
// Our choice: neither is a line feed, which ends a pattern in packed rules.
const NOT_SPECIAL = without(NOT_PERCENT, SLASH, LF)
const DECODED: ByteForms = { kept: NOT_PERCENT, decoded: NOT_SPECIAL, malformed: 'encoded', keepsFinalDollar: true }

/**
 * The normal forms of patterns and of URLs.
 *
 * In a pattern, `*` and a final `$` are special, so they stay. In a URL they are literal, so in the
 * form of RFC 9309 they become `%2A` and `%24`: a rule writes the literal characters that way
 * (RFC 9309 §2.2.3). A `$` before the end of a pattern is literal too and becomes `%24`. A URL in
 * the form `google` is not changed: google/robotstxt leaves this to its caller.
 */
export const normalForms: Readonly<Record<NormalForm, { readonly rule: ByteForms; readonly url: ByteForms }>> = {
  rfc9309: { rule: RFC9309_RULE, url: RFC9309_URL },
  decoded: { rule: DECODED, url: DECODED },
  plain: { rule: PLAIN, url: PLAIN },
  google: { rule: PLAIN, url: { ...PLAIN, kept: ALL } },
}

/**
 * Writes the bytes from `start` to `end` in normal form to `out`, from `outStart` on. The normal
 * form is at most three times as long.
 *
 * @returns The end of the normal form in `out`.
 */
export function writeNormalForm(
  { kept, decoded, malformed, keepsFinalDollar }: ByteForms,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  outStart: number,
): number {
  let at = outStart
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (kept[byte] === 1 || (byte === DOLLAR && keepsFinalDollar && i === end - 1)) {
      out[at++] = byte
      continue
    }
    const value = byte === PERCENT ? decodePercent(bytes, i, end) : -1
    if (value !== -1) {
      if (decoded[value] === 1) out[at++] = value
      else at = writeEncoded(out, at, value)
      i += 2
    } else if (byte === PERCENT && malformed === 'kept') {
      out[at++] = PERCENT
    } else {
      at = writeEncoded(out, at, byte)
    }
  }
  return at
}

/**
 * Writes a byte as `%XX`, with upper-case hex digits (RFC 3986 §2.1). @returns The end of what was
 * written.
 */
function writeEncoded(out: Uint8Array, at: number, byte: number): number {
  out[at] = PERCENT
  out[at + 1] = hexDigit(byte >> 4)
  out[at + 2] = hexDigit(byte & 15)
  return at + 3
}

/** Returns the character of a hex digit, in upper case. */
function hexDigit(value: number): number {
  return value < 10 ? 48 + value : 55 + value
}

/** Returns the byte that `%XX` at an offset encodes; -1 unless two hex digits follow the `%`. */
function decodePercent(bytes: Uint8Array, at: number, end: number): number {
  if (at + 2 >= end) return -1
  const value = (HEX_VALUES[bytes[at + 1] as number] as number) * 16 + (HEX_VALUES[bytes[at + 2] as number] as number)
  return value < 256 ? value : -1
}

/** The value of each hex digit, by its character; 256 for all other bytes. */
const HEX_VALUES: Uint16Array = Uint16Array.from({ length: 256 }, (_, c) => {
  const value = Number.parseInt(String.fromCharCode(c), 16)
  return Number.isNaN(value) ? 256 : value
})

/**
 * Returns a pattern in normal form; one character for each byte. @param compare Of the dialect.
 */
export function ruleForm(pattern: string, compare: NormalForm = 'rfc9309'): string {
  const { rule } = normalForms[compare]
  if (isNormal(rule, pattern)) return pattern // as most patterns are
  const out = new Uint8Array(3 * pattern.length)
  return latin1Of(out.subarray(0, writeNormalForm(rule, bytesOfLatin1(pattern), 0, pattern.length, out, 0)))
}

function isNormal({ kept, keepsFinalDollar }: ByteForms, pattern: string): boolean {
  const end = keepsFinalDollar && pattern.endsWith('$') ? pattern.length - 1 : pattern.length
  for (let i = 0; i < end; i++) if (kept[pattern.charCodeAt(i)] !== 1) return false
  return true
}

/**
 * Returns a normal form for people to read: decoded from UTF-8, with everything encoded that is not
 * visible. Without UTF-8, every byte is encoded that is not visible ASCII.
 */
export function printableForm(form: string): string {
  const text = textOf(form)
  return text.includes('\ufffd')
    ? percentEncoded(form)
    : text.replace(/[\p{C}\p{Z}]/gu, (c) => percentEncoded(latin1Of(encodeText(c))))
}

function percentEncoded(latin1: string): string {
  return latin1.replace(/[^!-~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
