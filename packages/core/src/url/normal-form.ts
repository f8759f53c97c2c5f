// The form in which a rule and a URL are compared. RFC 9309 §2.2.2 and §2.2.3; and those of other dialects.
//
// Two spellings of one path must become equal: `/%7Ejoe` and `/~joe`, `/é` and `/%C3%A9`. Two different paths must not: `/a%2Fb` and `/a/b`.
// So bytes of unreserved characters are decoded, every byte that a URL cannot hold raw is encoded, and all else keeps its encoding, with
// upper-case hex.
import { DOLLAR, PERCENT, SLASH, STAR } from '../ascii.ts'
import { bytesOfLatin1, latin1Of } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { decodePercent, UNRESERVED, writeEncoded } from './percent.ts'

export type NormalForm = ParsingRules['compare']

/** What the form of RFC 9309 does with a byte. */
const KEEP = 0
const ENCODE = 1
const READ_PERCENT = 2
/** Special in a rule, encoded in a URL. */
const SPECIAL_STAR = 3
const SPECIAL_DOLLAR = 4

const ACTIONS: Uint8Array = actions()

function actions(): Uint8Array {
  const table = new Uint8Array(256).fill(ENCODE, 0x7f) // DEL and all that is not ASCII
  table.fill(ENCODE, 0, 0x21) // controls and space
  for (const c of '"<>\\^`{|}') table[c.charCodeAt(0)] = ENCODE // no URI holds these raw, RFC 3986 §2
  // Our choice: a client sends `'` raw in a path and as %27 in a query (WHATWG URL), so only one spelling can equal both.
  table["'".charCodeAt(0)] = ENCODE
  table[PERCENT] = READ_PERCENT
  table[STAR] = SPECIAL_STAR
  table[DOLLAR] = SPECIAL_DOLLAR
  return table
}

/** Bytes (1) that a form never changes in a rule, in any position. */
const UNCHANGED_RFC9309 = ACTIONS.map((action) => Number(action === KEEP || action === SPECIAL_STAR))
const UNCHANGED_ASCII = new Uint8Array(256).fill(1, 0, 0x80)
UNCHANGED_ASCII[PERCENT] = 0

export function unchangedBytesOf(form: NormalForm): Uint8Array {
  return form === 'rfc9309' ? UNCHANGED_RFC9309 : UNCHANGED_ASCII
}

/**
 * Writes bytes in the form for comparing. It takes at most three times their room.
 *
 * In a `rule`, `*` and a final `$` are special and stay. In a `url` they are literal and become `%2A` and `%24`, which is how a rule names
 * them (RFC 9309 §2.2.3); so does a `$` inside a rule, which is literal too.
 *
 * @returns The end of what was written.
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

/** Bytes outside ASCII become `%XX`, hex becomes upper case, nothing is decoded. google/robotstxt keeps its rules in this form. */
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
 * Every `%XX` is decoded except the slash, which is special in a path (the draft of 1996, §3.2.2), and `%` itself; a `%` that stands alone is
 * encoded. Otherwise `%252F` would become `%2F`, which is another path.
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

/** A rule's path in the form of RFC 9309; bytes, one character for each. */
export function ruleForm(path: string): string {
  const out = new Uint8Array(3 * path.length)
  return latin1Of(out.subarray(0, writeRfc9309('rule', bytesOfLatin1(path), 0, path.length, out, 0)))
}

/** A form as people can read it: what a URL cannot hold raw is encoded again. */
export function printableForm(form: string): string {
  return form.replace(/[^!-~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
