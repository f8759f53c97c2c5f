// Reports bytes of one line that crawlers ignore, and bytes that change how the line is parsed.

import { textOf } from '../bytes.ts'
import type { Report } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'

const BOM = '\ufeff'
const LF = 10
const CR = 13

/**
 * Reports that crawlers do not read a line to its end.
 *
 * @param text The file, one character for each byte.
 * @param end The offset at which the parser stopped.
 */
export function lintTruncation(text: string, start: number, end: number, line: number, report: Report): void {
  const next = text.charCodeAt(end) // NaN at the end of the file
  if (Number.isNaN(next) || next === LF || next === CR || text.slice(start, end).includes('#')) return
  report(next === 0 ? 'nul-octet' : 'over-long-line', line)
}

/**
 * Checks the bytes of a line's content. @returns Whether its key and value can be checked further.
 * False if hidden characters change them.
 */
export function lintBytes(content: string, line: number, report: Report): boolean {
  const text = textOf(content)
  // Decoding replaces invalid UTF-8 with U+FFFD. It does not count if the file itself contains it.
  if (text.includes('\ufffd') && !content.includes('\xef\xbf\xbd')) report('not-utf-8', line)
  if (/(?![\t\v\f\u0085])\p{Cc}/u.test(text)) report('control-character', line)
  let code: FindingCode | undefined
  if (/[\v\f\u0085\u2028\u2029]/.test(text)) code = 'other-line-end'
  else if (text.startsWith(BOM)) code = 'misplaced-bom'
  else if (keyAndValue(text).some((part) => /^[\s\u200b]|[\s\u200b]$/.test(part))) code = 'non-ascii-blank'
  if (code !== undefined) report(code, line)
  return code === undefined
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
