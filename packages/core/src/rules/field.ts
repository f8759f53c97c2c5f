// A line -> its field: which directive, and the value. RFC 9309 §2.2, read as leniently as google/robotstxt reads it.

import type { Reading } from '../dialect.ts'
import { type OtherField, otherFields } from './other-records.ts'

/** The directives that are known, by the names their standards give them. */
export type Directive = 'user-agent' | 'allow' | 'disallow' | OtherField

export interface Field {
  readonly directive: Directive | 'unknown'
  /** Octets as they stand in the file, without blanks at the ends; never empty. */
  readonly key: string
  /** Octets, without blanks at the ends. */
  readonly value: string
}

/**
 * The beginnings by which a key is known, in lower case, in the order in which they are tried. A key is known by how it
 * begins, so `Disallows:` is a disallow; the misspellings are the frequent ones of real files.
 *
 * These are the fields that Google reads, and so it reads them. All others are known by their whole name: nobody reads them by
 * their beginnings, `Content-Signals` is not `Content-Signal`, and `Host-Load` is no `Host`.
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
]

/** The field of a line's content, or undefined for a blank line, a comment, or a line that is none. */
export function fieldOf(line: string, keys: Reading['keys']): Field | undefined {
  const content = contentOf(line)
  const separator = keys === 'exact' ? content.indexOf(':') : separatorOf(content)
  if (separator === -1) return undefined
  const key = trimBlanks(content.slice(0, separator))
  if (key === '') return undefined
  return {
    directive: (keys === 'lenient' && byBeginning(key)) || byName(key),
    key,
    value: trimBlanks(content.slice(separator + 1)),
  }
}

/** A line without its comment (§2.2.3) and without blanks at the ends. */
export function contentOf(line: string): string {
  const comment = line.indexOf('#')
  return trimBlanks(comment === -1 ? line : line.slice(0, comment))
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

function byBeginning(key: string): Directive | undefined {
  const lower = key.slice(0, LONGEST_BEGINNING).toLowerCase()
  for (const [beginning, directive] of BEGINNINGS) if (lower.startsWith(beginning)) return directive
  return undefined
}

const LONGEST_BEGINNING = Math.max(...BEGINNINGS.map(([beginning]) => beginning.length))

function byName(key: string): Directive | 'unknown' {
  return NAMES.get(key.toLowerCase()) ?? 'unknown'
}

/** The names of all fields that are known. */
export const fieldNames: readonly Directive[] = [
  'user-agent',
  'allow',
  'disallow',
  ...(Object.keys(otherFields) as OtherField[]),
]

const NAMES: ReadonlyMap<string, Directive> = new Map(fieldNames.map((name) => [name, name]))

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
