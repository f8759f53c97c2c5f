// Checks the path of one rule. RFC 9309 §2.2.2 and §2.2.3.

import { textOf } from '../bytes.ts'
import { indexFolder } from '../parse/index-page.ts'
import { ruleForm } from '../url/normal-form.ts'
import { parseUrl } from '../url/origin.ts'
import { quoted, type Report } from './finding.ts'
import { canonicalKey } from './key.ts'
import { trimBlanks } from './line.ts'
import { expressionIn, withWildcards } from './regular-expression.ts'

/** A rule and its line. The path has one character for each byte. */
interface RuleLine {
  readonly directive: 'allow' | 'disallow'
  readonly path: string
  readonly line: number
}

export function lintPath({ directive, path, line }: RuleLine, report: Report): void {
  const rule: FormatRule = (better) => `${canonicalKey(directive)}: ${textOf(better)}`
  if (path === '') {
    if (directive === 'allow') report('empty-allow', line)
  } else if (/^(https?|ftp):\/\//i.test(path)) {
    report('absolute-url-in-rule', line, rule(pathOfUrl(path)))
  } else if (/^\/https?:\/\/[\w-]+\.[^/]*\/./i.test(path)) {
    report('url-as-path', line, rule(pathOfUrl(path.slice(1))))
  } else if (expressionIn(path) !== undefined) {
    const found = quoted(expressionIn(path) ?? '')
    report('regular-expression-in-path', { line, found }, ...withWildcards(path).map(rule))
  } else if (!/^[/*]/.test(path)) {
    report('path-without-slash', line, rule(`/${path.replace(/^[\\$]+/, '')}`))
  } else {
    lintSpelling({ directive, path, line }, rule, report)
    lintMeaning({ directive, path, line }, rule, report)
  }
}

/**
 * Splits a value that has several paths, at a blank, comma, semicolon or bar before a path. A URL
 * may have these in its query.
 */
function pathsIn(value: string): readonly string[] {
  const before = value.includes('?') ? /[\t ](?=[/*])/ : /[\t ](?=[/*])|[,;|][\t ]?(?=\/)/
  return value.split(before).flatMap((path) => trimBlanks(path) || [])
}

/** @param url One character for each byte. */
function pathOfUrl(url: string): string {
  const parsed = parseUrl(textOf(url))
  return typeof parsed === 'string' ? '/' : parsed.path
}

/**
 * Returns whether a comment begins in the middle of a word, so that a `#` was probably meant as
 * part of the path.
 */
export function isCutByComment(line: string): boolean {
  const hash = line.indexOf('#')
  return hash > 0 && /[^\t :]/.test(line.charAt(hash - 1)) && /[^\t #]/.test(line.charAt(hash + 1))
}

/** Formats a path as a rule, such as `Disallow: /a`. */
type FormatRule = (path: string) => string

/**
 * Reports spellings that can be improved. WHATWG URL defines which characters clients encode, in
 * the path and in the query.
 */
function lintSpelling({ path, line }: RuleLine, rule: FormatRule, report: Report): void {
  if (path.startsWith('*')) report('path-begins-with-star', line, ...withLeadingSlash(path).map(rule))
  if (path.slice(0, -1).includes('$')) report('dollar-inside', line)
  if (path.includes('**')) report('double-star', line, rule(path.replace(/\*{2,}/g, '*')))
  else if (/[^\t $]\*$/.test(path)) report('trailing-star', line, rule(path.slice(0, -1)))
  const several = pathsIn(path)
  if (several.length > 1) report('two-paths-on-one-line', line, ...several.map(rule))
  else if (/[\t ]/.test(path)) report('raw-space-in-path', line, rule(path.replace(/[\t ]/g, '%20')))
  if (/^[^?]*\\/.test(path)) report('backslash-in-path', line, rule(path.replaceAll('\\', '/')))
  const form = rule(ruleForm(path))
  if (/[\u0080-\u00ff]/.test(path)) report('raw-non-ascii', line, form)
  else if (/["<>]|^[^?]*[`{}]/.test(path)) report('raw-character-in-path', line, form)
  if (/%(?![0-9a-f]{2})/i.test(path)) {
    report('malformed-percent', line, rule(path.replace(/%(?![0-9a-f]{2})/gi, '%25')))
  } else if (/%(?:2D|2E|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])/i.test(path)) report('encoded-unreserved', line, form)
}

/** Reports rules that match other URLs than their author may expect. */
function lintMeaning({ directive, path, line }: RuleLine, rule: FormatRule, report: Report): void {
  const form = ruleForm(path)
  const [beforeQuery = ''] = form.split('?', 1)
  if (/\/\.{1,2}(?:\/|\$$)/.test(beforeQuery)) {
    const resolved = parseUrl(`https://host.invalid${path.replace(/\$$/, '/')}`)
    report('dot-segments', line, rule(typeof resolved === 'string' ? '/' : resolved.path))
  }
  if (directive === 'disallow' && /^\/robots\.txt[*$]*$/.test(form)) report('robots-txt-disallowed', line)
  const folder = directive === 'allow' ? indexFolder(form) : undefined
  if (folder !== undefined) report('index-page-also-allows-folder', line, `Disallow: ${folder.replace('$', '*$')}`)
}

// Returns patterns that begin with a slash and together match the same paths as one that begins
// with a star. Every path begins with a slash, so `*a` equals `/*a`; `*/a` equals `/a` and `/*/a`
// together.
function withLeadingSlash(path: string): readonly string[] {
  const rest = path.replace(/^\*+/, '')
  if (rest === '') return ['/']
  return rest.startsWith('/') ? [rest, `/*${rest}`] : [`/*${rest}`]
}
