// Checks the key of a line and its colon.

import { latin1Of, textOf } from '../bytes.ts'
import type { Dialect } from '../dialect.ts'
import { editDistance } from '../edit-distance.ts'
import { fieldNames, type KnownKey, knownKeyOf } from '../parse/directive.ts'
import type { ParsedField } from '../parse/records.ts'
import type { ReportFinding } from './finding.ts'
import { lintUnknownField } from './known-fields.ts'
import { beginsWithField, containsField, trimBlanks } from './line.ts'

/**
 * @returns Whether to check the value. False if the parser took the wrong part of the line for the
 * key, or the field is unknown.
 */
export function lintKey(
  content: string,
  field: ParsedField | undefined,
  number: number,
  dialect: Dialect,
  report: ReportFinding,
): boolean {
  if (field === undefined || (field.field === 'unknown' && !content.includes(':'))) {
    const corrected = withColon(content)
    if (corrected === undefined) report('not-a-field', number)
    else if (corrected.endsWith(': ')) report('key-without-value', number)
    else report('three-words-without-colon', number, corrected)
    return false
  }
  const { key, value } = field
  const known = knownKeyOf(key)
  if (known === undefined) {
    const similar = similarField(textOf(key))
    // crawler-commons reads it so: github.com/crawler-commons/crawler-commons/pull/595
    if (key.toLowerCase() === 'content-signals') report('key-known-by-its-beginning', number, 'Content-Signal')
    else if (/^(https?|ftp)$/i.test(key) && value.startsWith('//')) {
      report('url-without-key', number, `Sitemap: ${textOf(`${key}:${value}`)}`)
    } else if (similar !== undefined) report('unreadable-key', number, `${canonicalKey(similar)}:`)
    else lintUnknownField(key.toLowerCase(), number, dialect, report)
    return false
  }
  if (field.field === 'unknown' && known.directive === 'allow' && dialect.parsing.allow === 'unknown') {
    report('ignored-field', { line: number, found: `the dialect ${dialect.name} has no Allow` })
    return false
  }
  if (beginsWithField(value) || containsField(value)) {
    report('several-fields-on-one-line', number)
    return false
  }
  return lintSpelling(content, field, known, report)
}

/** @returns Whether to check the value. */
function lintSpelling(
  content: string,
  { field, key, value, line }: ParsedField,
  { name, directive }: KnownKey,
  report: ReportFinding,
): boolean {
  const correctKey = canonicalKey(directive)
  const corrected = `${correctKey}:${value === '' ? '' : ` ${textOf(value)}`}`
  const rest = key.slice(name.length)
  if (!content.includes(':')) report('missing-colon', line, corrected)
  else if (/^[\t ]/.test(rest)) {
    report('late-colon', line, `${correctKey}: ${textOf(trimBlanks(content.slice(name.length)))}`)
    return false
  }
  if (latin1Of(name) !== directive) report('misspelt-key', line, corrected)
  else if (rest !== '') report('key-known-by-its-beginning', line, correctKey)
  return field !== 'unknown' // it is in a dialect that knows exact keys only
}

/**
 * Returns a line without a colon, such as `Disallow /a b`, with the colon added; undefined if it
 * does not begin with a known key.
 */
function withColon(content: string): string | undefined {
  if (content.includes(':')) return undefined
  // A key has one word, or two as in `User agent *`.
  for (const words of [/^[^\t ]+/, /^[^\t ]+[\t ]+[^\t ]+/]) {
    const key = words.exec(content)?.[0] ?? ''
    const known = knownKeyOf(key)
    if (known !== undefined) {
      return `${canonicalKey(known.directive)}: ${textOf(trimBlanks(content.slice(key.length)))}`
    }
  }
  return undefined
}

/** Returns the usual spelling of a field name, such as `Crawl-delay` or `Content-Usage`. */
export function canonicalKey(directive: string): string {
  return directive.replace(/^.|(?<=^content-)./g, (letter) => letter.toUpperCase())
}

/**
 * Keys with more characters are not compared. Every known key is shorter, and this bounds the work
 * for each line.
 */
const MAX_KEY_LENGTH = 24

/**
 * Returns the known field with the smallest edit distance to a key: at most 2, or 1 for names of up
 * to five letters.
 */
function similarField(key: string): string | undefined {
  if (key.length > MAX_KEY_LENGTH) return undefined
  const letters = lettersOf(key)
  let nearest: string | undefined
  let smallest = Number.POSITIVE_INFINITY
  for (const { name, letters: known } of KNOWN_FIELDS) {
    if (Math.abs(known.length - letters.length) > 2) continue
    const distance = editDistance(letters, known)
    if (distance < smallest && distance <= (known.length <= 5 ? 1 : 2)) {
      nearest = name
      smallest = distance
    }
  }
  return nearest
}

const KNOWN_FIELDS = fieldNames.map((name) => ({ name, letters: lettersOf(name) }))

/**
 * Returns the letters of a key in lower case, so that `User_Agent`, `user agent` and `useragent`
 * are equal.
 */
function lettersOf(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '')
}
