// Reports bytes of one line that crawlers ignore, and bytes that change how the line is parsed.

import { textOf } from '../bytes.ts'
import { knownKeyOf } from '../parse/directive.ts'
import { quoted, type ReportFinding } from './finding.ts'
import { hiddenCharacter, nameOfHidden, withoutHidden } from './hidden-characters.ts'

const BOM = '\ufeff'
const LF = 10
const CR = 13

/**
 * Reports that crawlers do not read a line to its end.
 *
 * @param text The file, one character for each byte.
 * @param end The offset at which the parser stopped.
 */
export function lintTruncation(text: string, start: number, end: number, line: number, report: ReportFinding): void {
  const next = text.charCodeAt(end) // NaN at the end of the file
  if (Number.isNaN(next) || next === LF || next === CR || text.slice(start, end).includes('#')) return
  report(next === 0 ? 'nul-octet' : 'over-long-line', line)
}

/**
 * Checks the bytes of a line's content. @returns Whether its key and value can be checked further.
 * False if hidden characters change them.
 */
export function lintBytes(content: string, lineText: string, line: number, report: ReportFinding): boolean {
  const text = textOf(content)
  // Decoding replaces invalid UTF-8 with U+FFFD. It does not count if the file itself contains it.
  if (text.includes('\ufffd') && !content.includes('\xef\xbf\xbd')) report('not-utf-8', line)
  const isTwoLines = hasOtherLineEnd(textOf(lineText))
  if (!isTwoLines && /(?![\t\u0085])\p{Cc}/u.test(text)) report('control-character', line)
  const hidden = hiddenCharacter(text, keyAndValue(text))
  const html = text.match(HTML)?.[0]
  if (isTwoLines) report('other-line-end', line)
  else if (text.startsWith(BOM)) report('misplaced-bom', line)
  else if (hidden !== undefined) {
    report('non-ascii-blank', { line, found: nameOfHidden(hidden) }, withoutHidden(text))
  } else if (hasEscapedLineEnd(content)) {
    const lines = text.replace(/^"|"$/g, '').split(/(?:\\r)?\\n/)
    report('escaped-line-end', line, ...lines.map((one) => one.trim()).filter((one) => one !== ''))
  } else if (html !== undefined) {
    report('html-in-line', { line, found: quoted(html) }, withoutHtml(text))
  } else return true
  return false
}

/**
 * Returns whether a character that ends a line elsewhere stands between a value and a field or comment.
 * At any other place, a line end would cut a value off.
 */
function hasOtherLineEnd(lineText: string): boolean {
  const [first = '', ...rest] = lineText.split(/[\v\f\u0085\u2028\u2029]/)
  return !/(?:^|:)\s*$/.test(first) && (rest.some(beginsWithField) || /[\u0085\u2028\u2029]\s*#/.test(lineText))
}

/** Returns whether a `\n` as text stands before a field, a comment, another `\n` or the end of the line. */
function hasEscapedLineEnd(content: string): boolean {
  return Array.from(content.matchAll(/\\n/g)).some(({ index }) => {
    const rest = content.slice(index + 2)
    return /^(?:["']?$|\\[rn])/.test(rest) || beginsWithField(rest)
  })
}

/** A tag of HTML, or an escaped `&` between two parameters of a query. */
const HTML =
  /<\/?(?:[abip]|body|br|div|font|h[1-6r]|head|html|li|meta|[ou]l|pre|script|span|strong|title)(?=[\s/>])[^<>]{0,200}>|&amp;(?=[\w-]+=)/gi

function withoutHtml(text: string): string {
  return text.replace(HTML, (html) => (html.startsWith('&') ? '&' : ' ')).trim()
}

/**
 * Returns the key and the value without ASCII blanks at their ends. A line without a colon is one
 * part.
 */
function keyAndValue(text: string): readonly string[] {
  const colon = text.indexOf(':')
  return colon === -1 ? [text] : [trimBlanks(text.slice(0, colon)), trimBlanks(text.slice(colon + 1))]
}

/**
 * Removes ASCII blanks at the ends of a string with one character for each byte. `trim` would also
 * remove byte A0, which is part of a value.
 */
export function trimBlanks(text: string): string {
  return text.replace(/^[\t-\r ]+/, '').replace(/(?<![\t-\r ])[\t-\r ]+$/, '')
}

/** The fields that a line may have after another one. The names of other fields are usual words. */
const FREQUENT: ReadonlySet<string | undefined> = new Set(['user-agent', 'allow', 'disallow', 'sitemap', 'crawl-delay'])

/** Longer keys are not searched for, which bounds the time for a long line. */
const MAX_KEY_LENGTH = 40

/** Returns whether a text begins with a frequent field and its colon. */
export function beginsWithField(text: string): boolean {
  const [, key = ''] = /^[\t ]*([^:]+?)[\t ]*:/.exec(text.slice(0, MAX_KEY_LENGTH)) ?? []
  return FREQUENT.has(knownKeyOf(key)?.directive)
}

/** Returns whether a value contains a blank, a frequent field of one or two words, and a colon. */
export function containsField(value: string): boolean {
  const parts = value.split(':').slice(0, -1)
  return parts.some((part) => {
    const words = part
      .slice(-MAX_KEY_LENGTH)
      .replace(/[\t ]+$/, '')
      .split(/[\t ]+/)
      .slice(1)
    return [words.slice(-1), words.slice(-2)].some((key) => FREQUENT.has(knownKeyOf(key.join(' '))?.directive))
  })
}
