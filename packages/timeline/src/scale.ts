// Chooses rows, labels and ticks for the text and the SVG form of a timeline.
import type { TimelineMark, TimelineRow } from './row.ts'

/**
 * Returns the rows with the most requests, in their original order, and how many rows are left out.
 */
export function shownRows(
  rows: readonly TimelineRow[],
  maxRows: number,
): { shown: readonly TimelineRow[]; hidden: number } {
  if (rows.length <= maxRows) return { shown: rows, hidden: 0 }
  const busiest = new Set(rows.toSorted((one, other) => requestCountOf(other) - requestCountOf(one)).slice(0, maxRows))
  return { shown: rows.filter((row) => busiest.has(row)), hidden: rows.length - maxRows }
}

/** Returns whether the circuit of this row's origin was open. */
export function hasRest({ marks }: TimelineRow): boolean {
  return marks.some(({ kind }) => kind === 'rest')
}

/** Returns whether a request of this row waited for a limit that several origins share. */
export function hasSharedWait({ marks }: TimelineRow): boolean {
  return marks.some(isSharedWait)
}

/**
 * Returns whether this mark is a request that waited for the limit of its domain, its address or
 * the gate.
 */
export function isSharedWait(mark: TimelineMark): boolean {
  return mark.kind === 'start' && ['domain', 'address', 'gate'].includes(mark.waitedLevel ?? '')
}

export function requestCountOf({ marks }: TimelineRow): number {
  return marks.filter(({ kind }) => kind === 'start').length
}

/** Returns the origins without their scheme; with it, if two labels would be equal. */
export function labelsOf(rows: readonly TimelineRow[]): readonly string[] {
  const short = rows.map(({ origin }) => origin.replace(/^https?:\/\//, ''))
  return short.map((label, n) => (short.indexOf(label) === short.lastIndexOf(label) ? label : (rows[n]?.origin ?? '')))
}

/** Shortens a label in the middle, since host names differ at the start and ports at the end. */
export function shortened(label: string, maxLength: number): string {
  if (label.length <= maxLength) return label
  const end = Math.floor((maxLength - 1) / 3)
  return `${label.slice(0, maxLength - 1 - end)}…${label.slice(label.length - end)}`
}

/** Returns the time of the last mark. Milliseconds, from 1. */
export function spanOf(rows: readonly TimelineRow[]): number {
  let last = 1
  for (const { marks } of rows) for (const { at } of marks) last = Math.max(last, at)
  return last
}

const UNITS: readonly (readonly [name: string, ms: number, steps: readonly number[]])[] = [
  ['ms', 1, [1, 2, 5, 10, 20, 50, 100, 200, 500]],
  ['s', 1_000, [1, 2, 5, 10, 15, 30]],
  ['min', 60_000, [1, 2, 5, 10, 15, 30]],
  ['h', 3_600_000, [1, 2, 3, 6, 12]],
  ['d', 86_400_000, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]],
]

/** Returns at most `maxTicks` ticks at round times, with their labels. */
export function ticksOf(spanMs: number, maxTicks: number): readonly { readonly at: number; readonly label: string }[] {
  for (const [name, unit, steps] of UNITS) {
    for (const step of steps) {
      const ms = step * unit
      if (spanMs / ms > maxTicks - 1) continue
      const count = Math.floor(spanMs / ms) + 1
      const inSeconds = name === 'ms' && spanMs >= 1_000
      return Array.from({ length: count }, (_, n) => ({
        at: n * ms,
        label: inSeconds ? `${(n * step) / 1_000} s` : `${n * step} ${name}`,
      }))
    }
  }
  return [{ at: 0, label: '0' }]
}
