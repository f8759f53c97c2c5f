// A line -> its field: which directive, and the value. RFC 9309 §2.2, read as leniently as google/robotstxt reads it.

import type { Reading } from '../dialect.ts'

/** The directives that are read, by the name RFC 9309 gives them; `crawl-delay` is an extension (§2.2.4). */
type Directive = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay'

export interface Field {
  /** `other`: a field that is not read, such as `Host`. */
  readonly directive: Directive | 'other'
  /** Octets, without blanks at the ends. */
  readonly value: string
}

/**
 * The beginnings by which a key is known, in lower case, in the order in which they are tried. A key is known by how it
 * begins, so `Disallows:` is a disallow; the misspellings are the frequent ones of real files.
 */
const BEGINNINGS: readonly (readonly [beginning: string, directive: Directive])[] = [
  ['user-agent', 'user-agent'],
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
  ['crawl-delay', 'crawl-delay'],
]

/** The field of a line's content, or undefined for a blank line, a comment, or a line that is none. */
export function fieldOf(line: string, keys: Reading['keys']): Field | undefined {
  const comment = line.indexOf('#') // §2.2.3
  const content = trimBlanks(comment === -1 ? line : line.slice(0, comment))
  const separator = keys === 'exact' ? content.indexOf(':') : separatorOf(content)
  if (separator === -1) return undefined
  const key = trimBlanks(content.slice(0, separator))
  if (key === '') return undefined
  return {
    directive: keys === 'exact' ? exactly(key) : directiveOf(key),
    value: trimBlanks(content.slice(separator + 1)),
  }
}

/** The colon; or, where somebody forgot it, the blank between the line's two words (google/robotstxt). */
function separatorOf(content: string): number {
  const colon = content.indexOf(':')
  if (colon !== -1) return colon
  const blank = nextBlank(content, 0)
  let word = blank
  while (word < content.length && isSpaceOrTab(content.charCodeAt(word))) word++
  return blank < content.length && nextBlank(content, word) === content.length ? blank : -1
}

function nextBlank(content: string, from: number): number {
  let i = from
  while (i < content.length && !isSpaceOrTab(content.charCodeAt(i))) i++
  return i
}

function directiveOf(key: string): Directive | 'other' {
  const lower = key.slice(0, LONGEST_BEGINNING).toLowerCase()
  for (const [beginning, directive] of BEGINNINGS) if (lower.startsWith(beginning)) return directive
  return 'other'
}

function exactly(key: string): Directive | 'other' {
  return BEGINNINGS.find(([name, directive]) => name === directive && name === key.toLowerCase())?.[1] ?? 'other'
}

const LONGEST_BEGINNING = Math.max(...BEGINNINGS.map(([beginning]) => beginning.length))

/** Is there nothing on this line, not even a comment? */
export function isBlankLine(line: string): boolean {
  return trimBlanks(line) === ''
}

/** Without the blanks of ASCII at the ends. `trim` would take U+00A0 and others with it, which are part of a value. */
function trimBlanks(octets: string): string {
  let start = 0
  let end = octets.length
  while (start < end && isBlank(octets.charCodeAt(start))) start++
  while (end > start && isBlank(octets.charCodeAt(end - 1))) end--
  return octets.slice(start, end)
}

/** The blanks of the grammar. RFC 9309 §2.2. */
function isSpaceOrTab(octet: number): boolean {
  return octet === 32 || octet === 9
}

function isBlank(octet: number): boolean {
  return octet === 32 || (octet >= 9 && octet <= 13)
}
