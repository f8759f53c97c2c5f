// The pause between requests to one origin, and its source.
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { DAY_MS, type Hours, isWithin, nextMinute } from './hours.ts'

/** What the caller and the site want. What the site wants has the names and forms of `CrawlerRules`. */
export interface PaceLimits {
  /** The caller's own least pause. Milliseconds. */
  readonly ownDelayMs: number
  /** The longest pause the caller is ready to keep; undefined for none. It shortens no visit-time and no Retry-After. Milliseconds. */
  readonly maxDelayMs: number | undefined
  /** Milliseconds. */
  readonly crawlDelayMs: number | undefined
  /** Each holds, always or in its hours. Default: none. */
  readonly requestRates?: readonly Rate[] | undefined
  /** When visits are welcome: in any of these hours. Default: at any time. */
  readonly visitTimes?: readonly Hours[] | undefined
}

/** At most so many requests in any such period. They are spread over it: `5/10` is a pause of two seconds. Our choice. */
export interface Rate {
  readonly requests: number
  readonly periodMs: number
  /** When it holds; undefined for always. */
  readonly between: Hours | undefined
}

export interface Delay {
  readonly delayMs: number
  /** Who spoke. `cap`: the site asked for more than the caller is ready to keep. */
  readonly because: 'own-delay' | 'crawl-delay' | 'request-rate' | 'cap'
}

/**
 * The pause after a request that leaves at `leavesAt`, milliseconds since 1970: the larger of what the caller wants and what the site
 * asks for. It is less than the site asks only where a cap says so.
 */
export function delayOf(wishes: PaceLimits, leavesAt: number): Delay {
  const { crawlDelayMs = 0, requestRates } = wishes
  const delay = between(wishes, crawlDelayMs, 'crawl-delay')
  return requestRates === undefined || requestRates.length === 0
    ? delay
    : withRates(wishes, requestRates, delay, leavesAt)
}

/** The caller's own pause, or what the site asks for and no more than the cap. */
function between({ ownDelayMs, maxDelayMs }: PaceLimits, askedMs: number, by: 'crawl-delay' | 'request-rate'): Delay {
  if (askedMs <= ownDelayMs) return { delayMs: ownDelayMs, because: 'own-delay' }
  if (maxDelayMs === undefined || askedMs <= maxDelayMs) return { delayMs: askedMs, because: by }
  return { delayMs: Math.max(maxDelayMs, ownDelayMs), because: 'cap' }
}

/** A rate with hours does not hold outside them, so a pause by it ends when they do. */
function withRates(wishes: PaceLimits, rates: readonly Rate[], without: Delay, leavesAt: number): Delay {
  let delay = without
  const inHours: { readonly hours: Hours; readonly wanted: Delay }[] = []
  for (const { requests, periodMs, between: hours } of rates) {
    const wanted = between(wishes, periodMs / requests, 'request-rate')
    if (hours === undefined) {
      if (wanted.delayMs > delay.delayMs) delay = wanted
    } else if (inHours.length < MAX_TIMED_RECORDS) inHours.push({ hours, wanted })
  }
  // From one end of hours to the next, until no rate holds that asks for a longer pause. Where such rates have held for a whole day,
  // the next day says nothing new: they hold until the shortest of their pauses is over.
  let at = leavesAt + delay.delayMs
  let wanting = inHours.length
  let dayEnds = at + DAY_MS
  for (;;) {
    const longer = inHours.filter(({ wanted }) => leavesAt + wanted.delayMs > at)
    if (longer.length < wanting) dayEnds = at + DAY_MS
    wanting = longer.length
    const holding = longer.filter(({ hours }) => isWithin(hours, at))
    if (holding.length === 0) return delay
    const over = holding.map(({ hours, wanted }) => Math.min(leavesAt + wanted.delayMs, nextMinute(hours.to, at)))
    let next = Math.max(...over)
    let { because } = (holding[over.indexOf(next)] as (typeof holding)[number]).wanted
    if (next > dayEnds) {
      const shortest = longer.reduce((one, other) => (one.wanted.delayMs <= other.wanted.delayMs ? one : other)).wanted
      next = Math.max(next, leavesAt + shortest.delayMs)
      because = shortest.because
    }
    delay = { delayMs: next - leavesAt, because }
    at = next
  }
}
