// Checks the path of one rule. RFC 9309 §2.2.2 and §2.2.3.

import { textOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { indexFolder } from '../parse/index-page.ts'
import type { ParsedRule } from '../parse/records.ts'
import { baseOf } from '../parse/rule-forms.ts'
import { ruleForm } from '../url/normal-form.ts'
import { hostOf, parseUrl } from '../url/origin.ts'
import { quoted, type ReportFinding } from './finding.ts'
import { canonicalKey } from './key.ts'
import { trimBlanks } from './line.ts'
import {
  decodeEntities,
  entityIn,
  type HostedPath,
  hostedPathIn,
  hostWithoutWww,
  meantPath,
  withoutQuotes,
} from './paths/meant-path.ts'
import { expressionIn, withWildcards } from './paths/regular-expression.ts'

/** @param hosts The hosts of the site as far as known, as `hostWithoutWww` returns them. */
export function lintPath(
  rule: ParsedRule,
  parsing: ParsingRules,
  hosts: ReadonlySet<string>,
  report: ReportFinding,
): void {
  const { field, value: path, line } = rule
  const write: WriteRules = (...better) => {
    // What closes or opens a whole site is for its owner to write.
    const isForAll = better.some(matchesAll) && !matchesAll(path)
    return isForAll ? [] : better.map((one) => `${canonicalKey(field)}: ${textOf(one)}`)
  }
  // Another host has another robots.txt, so nothing is known about its paths here.
  const writeFor = ({ host, path: own }: HostedPath) => {
    const bare = hostWithoutWww(host)
    return (hosts.size > 0 ? hosts.has(bare) : MAIN_HOST.test(bare)) ? write(own.replace(/^(?!\/)/, '/')) : []
  }
  const isLiteral = parsing.wildcards === 'literal'
  const start = isLiteral ? /^\// : /^[/*]/
  const url = hostedUrlIn(path, hosts)
  const expression = expressionIn(path)
  if (path === '') {
    if (field === 'allow' && parsing.emptyRules !== 'allows-all') report('empty-allow', line)
  } else if (url !== undefined) {
    report('absolute-url-in-rule', line, ...writeFor(url))
  } else if (/^\/https?:\/\/[\w-]+\.[^/]*\/./i.test(path)) {
    report('url-as-path', line, ...write(pathOfUrl(path.slice(1))))
  } else if (expression !== undefined && !isLiteral) {
    report('regular-expression-in-path', { line, found: quoted(expression) }, ...write(...withWildcards(path)))
  } else if (!start.test(path)) {
    const meant = meantPath(path)
    report('path-without-slash', line, ...(meant === undefined ? [] : write(meant)))
  } else {
    const wildcard = isLiteral ? (expression ?? /\*|\$$/.exec(path)?.[0]) : undefined
    if (wildcard !== undefined) report('literal-wildcard', { line, found: quoted(wildcard) })
    if (lintLiteralText(rule, hosts, write, writeFor, report)) return
    lintSpelling(rule, parsing, write, report)
    lintMeaning(rule, parsing, write, report)
  }
}

/**
 * Reports text that an author rarely means as a part of a URL. Some rules have it on purpose, because a
 * broken link has it too. @returns Whether another spelling of it would be no better.
 */
function lintLiteralText(
  { value: path, line }: ParsedRule,
  hosts: ReadonlySet<string>,
  write: WriteRules,
  writeFor: (hosted: HostedPath) => readonly string[],
  report: ReportFinding,
): boolean {
  const entity = entityIn(path)
  const meant = entity === undefined ? withoutQuotes(path) : decodeEntities(path)
  if (meant !== undefined) {
    const found = entity === undefined ? 'quotation marks' : quoted(entity)
    const isCertain = withoutQuotes(meant) === undefined && !/".*\//.test(meant)
    const better = isCertain ? write(trimBlanks(meant).replace(/[\t ]/g, '%20')) : []
    report('literal-text-in-path', { line, found }, ...better)
    return true
  }
  const hosted = hostedPathIn(path.replace(/^[/*]{1,2}\.?/, ''), hosts, true)
  if (hosted !== undefined && /^\/./.test(hosted.path))
    report('literal-text-in-path', { line, found: quoted(hosted.host) }, ...writeFor(hosted))
  const missing = MISSING.exec(path)?.[0]
  if (missing !== undefined) report('literal-text-in-path', { line, found: quoted(missing) })
  return false
}

/** A missing value of JavaScript as a part of a path, as scripts write it into links. */
const MISSING = /(?<=^\/|\*\/|\/[^?]*\/)(?:undefined|null|NaN)(?=[/?*$.]|$)/

/** A host that is probably the site itself: `shop.example` or `shop.co.uk`, but not `cdn.shop.example`. */
const MAIN_HOST = /^[^.]*(?:\.(?:ac|co|com|edu|gov|net|or|org)(?=\.[a-z]{2}$))?(?:\.[^.]+)?$/

/** Returns the host and path of a URL, or of a host without a scheme, where a value begins with one. */
export function hostedUrlIn(value: string, hosts: ReadonlySet<string>): HostedPath | undefined {
  const url = withoutQuotes(value) ?? value
  if (!/^(?:https?|ftp):\/\//i.test(url)) return hostedPathIn(url, hosts)
  const parsed = parseUrl(textOf(url))
  return { host: typeof parsed === 'string' ? '' : hostOf(parsed.origin), path: pathOfUrl(url) }
}

/** Returns the lines to write for paths, such as `Disallow: /a`; none if the author must decide. */
type WriteRules = (...paths: readonly string[]) => readonly string[]

function matchesAll(path: string): boolean {
  return baseOf(ruleForm(path)) === '/'
}

/**
 * Splits a value that has several paths, at a blank, comma, semicolon or bar before a path. A URL
 * may have these in its query.
 */
function pathsIn(value: string): readonly string[] {
  const before = value.includes('?') ? /[\t ](?=[/*])/ : /[\t ](?=[/*])|[,;|][\t ]?(?=\/)/
  return value.split(before).flatMap((path) => trimBlanks(path) || [])
}

/**
 * The beginning of a comment of another language. A path may begin with `//` or `/*`, and follow a
 * semicolon; a hyphen before the only slash at the end is part of a path, as in `/a - b/`.
 */
const COMMENT =
  /<!--|[\t ](?:\/\/(?=[\t ])|\/\*(?=[\t ]|[^/]*\*\/)|<!?-|--?(?=[\t ](?![^/]{0,80}[/*$]$))|;(?![\t ]?\/))/

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

/**
 * Reports spellings that can be improved. WHATWG URL defines which characters clients encode, in
 * the path and in the query.
 */
function lintSpelling(
  { value: path, line }: ParsedRule,
  parsing: ParsingRules,
  write: WriteRules,
  report: ReportFinding,
): void {
  const { wildcards, winner, compare } = parsing
  if (wildcards === 'special') {
    if (path.startsWith('*')) report('path-begins-with-star', line, ...write(...withLeadingSlash(path)))
    if (path.slice(0, -1).includes('$')) report('dollar-inside', line)
    if (winner === 'most-octets') {
      if (path.includes('**')) report('double-star', line, ...write(path.replace(/\*{2,}/g, '*')))
      else if (/[^\t $]\*$/.test(path)) report('trailing-star', line, ...write(path.slice(0, -1)))
    }
  }
  const comment = COMMENT.exec(path)?.index
  const several = pathsIn(path.slice(0, comment))
  if (several.length > 1) report('two-paths-on-one-line', line, ...(comment === undefined ? write(...several) : []))
  else if (/[\t ]/.test(path))
    report('raw-space-in-path', line, ...(comment === undefined ? write(path.replace(/[\t ]/g, '%20')) : []))
  else if (comment !== undefined) report('raw-character-in-path', line)
  // The other spellings would encode the comment.
  if (comment !== undefined) return
  if (certainPath(path, parsing).includes('\\')) {
    report('backslash-in-path', line, ...write(path.replace(/^[^?]*/, (before) => before.replaceAll('\\', '/'))))
  }
  // Only the normal form of RFC 9309 may change the other characters.
  if (/[\u0080-\u00ff]/.test(path)) {
    // Google recommends it since 2026-10-23: developers.google.com/crawling/docs/robots-txt/robots-txt-spec
    report('raw-non-ascii', line, ...write(ruleForm(path, compare === 'rfc9309' ? compare : 'plain')))
  } else if (/["<>]|^[^?]*[`{}]/.test(path)) report('raw-character-in-path', line, ...write(ruleForm(path)))
  if (/%(?![0-9a-f]{2})/i.test(path)) {
    report('malformed-percent', line, ...write(path.replace(/%(?![0-9a-f]{2})/gi, '%25')))
  } else if (/%(?:2D|2E|5F|7E|3\d|[46][1-9A-F]|[57][0-9A])/i.test(path)) {
    report('encoded-unreserved', line, ...write(ruleForm(path)))
  }
}

/** Returns the part of a pattern that is surely in the path of a URL: a `*` may match a `?`. */
function certainPath(pattern: string, { wildcards }: ParsingRules): string {
  return pattern.split(wildcards === 'special' ? /[?*]/ : '?', 1)[0] ?? ''
}

/** Reports rules that match other URLs than their author may expect. */
function lintMeaning(
  { field, value: path, line }: ParsedRule,
  parsing: ParsingRules,
  write: WriteRules,
  report: ReportFinding,
): void {
  const form = ruleForm(path)
  const isAnchored = parsing.wildcards === 'special' && form.endsWith('$')
  const certain = certainPath(form, parsing)
  if (/\/\.{1,2}\//.test(certain) || (isAnchored && /\/\.{1,2}\$$/.test(certain))) {
    const resolved = parseUrl(`https://host.invalid${textOf(isAnchored ? path.slice(0, -1) : path)}`)
    report(
      'dot-segments',
      line,
      ...(typeof resolved === 'string' ? [] : write(resolved.path + (isAnchored ? '$' : ''))),
    )
  }
  if (field === 'disallow' && /^\/robots\.txt[*$]*$/.test(form)) report('robots-txt-disallowed', line)
  if (field !== 'allow' || parsing.indexPages !== 'folder') return
  const folder = indexFolder(ruleForm(path, 'google'))
  if (folder === undefined) return
  // No longer pattern matches the folder alone. A star inside the name ends the special meaning.
  report('index-page-also-allows-folder', line, ...write(path.replace(/i(?=ndex\.htm[^/]*$)/, 'i*')))
}

// Returns patterns that begin with a slash and together match the same paths as one that begins
// with a star. Every path begins with a slash, so `*a` equals `/*a`; `*/a` equals `/a` and `/*/a`
// together.
function withLeadingSlash(path: string): readonly string[] {
  const rest = path.replace(/^\*+/, '')
  if (rest === '' || rest === '/') return ['/']
  return rest.startsWith('/') ? [rest, `/*${rest}`] : [`/*${rest}`]
}
