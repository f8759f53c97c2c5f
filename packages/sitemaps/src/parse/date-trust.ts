// Says how far the dates of a file can be trusted. Many sites write the time of the request, or one
// date for all pages.

/**
 * The dates of a file. A share is a number from 0 to 1.
 * @inline
 */
export interface DateTrust {
  /** The number of entries with a date that could be read. */
  readonly dates: number
  /** The share of dates that are equal to the most frequent one. 0 if there is one date only. */
  readonly equalShare: number
  /** The share of dates that are later than the fetch, by more than a day. */
  readonly futureShare: number
  /** The share of dates that are within two minutes of the fetch. 0 if there is one date only. */
  readonly fetchTimeShare: number
  /** 1 minus the largest of the three shares. 0 without dates. */
  readonly score: number
  /** Whether `since` skips by these dates: the score is at least 0.5. */
  readonly isTrusted: boolean
}

const DAY_MS = 86_400_000
const FETCH_TIME_MS = 120_000
const TRUSTED_FROM = 0.5
/** Other dates are not counted for `equalShare`; a date that most entries have comes early. */
const MAX_DISTINCT = 1_000

/** Counts the dates of a file. Takes bounded memory. */
export class DateCounter {
  readonly #fetchedAt: number
  readonly #counts = new Map<number, number>()
  #dates = 0
  #most = 0
  #future = 0
  #fetchTime = 0

  constructor(fetchedAt: number) {
    this.#fetchedAt = fetchedAt
  }

  add(ms: number): void {
    this.#dates++
    const before = this.#counts.get(ms)
    if (before !== undefined || this.#counts.size < MAX_DISTINCT) {
      const count = (before ?? 0) + 1
      this.#counts.set(ms, count)
      if (count > this.#most) this.#most = count
    }
    const age = this.#fetchedAt - ms
    if (age < -DAY_MS) this.#future++
    else if (Math.abs(age) < FETCH_TIME_MS) this.#fetchTime++
  }

  get isTrusted(): boolean {
    return this.trust.isTrusted
  }

  get trust(): DateTrust {
    const dates = this.#dates
    const equalShare = dates > 1 ? (this.#most - 1) / (dates - 1) : 0
    const futureShare = dates > 0 ? this.#future / dates : 0
    const fetchTimeShare = dates > 1 ? this.#fetchTime / dates : 0
    const score = dates > 0 ? 1 - Math.max(equalShare, futureShare, fetchTimeShare) : 0
    return { dates, equalShare, futureShare, fetchTimeShare, score, isTrusted: score >= TRUSTED_FROM }
  }
}
