// One line as octets: what crawlers cut, drop, or take for something else.

import { textOf } from '../../octets.ts'
import { trimBlanks } from '../fields.ts'
import type { Report } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'

const BOM = '\ufeff'
const LF = 10
const CR = 13

/** What of a line is not read. @param end Where the reader stopped. */
export function lintCut(octets: string, start: number, end: number, line: number, report: Report): void {
  const next = octets.charCodeAt(end) // NaN at the end of the file
  if (Number.isNaN(next) || next === LF || next === CR || octets.slice(start, end).includes('#')) return
  report(next === 0 ? 'nul-octet' : 'over-long-line', line)
}

/** The octets of a line's content. @returns Whether key and value are worth a look, as what they were meant to be. */
export function lintOctets(content: string, line: number, report: Report): boolean {
  const text = textOf(content)
  // A U+FFFD that the file does not hold itself is what became of other octets.
  if (text.includes('\ufffd') && !content.includes('\xef\xbf\xbd')) report('not-utf-8', line)
  if (/(?![\t\v\f\u0085])\p{Cc}/u.test(text)) report('control-character', line)
  let hiding: FindingCode | undefined
  if (/[\v\f\u0085\u2028\u2029]/.test(text)) hiding = 'other-line-end'
  else if (text.startsWith(BOM)) hiding = 'misplaced-bom'
  else if (partsOf(text).some((part) => /^[\s\u200b]|[\s\u200b]$/.test(part))) hiding = 'non-ascii-blank'
  if (hiding !== undefined) report(hiding, line)
  return hiding === undefined
}

/** Key and value without the blanks of ASCII; what has no colon is all key. */
function partsOf(text: string): readonly string[] {
  const colon = text.indexOf(':')
  return colon === -1 ? [text] : [trimBlanks(text.slice(0, colon)), trimBlanks(text.slice(colon + 1))]
}
