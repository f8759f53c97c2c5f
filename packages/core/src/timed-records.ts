// Request-rate and Visit-time, whose values depend on the time of day.

/**
 * A part of the UTC day: minutes since midnight, `from` inclusive and `to` exclusive. If `to` is
 * smaller than `from`, the range crosses midnight. `to` may be 1440, the end of the day.
 */
export interface DayRange {
  readonly from: number
  readonly to: number
}

export const DAY_MINUTES: number = 24 * 60
export const DAY_MS: number = DAY_MINUTES * 60_000

/** A limit on requests in a period. JSON-safe. */
export interface RequestRate {
  /** At most this many requests in any `periodMs`. */
  readonly requests: number
  /** The length of the period, in milliseconds. */
  readonly periodMs: number
  /** The part of the day in which the limit applies; undefined for always. */
  readonly between: DayRange | undefined
}

/**
 * How many request-rates, and how many visit-times, are kept for one crawler: one for each hour of
 * a day. Our choice.
 */
export const MAX_TIMED_RECORDS = 24
