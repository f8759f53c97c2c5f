// Draws a timeline as an SVG image, without references to other files.

import type { TimelineRow } from './row.ts'
import {
  hasRest,
  hasSharedWait,
  isSharedWait,
  labelsOf,
  requestCountOf,
  shortened,
  shownRows,
  spanOf,
  ticksOf,
} from './scale.ts'

// Pixels.
const ROW_HEIGHT = 22
const MARGIN = 16
const FONT_SIZE = 12
/** The average width of a character. */
const CHARACTER_WIDTH = 6.7
const MAX_LABEL_LENGTH = 36
/** The smallest distance between two ticks, so that their labels do not touch. */
const TICK_WIDTH = 50

const INK = '#1f2328'
const FAINT = '#6e7781'
const GRID = '#e3e7eb'
const WAIT = '#c9d8ea'
/** Waits for the limits of a domain, of an address and of the gate. */
const SHARED_WAIT = '#f0d9a8'
const START = '#0b63ce'
const PUSHBACK = '#c4320a'
const REFUSED = '#8250df'
/** Open circuits. */
const REST = '#f2cfc7'

export function timelineSvg(rows: readonly TimelineRow[], width: number, maxRows: number): string {
  const { shown, hidden } = shownRows(rows, maxRows)
  const labels = labelsOf(shown).map((label) => shortened(label, MAX_LABEL_LENGTH))
  const counts = shown.map((row) => String(requestCountOf(row)))
  const legend = legendOf(shown.some(hasRest), shown.some(hasSharedWait), width)
  const top = 18 + ROW_HEIGHT * legend.lines
  const left = MARGIN + textWidth(Math.max(8, ...labels.map(({ length }) => length)))
  const right = width - MARGIN - textWidth(Math.max(2, ...counts.map(({ length }) => length))) - 8
  const bottom = top + ROW_HEIGHT * shown.length
  const height = bottom + 34 + (hidden > 0 ? ROW_HEIGHT : 0)
  const spanMs = spanOf(shown)
  const x = (at: number) => round(left + 8 + (Math.max(0, at) / spanMs) * (right - left - 16))

  const parts: string[] = []
  for (const { at, label } of ticksOf(spanMs, Math.max(2, Math.floor((right - left) / TICK_WIDTH)))) {
    parts.push(
      `<path d="M${x(at)} ${top}V${bottom + 4}" stroke="${GRID}"/>`,
      text(x(at), bottom + 18, label, `fill="${FAINT}" text-anchor="middle"`),
    )
  }
  for (const [n, row] of shown.entries()) {
    const y = top + ROW_HEIGHT * n + ROW_HEIGHT / 2
    parts.push(
      `<path d="M${left} ${y}H${right}" stroke="${GRID}"/>`,
      text(left - 6, y + 4, labels[n] ?? '', `fill="${INK}" text-anchor="end"`),
      text(right + 8, y + 4, counts[n] ?? '', `fill="${FAINT}"`),
      ...marksOf(row, x, y, right),
    )
  }
  if (hidden > 0) {
    parts.push(
      text(MARGIN, bottom + 40, `and ${hidden} more ${hidden === 1 ? 'origin' : 'origins'}`, `fill="${FAINT}"`),
    )
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="${FONT_SIZE}">
<title>Requests by origin over time</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${legend.parts.join('\n')}
${parts.join('\n')}
</svg>
`
}

/**
 * Draws the marks of a row: waits and open circuits as bars at the bottom, then requests and refusals, then pushbacks
 * on top.
 */
function marksOf({ marks }: TimelineRow, x: (at: number) => number, y: number, right: number): string[] {
  const rests: string[] = []
  const bars: string[] = []
  const points: string[] = []
  const pushbacks: string[] = []
  let coveredUntil = Number.NEGATIVE_INFINITY // bars of requests that wait at the same time must not overlap
  for (const mark of marks) {
    if (mark.kind === 'start') {
      const from = Math.max(mark.at - mark.waitedMs, coveredUntil)
      if (mark.waitedMs > 0 && x(mark.at) > x(from)) {
        bars.push(
          `<rect x="${x(from)}" y="${y - 5}" width="${round(x(mark.at) - x(from))}" height="10" fill="${isSharedWait(mark) ? SHARED_WAIT : WAIT}"/>`,
        )
        coveredUntil = mark.at
      }
      points.push(`<circle cx="${x(mark.at)}" cy="${y}" r="3" fill="${START}" fill-opacity="0.75"/>`)
    } else if (mark.kind === 'rest') {
      const width = round(Math.min(x(mark.at + mark.forMs), right) - x(mark.at))
      rests.push(`<rect x="${x(mark.at)}" y="${y - 5}" width="${width}" height="10" fill="${REST}"/>`)
    } else if (mark.kind === 'refuse') points.push(cross(x(mark.at), y))
    else pushbacks.push(triangle(x(mark.at), y))
  }
  return [...bars, ...rests, ...points, ...pushbacks]
}

function cross(x: number, y: number): string {
  return `<path d="M${x - 3} ${y - 3}l6 6m0 -6l-6 6" stroke="${REFUSED}" stroke-width="1.5"/>`
}

function triangle(x: number, y: number): string {
  return `<path d="M${x} ${y - 8}l5 9h-10z" fill="${PUSHBACK}"/>`
}

const LEGEND: readonly LegendEntry[] = [
  { label: 'a request starts', draw: (x, y) => `<circle cx="${x + 9}" cy="${y}" r="3" fill="${START}"/>` },
  { label: 'one waits', draw: (x, y) => bar(x, y, WAIT) },
  { label: 'too many requests', draw: (x, y) => triangle(x + 9, y + 3) },
  { label: 'refused by robots.txt', draw: (x, y) => cross(x + 9, y) },
]
const SHARED_WAIT_ENTRY: LegendEntry = {
  label: 'one waits for its domain, its address or the gate',
  draw: (x, y) => bar(x, y, SHARED_WAIT),
}

const REST_ENTRY: LegendEntry = { label: 'the circuit is open', draw: (x, y) => bar(x, y, REST) }

interface LegendEntry {
  readonly label: string
  readonly draw: (x: number, y: number) => string
}

/** Draws the legend, in as many lines as the width of the image needs. */
function legendOf(
  withRests: boolean,
  withSharedWaits: boolean,
  width: number,
): { readonly parts: string[]; readonly lines: number } {
  const parts: string[] = []
  let x = MARGIN
  let line = 0
  const entries = [...LEGEND, ...(withRests ? [REST_ENTRY] : []), ...(withSharedWaits ? [SHARED_WAIT_ENTRY] : [])]
  for (const { label, draw } of entries) {
    const entryWidth = 24 + textWidth(label.length)
    if (x > MARGIN && x + entryWidth > width - MARGIN) {
      x = MARGIN
      line++
    }
    const y = 20 + ROW_HEIGHT * line
    parts.push(draw(x, y), text(x + 24, y + 4, label, `fill="${INK}"`))
    x += entryWidth + 12
  }
  return { parts, lines: line + 1 }
}

function bar(x: number, y: number, fill: string): string {
  return `<rect x="${x}" y="${y - 5}" width="18" height="10" fill="${fill}"/>`
}

function textWidth(characters: number): number {
  return Math.round(CHARACTER_WIDTH * characters)
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
