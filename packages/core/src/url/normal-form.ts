// The form in which a rule and a URL are compared. RFC 9309 §2.2.2 and §2.2.3; and those of other dialects.
//
// Two spellings of one path must meet: `/%7Ejoe` and `/~joe`, `/é` and `/%C3%A9`. Two different paths must not: `/a%2Fb`
// and `/a/b`. So octets of unreserved characters are decoded, everything that a URL cannot hold raw is encoded, and the
// rest keeps its encoding with upper-case hex.

import type { Reading } from '../dialect.ts'

/** What becomes of an octet. */
const KEEP = 0
const ENCODE = 1
const PERCENT = 2
const STAR = 3
const DOLLAR = 4

const CLASS: Uint8Array = classes()
/** The octets that need no `%XX`. RFC 3986 §2.3. */
const UNRESERVED = /[A-Za-z0-9._~-]/

function classes(): Uint8Array {
  const table = new Uint8Array(256).fill(ENCODE, 0x7f) // DEL and all that is not ASCII
  table.fill(ENCODE, 0, 0x21) // controls and space
  for (const c of '"<>\\^`{|}') table[c.charCodeAt(0)] = ENCODE // no URI holds these raw, RFC 3986 §2
  // Our choice: a client sends `'` raw in a path and as %27 in a query (WHATWG URL), so only one spelling can meet both.
  table["'".charCodeAt(0)] = ENCODE
  table['%'.charCodeAt(0)] = PERCENT
  table['*'.charCodeAt(0)] = STAR
  table['$'.charCodeAt(0)] = DOLLAR
  return table
}

/**
 * Brings octets (a string with one character for each) to the form for comparing.
 *
 * In a `rule`, `*` and a final `$` are special and stay. In a `target` they are literal and become `%2A` and `%24`, which
 * is how a rule names them (RFC 9309 §2.2.3); so does a `$` inside a rule, which is literal too.
 */
function normalForm(octets: string, role: 'rule' | 'target'): string {
  let form = ''
  let kept = 0 // octets before this one are already in `form`
  for (let i = 0; i < octets.length; i++) {
    const octet = octets.charCodeAt(i)
    const kind = CLASS[octet] ?? ENCODE
    if (kind === KEEP) continue
    let next: string
    let width = 1
    if (kind === PERCENT) {
      const value = hexPair(octets, i + 1)
      if (value === -1) continue // a malformed % stays as it is
      width = 3
      const character = String.fromCharCode(value)
      next = UNRESERVED.test(character) ? character : percent(value)
    } else if (role === 'rule' && (kind === STAR || (kind === DOLLAR && i === octets.length - 1))) {
      continue
    } else {
      next = percent(octet)
    }
    form += octets.slice(kept, i) + next
    i += width - 1
    kept = i + 1
  }
  return kept === 0 ? octets : form + octets.slice(kept)
}

/** A rule's path in the form of a dialect. @param form As `Reading.compare` names it. */
export function ruleForm(octets: string, form: Reading['compare']): string {
  switch (form) {
    case 'rfc9309':
      return normalForm(octets, 'rule')
    case 'decoded':
      return decodedForm(octets)
    case 'plain':
    case 'google':
      return encodedForm(octets)
  }
}

/** A URL's path, as a client sends it, in the form that a rule's is in. For `google` there is none: it takes what it is given. */
export function targetForm(path: string, form: Exclude<Reading['compare'], 'google'>): string {
  switch (form) {
    case 'rfc9309':
      return normalForm(path, 'target')
    case 'decoded':
      return decodedForm(path)
    case 'plain':
      return encodedForm(path)
  }
}

/** Octets outside ASCII become `%XX`, hex becomes upper case, nothing is decoded. So google/robotstxt holds its rules. */
function encodedForm(octets: string): string {
  if (!/[%\u0080-\u00ff]/.test(octets)) return octets
  return octets.replace(/%[0-9a-fA-F]{2}|[\u0080-\u00ff]/g, (found) =>
    found.length === 3 ? found.toUpperCase() : percent(found.charCodeAt(0)),
  )
}

/** No octet has this value, so an encoded slash is like nothing but itself: not like `/`, nor like `%2F` out of `%252F`. */
const ENCODED_SLASH = '\u0100'

/** A form as people can read it: what a URL cannot hold raw is encoded again. */
export function shownForm(form: string): string {
  return form.replace(/[^!-~]/g, (c) => (c === ENCODED_SLASH ? '%2F' : percent(c.charCodeAt(0))))
}

/** Every `%XX` is decoded, but not the slash, which is special in a path. The draft of 1996, §3.2.2. */
function decodedForm(octets: string): string {
  return octets.replace(/%([0-9a-fA-F]{2})/g, (_found, hex: string) =>
    hex.toUpperCase() === '2F' ? ENCODED_SLASH : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function percent(octet: number): string {
  return `%${octet < 16 ? '0' : ''}${octet.toString(16).toUpperCase()}`
}

/** The value of two hex digits, or -1. */
function hexPair(octets: string, at: number): number {
  const high = hexDigit(octets.charCodeAt(at))
  const low = hexDigit(octets.charCodeAt(at + 1))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function hexDigit(c: number): number {
  if (c >= 48 && c <= 57) return c - 48
  const letter = c | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
