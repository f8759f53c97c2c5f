// Prints a crawl: live in a terminal, or one line for each page.
import type { CrawlTimeline } from '@politely/timeline'
import { outcomeText, reasonText } from '../../output/sentences.ts'
import { bold, dim, green, printable, red, shorten, sizeText, waitText, yellow } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { CrawlSummary, type PageReport } from './summary.ts'

export interface CrawlOutput {
  page(report: PageReport): Promise<void>
  /** Prints the summary. @param leftOut How many URLs were left out because of nofollow. */
  end(isInterrupted: boolean, leftOut: number): Promise<void>
}

/** JSON has one line for each page, and the summary on stderr. A terminal shows a live drawing. */
export function outputFor(format: string | undefined, timeline: CrawlTimeline, userAgent: string): CrawlOutput {
  const summary = new CrawlSummary(userAgent)
  const isJson = format !== 'text'
  const drawing = !isJson && process.stdout.isTTY ? new LiveDrawing(timeline, summary) : undefined
  return {
    async page(report) {
      summary.add(report)
      if (drawing) drawing.last = report
      else await write(isJson ? jsonLine({ version: 1, ...report }) : lineOf(report))
    },
    async end(isInterrupted, leftOut) {
      const text = summary.text(isInterrupted, leftOut)
      if (isJson) process.stderr.write(text)
      else await write(`${drawing?.end() ?? `\n${timeline.text({ columns: 100 })}`}\n${text}`)
    },
  }
}

const REDRAW_MS = 200

/** Draws the timeline again and again in the same lines of a terminal. */
class LiveDrawing {
  last: PageReport | undefined
  readonly #summary: CrawlSummary
  readonly #timeline: CrawlTimeline
  readonly #timer: NodeJS.Timeout
  #drawnLines = 0

  constructor(timeline: CrawlTimeline, summary: CrawlSummary) {
    this.#timeline = timeline
    this.#summary = summary
    this.#timer = setInterval(() => process.stdout.write(this.#frame()), REDRAW_MS)
  }

  /** Returns the last drawing, in place of the one before. */
  end(): string {
    clearInterval(this.#timer)
    return `${this.#erase()}${this.#drawing()}`
  }

  #frame(): string {
    const last = this.last === undefined ? '' : cut(lineOf(this.last, false), columns())
    const text = `${this.#drawing()}\n${dim(this.#summary.counts())}\n${last}\n`
    const erase = this.#erase()
    this.#drawnLines = text.split('\n').length - 1
    return erase + text
  }

  #drawing(): string {
    // A frame that is taller than the terminal could not be erased.
    const maxRows = Math.max(1, (process.stdout.rows || 24) - 10)
    return this.#timeline.text({ columns: columns(), maxRows })
  }

  /** Moves the cursor to the start of the last frame, and erases what follows. */
  #erase(): string {
    return this.#drawnLines === 0 ? '' : `\u001b[${this.#drawnLines}A\u001b[0J`
  }
}

function columns(): number {
  return Math.min(120, Math.max(40, process.stdout.columns || 80))
}

function cut(line: string, width: number): string {
  const text = line.trimEnd()
  return text.length < width ? text : `${text.slice(0, width - 2)}…`
}

/** @param isColoured False for a line that is cut to the width of the terminal. */
function lineOf(report: PageReport, isColoured = true): string {
  const { url, outcome, status, attempts, page, waitedMs, waitedFor, bytes, location, problem, verdict } = report
  const paint = (colour: (text: string) => string, text: string) => (isColoured ? colour(text) : text)
  const shown = paint(bold, printable(url))
  const waited = waitText(waitedMs, waitedFor)
  const wait = `${attempts > 1 ? `, ${attempts} attempts` : ''}${waited === undefined ? '' : `, waited ${waited}`}`
  switch (outcome) {
    case 'fetched': {
      const text = page && outcomeText(page)
      const result = text === undefined ? '' : `, ${text}`
      const colour = text === undefined ? green : yellow
      const target = location === undefined ? '' : `, redirects to ${printable(location)}`
      return `${paint(colour, `${text === undefined ? '✓' : '!'} ${status}    `)}  ${shown}  ${sizeText(bytes)}${result}${wait}${target}\n`
    }
    case 'refused':
      return `${paint(red, '✗ refused')}  ${shown}  ${verdict === undefined ? '' : shorten(reasonText(verdict))}\n`
    case 'failed':
      return `${paint(red, '✗ failed ')}  ${shown}  ${printable(problem ?? '')}${wait}\n`
  }
}
