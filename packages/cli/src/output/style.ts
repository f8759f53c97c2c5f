// Text for people: colours, safe text, rows, and durations, sizes and counts.
import { styleText } from 'node:util'
import { escapeControls, textWithoutCredentials } from '@politely/core/internal'
import type { WaitReason } from '@politely/gate/internal'

export const green = (text: string): string => styleText('green', text)
export const red = (text: string): string => styleText('red', text)
export const yellow = (text: string): string => styleText('yellow', text)
export const bold = (text: string): string => styleText('bold', text)
export const dim = (text: string): string => styleText('dim', text)

const MAX_LENGTH = 200

/**
 * Cuts text to a few terminal lines. A rule or URL that a site wrote may have thousands of
 * characters.
 */
export function shorten(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

/** Text of a site: shortened, and safe as `safeText` makes it. */
export function printable(text: string): string {
  return escapeControls(shorten(textWithoutCredentials(text)))
}

/** Text that a site may have written: control characters are escaped, and URLs have no credentials. */
export function safeText(text: string): string {
  return escapeControls(textWithoutCredentials(text))
}

/** Every line that politely writes to stderr starts with its name. */
export function errorLine(message: string): string {
  return `politely: ${safeText(message)}\n`
}

/** Returns a heading and its lines; nothing if there are no lines. */
export function section(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${dim(heading)}\n${lines.join('\n')}\n`
}

/** Returns the parts that are not empty, each in lines of their own. */
export function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n')
}

/** A label and its texts. A row without a text is left out; a second text has a line without label. */
export type Row = readonly [label: string, text: string | false | 0 | undefined | readonly string[]]

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

const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

/**
 * Uses the largest unit that fits twice, so that a day is "24 h". Counts below 10 have one decimal.
 */
export function durationText(ms: number): string {
  if (ms === 0) return '0 s'
  const [unit, name] = UNITS.find(([size]) => ms >= (size === 1000 ? 1 : 1.95) * size) ?? [1, 'ms']
  const count = ms / unit
  return `${Number(count.toFixed(count < 10 && name !== 'ms' ? 1 : 0))} ${name}`
}

/** What a request waited for: `5 s (crawl-delay)`. Undefined if nothing held it up. */
export function waitText(waitedMs: number, waitedFor: WaitReason | 'none' | undefined): string | undefined {
  if (waitedFor === undefined || waitedFor === 'none') return undefined
  return `${durationText(waitedMs)} (${waitedFor === 'own-delay' ? '--min-delay' : waitedFor})`
}

/** `812 bytes`, `1.2 kB`, `34 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const name = bytes < 1e6 ? 'kB' : bytes < 1e9 ? 'MB' : 'GB'
  const count = bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[name]
  return `${count.toFixed(count < 10 ? 1 : 0)} ${name}`
}

/** `1 page`, `12,000 pages`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
