// CrawlTimeline: records the messages of gates, and draws when each origin was requested, what
// waited, and which responses asked for fewer requests.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { OptionError } from '@politely/core'
import { defaultPushbackStatuses, isOfClass } from '@politely/core/internal'
import { assertOptions, integer } from '@politely/fetcher/internal'
import type {
  CircuitMessage,
  DoneMessage,
  PoliteGate,
  RefuseMessage,
  ReportingGate,
  StartMessage,
} from '@politely/gate'
import { assertGate } from '@politely/gate/internal'
import type { TimelineMark, TimelineRow } from './row.ts'
import { timelineSvg } from './svg.ts'
import { timelineText } from './text.ts'

/** Options of a `CrawlTimeline`. */
export interface CrawlTimelineOptions {
  /** The gate to record. Default: all gates of this process. */
  readonly gate?: PoliteGate | undefined
  /** How many marks are kept; later ones are dropped. Default 100,000. */
  readonly maxMarks?: number | undefined
}

/** Options of `CrawlTimeline.text`. */
export interface TimelineTextOptions {
  /** The maximum line width, in characters, from 40. Default 80. */
  readonly columns?: number | undefined
  /** How many origins are shown: those with the most requests. Default 40. */
  readonly maxRows?: number | undefined
}

/** Options of `CrawlTimeline.svg`. */
export interface TimelineSvgOptions {
  /** The width of the image, in pixels, from 300. Default 960. */
  readonly width?: number | undefined
  /** How many origins are shown: those with the most requests. Default 100. */
  readonly maxRows?: number | undefined
}

/**
 * Records when each origin was requested, how long requests waited, which were refused or got a
 * response with status 429, 430, 503 or 529, and when the circuit of an origin was open. It listens
 * to the diagnostics channels of one gate, or of all gates of the process, from its construction
 * until `stop`. `text` and `svg` draw the recording.
 */
export class CrawlTimeline implements Disposable {
  readonly #gate: PoliteGate | undefined
  readonly #maxMarks: number
  readonly #rows = new Map<string, TimelineMark[]>()
  readonly #listeners: readonly (readonly [name: string, listener: (message: unknown) => void])[]
  /** The time of the first mark. */
  #firstAt: number | undefined
  #markCount = 0
  #dropped = 0

  /**
   * Starts recording. Call `stop` to end it.
   * @throws {OptionError} for an invalid or unknown option.
   */
  constructor(options: CrawlTimelineOptions = {}) {
    if (isOfClass('PoliteGate', options))
      throw new OptionError('options', 'a PoliteGate was given instead of options; write new CrawlTimeline({ gate })')
    assertOptions(options, '{ gate }', { gate: true, maxMarks: true })
    const { gate, maxMarks = 100_000 } = options
    if (gate !== undefined) assertGate(gate)
    this.#gate = gate
    this.#maxMarks = integer('maxMarks', maxMarks, { min: 1 })
    this.#listeners = [
      ['politely:gate:start', (message) => this.#started(message as StartMessage)],
      ['politely:gate:done', (message) => this.#done(message as DoneMessage)],
      ['politely:gate:circuit', (message) => this.#changed(message as CircuitMessage)],
      ['politely:gate:refuse', (message) => this.#refused(message as RefuseMessage)],
    ]
    for (const [name, listener] of this.#listeners) subscribe(name, listener)
  }

  /** Stops recording. The recorded marks can still be drawn. */
  stop(): void {
    for (const [name, listener] of this.#listeners) unsubscribe(name, listener)
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  /** How many marks were dropped because of `maxMarks`. */
  get dropped(): number {
    return this.#dropped
  }

  /** The recorded marks by origin, in the order of each origin's first mark. */
  rows(): readonly TimelineRow[] {
    return Array.from(this.#rows, ([origin, marks]) => ({ origin, marks: [...marks] }))
  }

  /** Draws the timeline as text. @throws {OptionError} for an invalid or unknown option. */
  text(options: TimelineTextOptions = {}): string {
    assertOptions(options, '{ columns: 80 }', { columns: true, maxRows: true })
    const { columns = 80, maxRows = 40 } = options
    return timelineText(this.rows(), integer('columns', columns, { min: 40 }), integer('maxRows', maxRows, { min: 1 }))
  }

  /**
   * Draws the timeline as an SVG image, without references to other files. @throws {OptionError}
   * for an invalid or unknown option.
   */
  svg(options: TimelineSvgOptions = {}): string {
    assertOptions(options, '{ width: 960 }', { width: true, maxRows: true })
    const { width = 960, maxRows = 100 } = options
    return timelineSvg(this.rows(), integer('width', width, { min: 300 }), integer('maxRows', maxRows, { min: 1 }))
  }

  #started({ gate, at, origin, waitedMs, waitedLevel }: StartMessage): void {
    if (this.#records(gate)) this.#add(origin, at, (since) => ({ kind: 'start', at: since, waitedMs, waitedLevel }))
  }

  #done({ gate, at, origin, status }: DoneMessage): void {
    if (!this.#records(gate) || status === undefined || !defaultPushbackStatuses.includes(status)) return
    this.#add(origin, at, (since) => ({ kind: 'pushback', at: since, status }))
  }

  #changed({ gate, at, origin, state, waitMs }: CircuitMessage): void {
    if (!this.#records(gate) || state !== 'open') return
    this.#add(origin, at, (since) => ({ kind: 'rest', at: since, forMs: waitMs }))
  }

  #refused({ gate, at, verdict }: RefuseMessage): void {
    if (!this.#records(gate) || verdict.because === 'invalid-url') return
    this.#add(verdict.origin, at, (since) => ({ kind: 'refuse', at: since }))
  }

  #records(gate: ReportingGate): boolean {
    return this.#gate === undefined || this.#gate === gate
  }

  #add(origin: string, at: number, mark: (since: number) => TimelineMark): void {
    if (this.#markCount >= this.#maxMarks) {
      this.#dropped++
      return
    }
    this.#markCount++
    this.#firstAt ??= at
    const marks = this.#rows.get(origin) ?? []
    marks.push(mark(at - this.#firstAt))
    this.#rows.set(origin, marks)
  }
}
