// Checks the key of a line and its colon.

import { textOf } from '../bytes.ts'
import type { Dialect } from '../dialect.ts'
import { directiveOf } from '../parse/directive.ts'
import type { Report } from './finding.ts'
import type { Field } from './groups.ts'
import { lintUnknownField } from './known-fields.ts'
import { trimBlanks } from './line.ts'
import { similarField } from './similar-field.ts'

/**
 * @returns Whether to check the value. False if the parser took the wrong part of the line for the
 * key, or the field is unknown.
 */
export function lintKey(
  content: string,
  field: Field | undefined,
  number: number,
  dialect: Dialect,
  report: Report,
): boolean {
  if (field === undefined || (field.directive === 'unknown' && !content.includes(':'))) {
    const corrected = withColon(content)
    if (corrected === undefined) report('not-a-field', number)
    else if (corrected.endsWith(': ')) report('key-without-value', number)
    else report('three-words-without-colon', number, corrected)
    return false
  }
  const { directive, key, value } = field
  if (directive === 'unknown') {
    const similar = similarField(textOf(key))
    if (/^(https?|ftp)$/i.test(key) && value.startsWith('//')) {
      report('url-without-key', number, `Sitemap: ${textOf(`${key}:${value}`)}`)
    } else if (similar !== undefined) report('unreadable-key', number, `${canonicalKey(similar)}:`)
    else lintUnknownField(key.toLowerCase(), number, dialect, report)
    return false
  }
  if (/[\t ](?:user-agent|allow|disallow|sitemap|crawl-delay)[\t ]*:/i.test(value)) {
    report('several-fields-on-one-line', number)
    return false
  }
  const corrected = `${canonicalKey(directive)}: ${textOf(value)}`
  if (!content.includes(':')) report('missing-colon', number, corrected)
  const lower = key.toLowerCase()
  if (lower === directive) return true
  if (!lower.startsWith(directive)) {
    report('misspelt-key', number, corrected)
    return true
  }
  if (!/[\t ]/.test(key)) {
    report('key-known-by-its-beginning', number, canonicalKey(directive))
    return true
  }
  report('late-colon', number, `${canonicalKey(directive)}: ${textOf(trimBlanks(content.slice(directive.length)))}`)
  return false
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
    const directive = directiveOf(key)
    if (directive !== 'unknown') {
      return `${canonicalKey(directive)}: ${textOf(trimBlanks(content.slice(key.length)))}`
    }
  }
  return undefined
}

/** Returns the usual spelling of a field name, such as `Crawl-delay` or `Content-Usage`. */
export function canonicalKey(directive: string): string {
  return directive.replace(/^.|(?<=^content-)./g, (letter) => letter.toUpperCase())
}
