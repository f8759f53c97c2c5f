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
    return this.#dates > 0 && this.#score >= TRUSTED_FROM
  }

  get trust(): DateTrust {
    return {
      dates: this.#dates,
      equalShare: this.#equalShare,
      futureShare: this.#futureShare,
      fetchTimeShare: this.#fetchTimeShare,
      score: this.#dates === 0 ? 0 : this.#score,
      isTrusted: this.isTrusted,
    }
  }

  get #equalShare(): number {
    return this.#dates > 1 ? (this.#most - 1) / (this.#dates - 1) : 0
  }

  get #futureShare(): number {
    return this.#dates > 0 ? this.#future / this.#dates : 0
  }

  get #fetchTimeShare(): number {
    return this.#dates > 1 ? this.#fetchTime / this.#dates : 0
  }

  get #score(): number {
    return 1 - Math.max(this.#equalShare, this.#futureShare, this.#fetchTimeShare)
  }
}
