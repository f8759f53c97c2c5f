// Finds templates that no program filled in, such as `Sitemap: ${SITE_URL}/sitemap.xml`. Any advice
// about such a line would keep the placeholder, so the line gets no other finding.
//
// A rule that begins as a path does may have one on purpose: it keeps crawlers from the URLs that
// such a template makes in a page. It gets a note.

import { textOf } from '../bytes.ts'
import { isRule, type ParsedField } from '../parse/records.ts'
import { quoted, type ReportFinding } from './finding.ts'

/**
 * What template languages and shells replace: `${x}`, `{0}`, `{{ x }}`, `{% x %}`, `<?php x ?>`,
 * `<%= x %>`, `%X_Y%`, `$(x)`, `$X_Y`, `__X__`, `[object Object]`. A `%` with two hex digits after
 * it may encode a byte, so there the name needs an underscore, or capital letters only.
 */
const PLACEHOLDER =
  /\$\{[^}]*\}?|\{\d\}|\{\{.*?(?:\}\}|$)|\{%[-+]?[\t ].*?(?:%\}|$)|<\?(?:php|=).*?(?:\?>|$)|<%.*?(?:%>|$)|(?<!%[\dA-Fa-f]{2})%(?:(?![\dA-Fa-f]{2})[A-Za-z][\w.-]*|[A-Za-z]+[-_.]\w+|[A-Z]{3,}[A-Z\d]*)%(?![\dA-Fa-f]{2})|\$\([\w. -]+\)|\$[A-Z][A-Z\d]*_?[A-Z\d_]{2,}|__[A-Z][A-Z\d_]*__|\[object \w+\]/

/** A missing value of a programming language, where a value begins. */
const MISSING = /^(?:undefined|null|nan)(?=[/?]|$)/i

/** The same as a part of a URL. */
const MISSING_PART = /(?<=\/)(?:undefined|null)(?=[/:.]|$)/i

/** A part of a URL in brackets, as documentation writes what the reader is to replace. */
const BRACKETS = /[<[{][A-Za-z][\w .-]*[>\]}]/

/** A host that documentation writes for the host of the reader. */
const EXAMPLE_HOST =
  /(?<=^|\/|\.)(?:your[-_]?(?:own[-_]?)?(?:domain|site|website|web-site|store|shop|host|company|app|blog)|my[-_]?(?:domain|website))(?:[-_]?(?:name|here|url))?\.[a-z]+|(?<=^|\/|\.)(?:domain|site|example)\.tld\b/i

/**
 * Reports a placeholder. @param content The line without its comment, one character for each byte.
 * @param lineText The line with its comment. @returns Whether there is one.
 */
export function lintPlaceholder(
  content: string,
  lineText: string,
  field: ParsedField | undefined,
  origin: string,
  line: number,
  report: ReportFinding,
): boolean {
  const found = placeholderIn(content, lineText, field, origin)
  if (found === undefined) return false
  if (field?.field === 'noindex') return false // its value is a path too, and no crawler reads it
  const isPath = field !== undefined && isRule(field) && /^[/*]/.test(field.value)
  report(isPath ? 'literal-text-in-path' : 'unfilled-template', { line, found: quoted(textOf(found)) })
  return true
}

function placeholderIn(
  content: string,
  lineText: string,
  field: ParsedField | undefined,
  origin: string,
): string | undefined {
  // Ruby's `#{x}` begins a comment.
  const any = PLACEHOLDER.exec(content)?.[0] ?? /(?<=^[^#]*)#\{[^}]*\}?/.exec(lineText)?.[0]
  if (any !== undefined || field === undefined || field.field === 'unknown') return any
  const { value } = field
  const missing = MISSING.exec(value)?.[0]
  if (missing !== undefined) return missing
  if (field.field !== 'sitemap' && field.field !== 'license' && field.field !== 'host') return undefined
  const host = EXAMPLE_HOST.exec(value)?.[0]
  const isOwn = host !== undefined && origin.toLowerCase().includes(host.toLowerCase())
  return MISSING_PART.exec(value)?.[0] ?? BRACKETS.exec(value)?.[0] ?? (isOwn ? undefined : host)
}
