// The rows of a report for people, such as `  waited      5 s (crawl-delay)`.
import { dim } from './style.ts'

/** A label and its texts. A row without a text is left out; a second text has a line without label. */
export type Row = readonly [label: string, text: string | false | undefined | readonly string[]]

/**
 * Returns the lines of the rows.
 * @param width The width of the labels.
 * @param fit Breaks a text that begins at a column to the width of the terminal. Default: no breaks.
 * @param gap What stands between a label and its text.
 */
export function linesOf(
  width: number,
  rows: readonly Row[],
  fit: (text: string, indent: number) => string = (text) => text,
  gap = ' ',
): readonly string[] {
  const indent = 2 + width + gap.length
  return rows.flatMap(([label, text]) =>
    [text || []].flat().map((each, n) => `  ${dim((n === 0 ? label : '').padEnd(width))}${gap}${fit(each, indent)}`),
  )
}
