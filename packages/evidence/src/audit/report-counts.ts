// The counts of a report that need more than adding up: gaps between requests, and bars over time.
// The memory of each object is bounded, however many values it gets.

/** How many values a `Spread` keeps at most. */
const MAX_VALUES = 64

/** The shortest and the median of many values. */
class Spread {
  count = 0
  shortest: number = Number.POSITIVE_INFINITY
  /** Every value, later every second, fourth and so on. */
  #values: number[] = []
  #step = 1

  add(value: number): void {
    this.shortest = Math.min(this.shortest, value)
    if (++this.count % this.#step > 0) return
    if (this.#values.push(value) < MAX_VALUES) return
    this.#values = this.#values.filter((_, n) => n % 2 === 1)
    this.#step *= 2
  }

  /** Exact for fewer than 64 values. */
  get median(): number {
    return this.#values.toSorted((a, b) => a - b)[(this.#values.length - 1) >> 1] as number
  }
}

/** The gaps between the starts of the requests to one site, and the delay that it asks for. */
export interface Gaps {
  readonly count: number
  readonly shortestMs: number
  /** Of a sample of the gaps: exact for fewer than 64, otherwise approximate. */
  readonly medianMs: number
  /**
   * Requests without a gap. Their results came after those of 32 later requests, or another process
   * of the crawl requested the site at the same time.
   */
  readonly late: number
  /** The last delay by Crawl-delay or Request-rate. Milliseconds, 0 for none at any time. */
  readonly delayMs: number
  /** How many gaps had a delay. */
  readonly delayed: number
  /** Gaps that were more than 1 ms shorter than the delay: times are whole milliseconds. */
  readonly shorter: number
  /** The part of `shorter` for which the crawler's option `maxDelayMs` limited the delay. */
  readonly capped: number
  /** By how much a gap was shorter at most. Milliseconds, 0 for none. */
  readonly mostMs: number
  /** The gaps as parts of the delay, 1 for a gap as long as it. Absent without a delay. */
  readonly shortestRatio?: number
  readonly medianRatio?: number
}

/** The start of a request. */
interface Start {
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
  readonly #gaps = new Spread()
  readonly #ratios = new Spread()
  readonly #counts = { late: 0, delayMs: 0, shorter: 0, capped: 0, mostMs: 0 }

  add(start: Start): void {
    if (start.at < (this.#last?.at ?? start.at)) this.#counts.late++
    else this.#window.splice(this.#window.findLastIndex(({ at }) => at <= start.at) + 1, 0, start)
    if (this.#window.length > WINDOW) this.#advance()
  }

  /** Returns undefined for fewer than two requests. */
  result(): Gaps | undefined {
    while (this.#window.length > 0) this.#advance()
    const { count, shortest: shortestMs, median: medianMs } = this.#gaps
    const { count: delayed, shortest: shortestRatio, median: medianRatio } = this.#ratios
    const ratios = delayed > 0 && { shortestRatio, medianRatio }
    return count === 0 ? undefined : { count, shortestMs, medianMs, ...this.#counts, delayed, ...ratios }
  }

  #advance(): void {
    const [last, next] = [this.#last, this.#window.shift() as Start]
    this.#last = next
    if (last === undefined) return
    const gapMs = next.at - last.at
    this.#gaps.add(gapMs)
    // If the file changed in between, the crawler knew the longer delay at one end only.
    const delayMs = Math.min(last.askedMs, next.askedMs)
    if (delayMs === 0) return
    this.#ratios.add(gapMs / delayMs)
    this.#counts.delayMs = delayMs
    if (gapMs >= delayMs - 1) return
    this.#counts.shorter++
    if (last.isCapped) this.#counts.capped++
    this.#counts.mostMs = Math.max(this.#counts.mostMs, delayMs - gapMs)
  }
}

/** Seconds. Each width is a multiple of the width before it. */
const WIDTHS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 31_449_600]
/** In memory, and in the result. */
const [MAX_BARS, MAX_SHOWN_BARS] = [1_000, 100]

/** Counts requests and refusals by time. The bars become wider as the period grows. */
export class TimelineCounter {
  #bars = new Map<number, { started: number; refused: number }>()
  #width = 0

  add(at: number, what: 'started' | 'refused', count = 1): void {
    const from = Math.floor(at / this.widthMs) * this.widthMs
    const bar = this.#bars.get(from) ?? { started: 0, refused: 0 }
    bar[what] += count
    if (this.#bars.set(from, bar).size > MAX_BARS) this.#widen()
  }

  get widthMs(): number {
    return (WIDTHS[this.#width] as number) * 1000
  }

  result(): { readonly time: string; readonly started: number; readonly refused: number }[] {
    const bars = [...this.#bars].sort(([a], [b]) => a - b)
    const spanMs = (bars.at(-1)?.[0] ?? 0) - (bars[0]?.[0] ?? 0)
    if (spanMs / this.widthMs < MAX_SHOWN_BARS || this.#width === WIDTHS.length - 1)
      return bars.map(([from, bar]) => ({ time: new Date(from).toISOString(), ...bar }))
    this.#widen()
    return this.result()
  }

  #widen(): void {
    const old = this.#bars
    this.#bars = new Map()
    this.#width++
    for (const [from, { started, refused }] of old) {
      this.add(from, 'started', started)
      this.add(from, 'refused', refused)
    }
  }
}
