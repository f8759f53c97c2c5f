// What the two pictures of a timeline share: which rows, what they are called, and where the ticks stand.
import type { TimelineRow } from './timeline.ts'

/** The rows that are shown, in their order, and how many are left out. */
export function shownRows(
  rows: readonly TimelineRow[],
  most: number,
): { shown: readonly TimelineRow[]; hidden: number } {
  if (rows.length <= most) return { shown: rows, hidden: 0 }
  const busiest = new Set(rows.toSorted((one, other) => leavesOf(other) - leavesOf(one)).slice(0, most))
  return { shown: rows.filter((row) => busiest.has(row)), hidden: rows.length - most }
}

export function leavesOf({ marks }: TimelineRow): number {
  return marks.filter(({ kind }) => kind === 'start').length
}

/** An origin without its scheme; with it, where two would have one name. */
export function labelsOf(rows: readonly TimelineRow[]): readonly string[] {
  const short = rows.map(({ origin }) => origin.replace(/^https?:\/\//, ''))
  return short.map((label, n) => (short.indexOf(label) === short.lastIndexOf(label) ? label : (rows[n]?.origin ?? '')))
}

/** No longer than so many characters: host names differ at their beginnings, ports at their ends. */
export function shortened(label: string, most: number): string {
  if (label.length <= most) return label
  const end = Math.floor((most - 1) / 3)
  return `${label.slice(0, most - 1 - end)}…${label.slice(label.length - end)}`
}

/** How long the timeline is. Milliseconds, and never nothing. */
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

/** Ticks at round times, no more than so many: where, and what they say. */
export function ticksOf(spanMs: number, most: number): readonly { readonly at: number; readonly label: string }[] {
  for (const [name, unit, steps] of UNITS) {
    for (const step of steps) {
      const ms = step * unit
      if (spanMs / ms > most - 1) continue
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
