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
import { DOLLAR, PERCENT, SLASH, STAR } from '../ascii.ts'
import { bytesOfLatin1, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { decodePercent, UNRESERVED, writeEncoded } from './percent.ts'

export type NormalForm = ParsingRules['compare']

/** How the normal form of RFC 9309 treats a byte. */
const KEEP = 0
const ENCODE = 1
const READ_PERCENT = 2
// Special in a rule, encoded in a URL:
const SPECIAL_STAR = 3
const SPECIAL_DOLLAR = 4

const ACTIONS: Uint8Array = actions()

function actions(): Uint8Array {
  const table = new Uint8Array(256).fill(ENCODE, 0x7f) // DEL and all that is not ASCII
  table.fill(ENCODE, 0, 0x21) // controls and space
  for (const c of '"<>\\^`{|}') table[c.charCodeAt(0)] = ENCODE // a URI cannot have these unencoded, RFC 3986 §2
  // Our choice: a client sends `'` unencoded in a path and as %27 in a query (WHATWG URL). A rule must match both, so both become %27.
  table["'".charCodeAt(0)] = ENCODE
  table[PERCENT] = READ_PERCENT
  table[STAR] = SPECIAL_STAR
  table[DOLLAR] = SPECIAL_DOLLAR
  return table
}

// Tables with 1 for each byte that the normal form of a pattern keeps, whatever its position:
const UNCHANGED_RFC9309 = ACTIONS.map((action) => Number(action === KEEP || action === SPECIAL_STAR))
const UNCHANGED_ASCII = new Uint8Array(256).fill(1, 0, 0x80)
UNCHANGED_ASCII[PERCENT] = 0

/** Returns a table with 1 for each byte that this normal form never changes in a pattern. */
export function unchangedBytesOf(form: NormalForm): Uint8Array {
  return form === 'rfc9309' ? UNCHANGED_RFC9309 : UNCHANGED_ASCII
}

/**
 * Writes the bytes from `start` to `end` in normal form to `out`, from `at` on. The normal form is at most three times as long.
 *
 * In a `rule`, `*` and a final `$` are special, so they stay. In a `url` they are literal, so they become `%2A` and `%24`: a rule writes the
 * literal characters that way (RFC 9309 §2.2.3). A `$` before the end of a rule is literal too and becomes `%24`.
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
  at: number,
): number {
  switch (form) {
    case 'rfc9309':
      return writeRfc9309(role, bytes, start, end, out, at)
    case 'decoded':
      return writeDecoded(bytes, start, end, out, at)
    case 'plain':
    case 'google':
      return writePlain(bytes, start, end, out, at)
  }
}

function writeRfc9309(
  role: 'rule' | 'url',
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  from: number,
): number {
  let at = from
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    const action = ACTIONS[byte] as number
    if (action === KEEP) {
      out[at++] = byte
      continue
    }
    if (role === 'rule' && (action === SPECIAL_STAR || (action === SPECIAL_DOLLAR && i === end - 1))) {
      out[at++] = byte
    } else if (action === READ_PERCENT) {
      const encoded = decodePercent(bytes, i, end)
      if (encoded === -1) {
        out[at++] = PERCENT // a malformed % stays as it is
        continue
      }
      if (UNRESERVED[encoded] === 1) out[at++] = encoded
      else at = writeEncoded(out, at, encoded)
      i += 2
    } else {
      at = writeEncoded(out, at, byte)
    }
  }
  return at
}

/** Encodes bytes outside ASCII as `%XX`, changes hex digits to upper case, and decodes nothing. google/robotstxt keeps its rules in this form. */
function writePlain(bytes: Uint8Array, start: number, end: number, out: Uint8Array, from: number): number {
  let at = from
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    const encoded = byte === PERCENT ? decodePercent(bytes, i, end) : -1
    if (encoded !== -1) {
      at = writeEncoded(out, at, encoded)
      i += 2
    } else if (byte < 0x80) {
      out[at++] = byte
    } else {
      at = writeEncoded(out, at, byte)
    }
  }
  return at
}

/**
 * Decodes every `%XX` but two: the slash, which is special in a path (the draft of 1996, §3.2.2), and `%` itself. Encodes a `%` that does not
 * begin a `%XX`. Otherwise `%252F` would become `%2F`, which is another path.
 */
function writeDecoded(bytes: Uint8Array, start: number, end: number, out: Uint8Array, from: number): number {
  let at = from
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (byte !== PERCENT) {
      out[at++] = byte
      continue
    }
    const encoded = decodePercent(bytes, i, end)
    if (encoded === -1 || encoded === SLASH || encoded === PERCENT) {
      at = writeEncoded(out, at, encoded === -1 ? PERCENT : encoded)
    } else {
      out[at++] = encoded
    }
    if (encoded !== -1) i += 2
  }
  return at
}

/** Returns a pattern in the normal form of RFC 9309; one character for each byte. */
export function ruleForm(pattern: string): string {
  const out = new Uint8Array(3 * pattern.length)
  return latin1Of(out.subarray(0, writeRfc9309('rule', bytesOfLatin1(pattern), 0, pattern.length, out, 0)))
}

/** Returns a normal form with every byte encoded that is not printable ASCII, for people to read. */
export function printableForm(form: string): string {
  return form.replace(/[^!-~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
