// A line's key, and its colon.

import { textOf } from '../bytes.ts'
import { directiveOf } from '../parse/directive.ts'
import type { Report } from './finding.ts'
import type { Field } from './groups.ts'
import { similarField } from './similar-field.ts'
import { trimBlanks } from './line.ts'

/** @returns Whether the value is worth a look: it is not where the reader took something else for the key. */
export function lintKey(content: string, field: Field | undefined, number: number, report: Report): boolean {
  if (field === undefined || (field.directive === 'unknown' && !content.includes(':'))) {
    const meant = withColon(content)
    if (meant === undefined) report('not-a-field', number)
    else report('three-words-without-colon', number, meant)
    return false
  }
  const { directive, key, value } = field
  if (directive === 'unknown') {
    const likely = similarField(textOf(key))
    if (/^(https?|ftp)$/i.test(key) && value.startsWith('//')) {
      report('url-without-key', number, `Sitemap: ${textOf(`${key}:${value}`)}`)
    } else if (likely !== undefined) report('unreadable-key', number, `${canonicalKey(likely)}:`)
    else report('unknown-field', number)
    return false
  }
  if (/[\t ](?:user-agent|allow|disallow|sitemap|crawl-delay)[\t ]*:/i.test(value)) {
    report('several-fields-on-one-line', number)
    return false
  }
  const right = `${canonicalKey(directive)}: ${textOf(value)}`
  if (!content.includes(':')) report('missing-colon', number, right)
  const lower = key.toLowerCase()
  if (lower === directive) return true
  if (!lower.startsWith(directive)) {
    report('misspelt-key', number, right)
    return true
  }
  if (!/[\t ]/.test(key)) {
    report('key-known-by-its-beginning', number, canonicalKey(directive))
    return true
  }
  report('late-colon', number, `${canonicalKey(directive)}: ${textOf(trimBlanks(content.slice(directive.length)))}`)
  return false
}

/** What a line like `Disallow /a b`, which the reader passes over, would be with its colon. */
function withColon(content: string): string | undefined {
  if (content.includes(':')) return undefined
  // The key is one word, or two: `User agent *`.
  for (const words of [/^[^\t ]+/, /^[^\t ]+[\t ]+[^\t ]+/]) {
    const key = words.exec(content)?.[0] ?? ''
    const directive = directiveOf(key)
    if (directive !== 'unknown') {
      return `${canonicalKey(directive)}: ${textOf(trimBlanks(content.slice(key.length)))}`
    }
  }
  return undefined
}

/** `Crawl-delay`, as most files write it. */
export function canonicalKey(directive: string): string {
  return directive.charAt(0).toUpperCase() + directive.slice(1)
}
