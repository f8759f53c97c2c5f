// The counts of a report that need more than adding up: gaps between requests, and bars over time.
// The memory of each object is bounded, however many values it gets.

/** How many values a `Sample` keeps at most. */
const MAX_VALUES = 64

/** Keeps every value, then every second, fourth and so on: enough for an approximate median. */
class Sample {
  #values: number[] = []
  #step = 1
  #skipped = 0

  add(value: number): void {
    if (++this.#skipped < this.#step) return
    this.#skipped = 0
    this.#values.push(value)
    if (this.#values.length < MAX_VALUES) return
    this.#values = this.#values.filter((_, n) => n % 2 === 1)
    this.#step *= 2
  }

  /** Exact for fewer than 64 values. */
  get median(): number {
    return this.#values.toSorted((a, b) => a - b)[(this.#values.length - 1) >> 1] ?? Number.NaN
  }
}

/** The gaps between the starts of the requests to one site. Times are in milliseconds. */
export interface Gaps {
  readonly count: number
  readonly shortestMs: number
  /** Of a sample of the gaps: exact for fewer than 64, otherwise approximate. */
  readonly medianMs: number
  /** Requests whose gaps are unknown: their results came after those of 32 later requests. */
  readonly late: number
  /** The gaps during which the site asked for a delay. Absent for none. */
  readonly asked?: AskedGaps
}

/** The gaps during which a site asked for a delay by Crawl-delay or Request-rate. */
export interface AskedGaps {
  readonly count: number
  /** The last delay. Milliseconds. */
  readonly delayMs: number
  /** Gaps that were more than 1 ms shorter than the delay. Times are whole milliseconds. */
  readonly shorter: number
  /** The part of `shorter` for which the crawler's option `maxDelayMs` limited the delay. */
  readonly capped: number
  /** By how much a gap was shorter at most. Milliseconds, 0 for none. */
  readonly mostMs: number
  /** The shortest and the median gap as parts of the delay; 1 is the delay itself. */
  readonly shortestRatio: number
  readonly medianRatio: number
}

/** The start of a request. */
export interface Start {
  readonly at: number
  /** The delay that the site asks for from this start on. Milliseconds, 0 for none. */
  readonly askedMs: number
  readonly isCapped: boolean
}

/** How many starts may wait for earlier ones: results come in the order in which requests end. */
const WINDOW = 32

/** Measures the gaps of one site. */
export class GapCounter {
  readonly #window: Start[] = []
  #last: Start | undefined
  readonly #gaps = { count: 0, shortestMs: Number.POSITIVE_INFINITY, late: 0 }
  readonly #asked = { count: 0, delayMs: 0, shorter: 0, capped: 0, mostMs: 0, shortestRatio: Number.POSITIVE_INFINITY }
  readonly #sample = new Sample()
  #ratios: Sample | undefined

  add(start: Start): void {
    if (this.#last !== undefined && start.at < this.#last.at) {
      this.#gaps.late++
      return
    }
    this.#window.splice(this.#window.findLastIndex(({ at }) => at <= start.at) + 1, 0, start)
    if (this.#window.length > WINDOW) this.#advance()
  }

  /** Returns undefined for fewer than two requests. */
  result(): Gaps | undefined {
    while (this.#window.length > 0) this.#advance()
    if (this.#gaps.count === 0) return undefined
    const asked = this.#ratios && { asked: { ...this.#asked, medianRatio: this.#ratios.median } }
    return { ...this.#gaps, medianMs: this.#sample.median, ...asked }
  }

  #advance(): void {
    const [last, next] = [this.#last, this.#window.shift() as Start]
    this.#last = next
    if (last === undefined) return
    const gapMs = next.at - last.at
    this.#gaps.count++
    this.#gaps.shortestMs = Math.min(this.#gaps.shortestMs, gapMs)
    this.#sample.add(gapMs)
    // If the file changed in between, the crawler could not know the longer delay at both ends.
    const askedMs = Math.min(last.askedMs, next.askedMs)
    if (askedMs === 0) return
    const asked = this.#asked
    asked.count++
    asked.delayMs = askedMs
    asked.shortestRatio = Math.min(asked.shortestRatio, gapMs / askedMs)
    this.#ratios ??= new Sample()
    this.#ratios.add(gapMs / askedMs)
    if (gapMs >= askedMs - 1) return
    asked.shorter++
    if (last.isCapped) asked.capped++
    asked.mostMs = Math.max(asked.mostMs, askedMs - gapMs)
  }
}

/** What happened in one part of the period. */
export interface TimelineBar {
  /** When the part begins, in ISO 8601. */
  readonly time: string
  readonly started: number
  readonly refused: number
}

const MAX_BARS = 100

/** Seconds. Each width is a multiple of the width before it. */
const WIDTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400]

/** Counts requests and refusals by time. The bars become wider as the period grows. */
export class TimelineCounter {
  #bars = new Map<number, { started: number; refused: number }>()
  #width = 0
  #first = Number.POSITIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY

  /** The width of a bar. Milliseconds. */
  get widthMs(): number {
    return (WIDTHS[this.#width] ?? 86_400 * 2 ** (this.#width - WIDTHS.length + 1)) * 1000
  }

  add(at: number, what: 'started' | 'refused', count = 1): void {
    this.#first = Math.min(this.#first, at)
    this.#last = Math.max(this.#last, at)
    while ((this.#last - this.#first) / this.widthMs > MAX_BARS) this.#widen()
    const from = Math.floor(at / this.widthMs) * this.widthMs
    const bar = this.#bars.get(from) ?? { started: 0, refused: 0 }
    bar[what] += count
    this.#bars.set(from, bar)
  }

  /** The bars with a request or a refusal, in their order. */
  result(): readonly TimelineBar[] {
    const bars = [...this.#bars].sort(([a], [b]) => a - b)
    return bars.map(([from, bar]) => ({ time: new Date(from).toISOString(), ...bar }))
  }

  #widen(): void {
    this.#width++
    const old = this.#bars
    this.#bars = new Map()
    for (const [from, { started, refused }] of old) {
      this.add(from, 'started', started)
      this.add(from, 'refused', refused)
    }
  }
}
