// The form in which a rule and a URL are compared. RFC 9309 §2.2.2 and §2.2.3; and those of other dialects.
//
// Two spellings of one path must meet: `/%7Ejoe` and `/~joe`, `/é` and `/%C3%A9`. Two different paths must not: `/a%2Fb`
// and `/a/b`. So octets of unreserved characters are decoded, everything that a URL cannot hold raw is encoded, and the
// rest keeps its encoding with upper-case hex.

import type { Reading } from '../dialect.ts'
import { octetOf, percent, unreserved } from './percent.ts'

/** What becomes of an octet. */
const KEEP = 0
const ENCODE = 1
const PERCENT = 2
const STAR = 3
const DOLLAR = 4

const CLASS: Uint8Array = classes()

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
      // Behind the end there is no octet; a table that was once asked for NaN is read slowly ever after.
      const value = i + 2 < octets.length ? octetOf(octets.charCodeAt(i + 1), octets.charCodeAt(i + 2)) : -1
      if (value === -1) continue // a malformed % stays as it is
      width = 3
      if (unreserved[value] === 1) next = String.fromCharCode(value)
      else if (isUpperCase(octets, i + 1)) {
        i += 2
        continue
      } else next = percent(value)
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

/** A form as people can read it: what a URL cannot hold raw is encoded again. */
export function shownForm(form: string): string {
  return form.replace(/[^!-~]/g, (c) => percent(c.charCodeAt(0)))
}

/**
 * Every `%XX` is decoded, but not the slash, which is special in a path (the draft of 1996, §3.2.2). Nor is the `%` itself, and one that
 * stands alone is encoded: or `%252F` would become `%2F`, which is another path.
 */
function decodedForm(octets: string): string {
  return octets.replace(/%([0-9a-fA-F]{2})?/g, (_found, hex: string | undefined) => {
    const octet = hex === undefined ? PERCENT_SIGN : Number.parseInt(hex, 16)
    return octet === SLASH || octet === PERCENT_SIGN ? percent(octet) : String.fromCharCode(octet)
  })
}

const PERCENT_SIGN = 37
const SLASH = 47

/** Which octets (1) are in a form for comparing already, wherever they stand in a rule. Others may be. */
export function steadyOctets(form: Reading['compare']): Uint8Array {
  switch (form) {
    case 'rfc9309':
      return STEADY_RFC9309
    case 'decoded':
    case 'plain':
    case 'google':
      return STEADY_ASCII
  }
}

const STEADY_RFC9309 = CLASS.map((kind) => Number(kind === KEEP || kind === STAR))
const STEADY_ASCII = new Uint8Array(256).fill(1, 0, 0x80)
STEADY_ASCII[PERCENT_SIGN] = 0

/** Are these two hex digits written as they are in the form? */
function isUpperCase(octets: string, at: number): boolean {
  return octets.charCodeAt(at) < LETTER_A && octets.charCodeAt(at + 1) < LETTER_A
}

const LETTER_A = 97
