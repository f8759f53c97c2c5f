// Draws a timeline as text: one line for each origin, one column for each interval of time.

import type { WaitLevel } from '@politely/gate/internal'
import type { TimelineRow } from './row.ts'
import { hasRest, hasSharedWait, labelsOf, requestCountOf, shortened, shownRows, spanOf, ticksOf } from './scale.ts'

const LEGEND = [
  '● a request starts',
  '2 to 9: that many start',
  '+ more',
  '· one waits',
  '! too many requests',
  'x refused by robots.txt',
]

export function timelineText(rows: readonly TimelineRow[], columns: number, maxRows: number): string {
  if (rows.length === 0) return 'no requests\n'
  const { shown, hidden } = shownRows(rows, maxRows)
  const counts = shown.map((row) => String(requestCountOf(row)))
  const countWidth = Math.max(...counts.map(({ length }) => length))
  const labels = labelsOf(shown)
  const labelWidth = Math.min(Math.max(...labels.map(({ length }) => length)), Math.floor(columns * 0.3))
  const width = columns - labelWidth - countWidth - 4
  const spanMs = spanOf(shown)
  const line = (label: string, plot: string, count: string) =>
    `${label.padEnd(labelWidth)} ${plot} ${count.padStart(countWidth)}`.trimEnd()
  const lines = shown.map((row, n) =>
    line(shortened(labels[n] ?? '', labelWidth), `│${plotOf(row, spanMs, width)}│`, counts[n] ?? ''),
  )
  if (hidden > 0) lines.push(`and ${hidden} more ${hidden === 1 ? 'origin' : 'origins'}`)
  const ticks = ticksOf(spanMs, Math.max(2, Math.floor(width / 9)))
  const columnOf = (at: number) => Math.min(width - 1, Math.floor((at / spanMs) * width))
  const axis = [...'─'.repeat(width)]
  const names = [...' '.repeat(width + 2)]
  for (const { at, label } of ticks) {
    const column = columnOf(at)
    axis[column] = '┬'
    const start = Math.min(column + 1, names.length - label.length)
    for (const [n, character] of [...label].entries()) names[start + n] = character
  }
  lines.push(line('', `└${axis.join('')}┘`, ''), line('', names.join(''), ''), ...wrapped(legendOf(shown), columns))
  return `${lines.join('\n')}\n`
}

/**
 * Draws one character for each interval. The later steps overwrite the earlier ones: waits, open
 * circuits, refusals, requests, pushbacks.
 */
function plotOf({ marks }: TimelineRow, spanMs: number, width: number): string {
  const cells = Array<string>(width).fill(' ')
  const starts = Array<number>(width).fill(0)
  const columnOf = (at: number) => Math.min(width - 1, Math.max(0, Math.floor((at / spanMs) * width)))
  for (const mark of marks) {
    if (mark.kind !== 'start') continue
    const column = columnOf(mark.at)
    starts[column] = (starts[column] ?? 0) + 1
    if (mark.waitedMs > 0) cells.fill(waitSign(mark.waitedLevel), columnOf(mark.at - mark.waitedMs), column)
  }
  for (const mark of marks)
    if (mark.kind === 'rest') cells.fill('_', columnOf(mark.at), columnOf(mark.at + mark.forMs) + 1)
  for (const { kind, at } of marks) if (kind === 'refuse') cells[columnOf(at)] = 'x'
  for (const [column, count] of starts.entries()) {
    if (count > 0) cells[column] = count === 1 ? '●' : count > 9 ? '+' : String(count)
  }
  for (const { kind, at } of marks) if (kind === 'pushback') cells[columnOf(at)] = '!'
  return cells.join('')
}

/** Returns the legend, with the signs of open circuits and of waits for shared limits if there are any. */
function legendOf(rows: readonly TimelineRow[]): readonly string[] {
  const rests = rows.some(hasRest) ? ['_ the circuit is open'] : []
  const shared = rows.some(hasSharedWait) ? ['one waits for: - its domain, = its address, ~ the gate'] : []
  return [...LEGEND, ...rests, ...shared]
}

/** Returns the character for a wait at this level. */
function waitSign(level: WaitLevel | undefined): string {
  switch (level) {
    case 'domain':
      return '-'
    case 'address':
      return '='
    case 'gate':
      return '~'
    default:
      return '·'
  }
}

function wrapped(parts: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 3 + part.length <= columns) lines[lines.length - 1] = `${last}   ${part}`
    else lines.push(part)
  }
  return lines
}
