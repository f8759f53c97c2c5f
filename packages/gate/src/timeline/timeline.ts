// A crawl as it went, from what gates tell: which origin was asked when, who waited, who was pushed back. Pacing is better seen than read.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isPushback } from '@politely/core'
import { integer } from '@politely/fetcher/option-checks'
import type { DoneMessage, RefuseMessage, StartMessage } from '../events.ts'
import type { PoliteGate } from '../gate.ts'
import { timelineSvg } from './svg.ts'
import { timelineText } from './text.ts'

export interface CrawlTimelineOptions {
  /** Whose crawl. Default: that of all gates of this process. */
  readonly gate?: PoliteGate
  /** So many marks are kept, the first ones. Default 100,000. */
  readonly maxMarks?: number
}

export interface TimelineTextOptions {
  /** How wide a line may be. Default 80. */
  readonly columns?: number
  /** So many origins at most, those with the most requests. Default 40. */
  readonly maxRows?: number
}

export interface TimelineSvgOptions {
  /** Pixels. Default 960. */
  readonly width?: number
  /** So many origins at most, those with the most requests. Default 100. */
  readonly maxRows?: number
}

/** What is told of one origin. Times are milliseconds since the first mark of the timeline. JSON-safe. */
export interface TimelineRow {
  readonly origin: string
  readonly marks: readonly TimelineMark[]
}

export type TimelineMark =
  /** A request left, after it had waited so long. */
  | { readonly kind: 'start'; readonly at: number; readonly waitedMs: number }
  /** An answer asked for a pause: 429 or 503. */
  | { readonly kind: 'pushback'; readonly at: number; readonly status: number }
  /** robots.txt refused a request. */
  | { readonly kind: 'refuse'; readonly at: number }

export class CrawlTimeline implements Disposable {
  readonly #gate: PoliteGate | undefined
  readonly #maxMarks: number
  readonly #rows = new Map<string, TimelineMark[]>()
  readonly #listeners: readonly (readonly [name: string, listener: (message: unknown) => void])[]
  #start: number | undefined
  #marks = 0
  #dropped = 0

  /**
   * Listens from now on, until `stop`.
   * @throws {OptionError} for an option that cannot be used.
   */
  constructor({ gate, maxMarks = 100_000 }: CrawlTimelineOptions = {}) {
    this.#gate = gate
    this.#maxMarks = integer('maxMarks', maxMarks, { min: 1 })
    this.#listeners = [
      ['politely:gate:start', (message) => this.#started(message as StartMessage)],
      ['politely:gate:done', (message) => this.#done(message as DoneMessage)],
      ['politely:gate:refuse', (message) => this.#refused(message as RefuseMessage)],
    ]
    for (const [name, listener] of this.#listeners) subscribe(name, listener)
  }

  /** Listens no more; what was heard can still be shown. */
  stop(): void {
    for (const [name, listener] of this.#listeners) unsubscribe(name, listener)
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  /** Marks that came when there were `maxMarks` already. */
  get dropped(): number {
    return this.#dropped
  }

  /** By origin, in the order in which they were first heard of. */
  rows(): readonly TimelineRow[] {
    return Array.from(this.#rows, ([origin, marks]) => ({ origin, marks: [...marks] }))
  }

  /** The timeline in characters. */
  text({ columns = 80, maxRows = 40 }: TimelineTextOptions = {}): string {
    return timelineText(this.rows(), integer('columns', columns, { min: 40 }), integer('maxRows', maxRows, { min: 1 }))
  }

  /** The timeline as a picture that stands for itself. */
  svg({ width = 960, maxRows = 100 }: TimelineSvgOptions = {}): string {
    return timelineSvg(this.rows(), integer('width', width, { min: 300 }), integer('maxRows', maxRows, { min: 1 }))
  }

  #started({ gate, at, origin, waitedMs }: StartMessage): void {
    if (this.#isOurs(gate)) this.#mark(origin, at, (since) => ({ kind: 'start', at: since, waitedMs }))
  }

  #done({ gate, at, origin, status }: DoneMessage): void {
    if (!this.#isOurs(gate) || status === undefined || !isPushback({ status })) return
    this.#mark(origin, at, (since) => ({ kind: 'pushback', at: since, status }))
  }

  #refused({ gate, at, verdict }: RefuseMessage): void {
    if (!this.#isOurs(gate) || verdict.because === 'invalid-url') return
    this.#mark(verdict.origin, at, (since) => ({ kind: 'refuse', at: since }))
  }

  #isOurs(gate: PoliteGate): boolean {
    return this.#gate === undefined || this.#gate === gate
  }

  #mark(origin: string, at: number, mark: (since: number) => TimelineMark): void {
    if (this.#marks >= this.#maxMarks) {
      this.#dropped++
      return
    }
    this.#marks++
    this.#start ??= at
    const marks = this.#rows.get(origin) ?? []
    marks.push(mark(at - this.#start))
    this.#rows.set(origin, marks)
  }
}
