// Prints a crawl: live in a terminal, or one line for each page.
import type { CrawlTimeline } from '@politely/timeline'
import { sizeText, waitText } from '../../output/amounts.ts'
import { outcomeText, reasonText } from '../../output/sentences.ts'
import { bold, dim, green, printable, red, shorten, yellow } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { CrawlSummary, type PageReport } from './summary.ts'

export interface CrawlOutput {
  page(report: PageReport): Promise<void>
  /** Prints the summary. @param leftOut How many URLs were left out because of nofollow. */
  end(isInterrupted: boolean, leftOut: number): Promise<void>
}

export function outputFor(format: string | undefined, timeline: CrawlTimeline, userAgent: string): CrawlOutput {
  const summary = new CrawlSummary(userAgent)
  if (format !== 'text') return new JsonOutput(summary)
  return process.stdout.isTTY ? new LiveOutput(timeline, summary) : new LineOutput(timeline, summary)
}

/** One JSON object for each page on stdout, and the summary on stderr. */
class JsonOutput implements CrawlOutput {
  readonly #summary: CrawlSummary

  constructor(summary: CrawlSummary) {
    this.#summary = summary
  }

  async page(report: PageReport): Promise<void> {
    this.#summary.add(report)
    await write(jsonLine({ version: 1, ...report }))
  }

  async end(isInterrupted: boolean, leftOut: number): Promise<void> {
    process.stderr.write(this.#summary.text(isInterrupted, leftOut))
  }
}

class LineOutput implements CrawlOutput {
  readonly #summary: CrawlSummary
  readonly #timeline: CrawlTimeline

  constructor(timeline: CrawlTimeline, summary: CrawlSummary) {
    this.#timeline = timeline
    this.#summary = summary
  }

  async page(report: PageReport): Promise<void> {
    this.#summary.add(report)
    await write(lineOf(report))
  }

  async end(isInterrupted: boolean, leftOut: number): Promise<void> {
    await write(`\n${this.#timeline.text({ columns: 100 })}\n${this.#summary.text(isInterrupted, leftOut)}`)
  }
}

const REDRAW_MS = 200

/** Draws the timeline again and again in the same lines of a terminal. */
class LiveOutput implements CrawlOutput {
  readonly #summary: CrawlSummary
  readonly #timeline: CrawlTimeline
  readonly #timer: NodeJS.Timeout
  #last: PageReport | undefined
  #drawnLines = 0

  constructor(timeline: CrawlTimeline, summary: CrawlSummary) {
    this.#timeline = timeline
    this.#summary = summary
    this.#timer = setInterval(() => process.stdout.write(this.#frame()), REDRAW_MS)
  }

  async page(report: PageReport): Promise<void> {
    this.#summary.add(report)
    this.#last = report
  }

  async end(isInterrupted: boolean, leftOut: number): Promise<void> {
    clearInterval(this.#timer)
    await write(`${this.#erase()}${this.#drawing()}\n${this.#summary.text(isInterrupted, leftOut)}`)
  }

  #frame(): string {
    const last = this.#last === undefined ? '' : cut(lineOf(this.#last, false), columns())
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
