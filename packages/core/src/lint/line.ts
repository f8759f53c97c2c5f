// The bytes of one line: what crawlers cut, drop, or take for something else.

import { textOf } from '../bytes.ts'
import type { Report } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'

const BOM = '\ufeff'
const LF = 10
const CR = 13

/** Reports that a part of a line is not read. @param text The file, one character for each byte. @param end Where the reader stopped. */
export function lintTruncation(text: string, start: number, end: number, line: number, report: Report): void {
  const next = text.charCodeAt(end) // NaN at the end of the file
  if (Number.isNaN(next) || next === LF || next === CR || text.slice(start, end).includes('#')) return
  report(next === 0 ? 'nul-octet' : 'over-long-line', line)
}

/** Checks the bytes of a line's content. @returns Whether its key and value are likely to be what was meant. */
export function lintBytes(content: string, line: number, report: Report): boolean {
  const text = textOf(content)
  // A U+FFFD that is not in the file itself stands for bytes that are not UTF-8.
  if (text.includes('\ufffd') && !content.includes('\xef\xbf\xbd')) report('not-utf-8', line)
  if (/(?![\t\v\f\u0085])\p{Cc}/u.test(text)) report('control-character', line)
  let hiding: FindingCode | undefined
  if (/[\v\f\u0085\u2028\u2029]/.test(text)) hiding = 'other-line-end'
  else if (text.startsWith(BOM)) hiding = 'misplaced-bom'
  else if (keyAndValue(text).some((part) => /^[\s\u200b]|[\s\u200b]$/.test(part))) hiding = 'non-ascii-blank'
  if (hiding !== undefined) report(hiding, line)
  return hiding === undefined
}

/** Key and value without the blanks of ASCII; a line without a colon is all key. */
function keyAndValue(text: string): readonly string[] {
  const colon = text.indexOf(':')
  return colon === -1 ? [text] : [trimBlanks(text.slice(0, colon)), trimBlanks(text.slice(colon + 1))]
}

/** A string, one character for each byte, without the blanks of ASCII at its ends. `trim` would remove U+00A0 too, which is part of a value. */
export function trimBlanks(text: string): string {
  return text.replace(/^[\t-\r ]+/, '').replace(/(?<![\t-\r ])[\t-\r ]+$/, '')
}
