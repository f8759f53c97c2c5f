// The normal form: the spelling in which a rule's pattern and a URL's path are compared. RFC 9309 §2.2.2 and §2.2.3.
//
// Two spellings of one path must become equal: `/%7Ejoe` and `/~joe`, `/é` and `/%C3%A9`. Two different paths must stay different: `/a%2Fb` and
// `/a/b`. The normal form of RFC 9309 treats bytes so:
//
//   unreserved characters                   decoded: `%7E` becomes `~`
//   bytes that a URL cannot have unencoded  encoded: a space becomes `%20`
//   all others                              unchanged, but hex digits become upper case: `%2f` becomes `%2F`
//
// Other dialects have other normal forms: see `ParsingRules.compare`.
import { ALPHANUMERIC, byteSet, DOLLAR, LF, PERCENT, SLASH } from '../ascii.ts'
import { bytesOfLatin1, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { decodePercent, UNRESERVED, writeEncoded } from './percent.ts'

export type NormalForm = ParsingRules['compare']

/** How a normal form treats bytes. Each table has 1 for some bytes and 0 for all others. `%` is in none of them. */
interface FormTables {
  /** The bytes of a pattern that stay unencoded. All others are encoded, except a final `$`. */
  readonly keptInRule: Uint8Array
  /** The bytes of a URL's path that stay unencoded. All others are encoded. */
  readonly keptInUrl: Uint8Array
  /** The bytes whose `%XX` is decoded. All others stay encoded, with upper-case hex digits. */
  readonly decoded: Uint8Array
  /** What happens to a `%` that does not begin a `%XX`. */
  readonly malformed: 'kept' | 'encoded'
}

/**
 * The bytes that a path or query can have unencoded (RFC 3986 §3.3), with `[` and `]`, and without `*` and `$`. Our choice: also without `'`,
 * which a client sends unencoded in a path and as %27 in a query (WHATWG URL). A rule must match both, so both become %27.
 */
export const PATH_BYTES: string = `${ALPHANUMERIC}-._~!&()+,/:;=?@[]`

const RFC9309: FormTables = {
  keptInRule: byteSet(`${PATH_BYTES}#*`),
  keptInUrl: byteSet(`${PATH_BYTES}#`),
  decoded: UNRESERVED,
  malformed: 'kept',
}

const ASCII = new Uint8Array(256).fill(1, 0, 0x80)
ASCII[PERCENT] = 0
const PLAIN: FormTables = { keptInRule: ASCII, keptInUrl: ASCII, decoded: byteSet(''), malformed: 'kept' }

const NOT_PERCENT = new Uint8Array(256).fill(1)
NOT_PERCENT[PERCENT] = 0
// The draft of 1996, §3.2.2: the slash is not decoded, because it is special in a path. Neither is `%`, and a malformed `%` is encoded: otherwise
// `%252F` would become `%2F`, which is another path. Our choice: neither is a line feed, which ends a pattern in packed rules.
const NOT_SPECIAL = NOT_PERCENT.slice()
NOT_SPECIAL[SLASH] = 0
NOT_SPECIAL[LF] = 0
const DECODED: FormTables = {
  keptInRule: NOT_PERCENT,
  keptInUrl: NOT_PERCENT,
  decoded: NOT_SPECIAL,
  malformed: 'encoded',
}

const FORMS: Readonly<Record<NormalForm, FormTables>> = {
  rfc9309: RFC9309,
  decoded: DECODED,
  plain: PLAIN,
  google: PLAIN, // for rules only
}

/** Returns a table with 1 for each byte that this normal form never changes in a pattern. */
export function keptBytesOf(form: NormalForm): Uint8Array {
  return FORMS[form].keptInRule
}

/**
 * Writes the bytes from `start` to `end` in normal form to `out`, from `outStart` on. The normal form is at most three times as long.
 *
 * In a `rule`, `*` and a final `$` are special, so they stay. In a `url` they are literal, so they become `%2A` and `%24`: a rule writes the
 * literal characters that way (RFC 9309 §2.2.3). A `$` before the end of a rule is literal too and becomes `%24`. A `url` in the form `google`
 * is not changed: google/robotstxt leaves this to its caller.
 *
 * @returns The end of the normal form in `out`.
 */
export function writeNormalForm(
  form: NormalForm,
  role: 'rule' | 'url',
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  outStart: number,
): number {
  if (form === 'google' && role === 'url') {
    out.set(bytes.subarray(start, end), outStart)
    return outStart + end - start
  }
  const { keptInRule, keptInUrl, decoded, malformed } = FORMS[form]
  const kept = role === 'rule' ? keptInRule : keptInUrl
  let at = outStart
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (kept[byte] === 1) {
      out[at++] = byte
      continue
    }
    const value = byte === PERCENT ? decodePercent(bytes, i, end) : -1
    if (byte === DOLLAR && role === 'rule' && i === end - 1) {
      out[at++] = byte
    } else if (value !== -1) {
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

/** Returns a pattern in the normal form of RFC 9309; one character for each byte. */
export function ruleForm(pattern: string): string {
  const out = new Uint8Array(3 * pattern.length)
  return latin1Of(
    out.subarray(0, writeNormalForm('rfc9309', 'rule', bytesOfLatin1(pattern), 0, pattern.length, out, 0)),
  )
}

/** Returns a normal form with every byte encoded that is not printable ASCII, for people to read. */
export function printableForm(form: string): string {
  return form.replace(/[^!-~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
