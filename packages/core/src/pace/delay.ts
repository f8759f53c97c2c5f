// The delay between the starts of two requests, and what it comes from.
import { DAY_MS, type DayRange, MAX_TIMED_RECORDS, type RequestRate } from '../timed-records.ts'
import { isWithin, nextMinute } from './hours.ts'

/**
 * The delays, rates and visit times that the caller and the site ask for. What the site asks for
 * has the names of `CrawlerRules`.
 */
export interface PaceLimits {
  /** The shortest delay that the caller wants. Milliseconds. */
  readonly ownDelayMs: number
  /**
   * The longest delay that the caller accepts from Crawl-delay and Request-rate; undefined for no
   * limit. It shortens neither Visit-time nor Retry-After. Milliseconds.
   */
  readonly maxDelayMs: number | undefined
  /** The site's Crawl-delay. Milliseconds. */
  readonly crawlDelayMs: number | undefined
  /**
   * The site's Request-rates. Each applies always or in its hours. Requests are spread evenly over
   * the period: `5/10` is a delay of two seconds. Our choice. Default: none.
   */
  readonly requestRates?: readonly RequestRate[] | undefined
  /** The site's Visit-times. Requests may start in any of these hours. Default: at any time. */
  readonly visitTimes?: readonly DayRange[] | undefined
  /** Where the delay begins: at the start of a request or at its end. Default: `start`. */
  readonly pauseFrom?: 'start' | 'end' | undefined
  /**
   * The delay is at least this many times what the request took, but at most `maxDelayMs`, or 30
   * seconds if that is undefined. Default 0.
   */
  readonly delayFactor?: number | undefined
}

/**
 * The longest delay that `delayFactor` causes if the caller sets no `maxDelayMs`, in milliseconds.
 * Heritrix has the same default (max-delay).
 */
export const MAX_SLOW_DELAY_MS = 30_000

/** The delay after a request, and its reason. */
export interface Delay {
  /**
   * The time from the start of the request, or from its end (`pauseFrom`), to the start of the next
   * one. Milliseconds.
   */
  readonly delayMs: number
  /**
   * What the delay comes from. `cap`: the site asks for more than `maxDelayMs`. `slow-site`:
   * `delayFactor`.
   */
  readonly because: 'own-delay' | 'crawl-delay' | 'request-rate' | 'cap' | 'slow-site'
}

/**
 * Returns the delay that begins at `from`, in milliseconds since 1970: the larger of what the
 * caller and the site ask for. Only `maxDelayMs` makes it shorter than the site asks.
 * @param tookMs How long the request took, if that is known. Milliseconds.
 */
export function delayOf(limits: PaceLimits, from: number, tookMs = 0): Delay {
  const { crawlDelayMs = 0, requestRates } = limits
  let delay = boundDelay(limits, crawlDelayMs, 'crawl-delay')
  if (requestRates !== undefined && requestRates.length > 0) delay = applyRates(limits, requestRates, delay, from)
  const slowMs = slowDelayMs(limits, tookMs)
  return slowMs > delay.delayMs ? { delayMs: slowMs, because: 'slow-site' } : delay
}

/** Returns the delay that `delayFactor` causes: Mercator's rule, and Heritrix's delay-factor. */
function slowDelayMs({ delayFactor = 0, maxDelayMs = MAX_SLOW_DELAY_MS }: PaceLimits, tookMs: number): number {
  return Math.min(delayFactor * tookMs, maxDelayMs)
}

/** Returns the site's delay, raised to `ownDelayMs` and limited by `maxDelayMs`. */
function boundDelay(
  { ownDelayMs, maxDelayMs }: PaceLimits,
  siteMs: number,
  because: 'crawl-delay' | 'request-rate',
): Delay {
  if (siteMs <= ownDelayMs) return { delayMs: ownDelayMs, because: 'own-delay' }
  if (maxDelayMs === undefined || siteMs <= maxDelayMs) return { delayMs: siteMs, because }
  return { delayMs: Math.max(maxDelayMs, ownDelayMs), because: 'cap' }
}

/**
 * Returns `base` extended by the rates. A rate with hours applies only in them, so a delay that it
 * causes ends when they do.
 */
function applyRates(limits: PaceLimits, rates: readonly RequestRate[], base: Delay, startsAt: number): Delay {
  let delay = base
  const timed: { readonly hours: DayRange; readonly rateDelay: Delay }[] = []
  for (const { requests, periodMs, between: hours } of rates) {
    const rateDelay = boundDelay(limits, periodMs / requests, 'request-rate')
    if (hours === undefined) {
      if (rateDelay.delayMs > delay.delayMs) delay = rateDelay
    } else if (timed.length < MAX_TIMED_RECORDS) timed.push({ hours, rateDelay })
  }
  // Moves `at` forward to the end of the hours that apply then, until no rate with a longer delay
  // applies. If such rates have applied for a whole day, the next day would bring nothing new: they
  // apply until the shortest of their delays is over.
  let at = startsAt + delay.delayMs
  let longerCount = timed.length
  let dayEnds = at + DAY_MS
  for (;;) {
    const longer = timed.filter(({ rateDelay }) => startsAt + rateDelay.delayMs > at)
    if (longer.length < longerCount) dayEnds = at + DAY_MS
    longerCount = longer.length
    const active = longer.filter(({ hours }) => isWithin(hours, at))
    if (active.length === 0) return delay
    const ends = active.map(({ hours, rateDelay }) => Math.min(startsAt + rateDelay.delayMs, nextMinute(hours.to, at)))
    let next = Math.max(...ends)
    let { because } = (active[ends.indexOf(next)] as (typeof active)[number]).rateDelay
    if (next > dayEnds) {
      const shortest = longer.reduce((one, other) =>
        one.rateDelay.delayMs <= other.rateDelay.delayMs ? one : other,
      ).rateDelay
      next = Math.max(next, startsAt + shortest.delayMs)
      because = shortest.because
    }
    delay = { delayMs: next - startsAt, because }
    at = next
  }
}
