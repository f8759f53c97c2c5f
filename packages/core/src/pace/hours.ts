// Parts of the UTC day, as visit-time and request-rate name them, and the moments at which they begin and end.

/**
 * Minutes of the UTC day: from minute `from` on, and until just before minute `to`; over midnight, where `to` is the smaller one. The
 * shape in which `CrawlerRules` gives them.
 */
export interface Hours {
  readonly from: number
  readonly to: number
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
export const DAY_MS: number = DAY_MINUTES * MINUTE_MS

export function isWithin({ from, to }: Hours, at: number): boolean {
  const minute = Math.floor(at / MINUTE_MS) % DAY_MINUTES
  return from < to ? minute >= from && minute < to : minute >= from || minute < to
}

/** The next moment after `at` at which this minute of the day begins. */
export function nextMinute(minute: number, at: number): number {
  const today = Math.floor(at / DAY_MS) * DAY_MS + (minute % DAY_MINUTES) * MINUTE_MS
  return today > at ? today : today + DAY_MS
}

/** The first moment from `at` on at which a site wants visits: in any of its hours; `at` itself, where it names none. */
export function opensAt(visitTimes: readonly Hours[], at: number): number {
  let opens = Number.POSITIVE_INFINITY
  for (const hours of visitTimes) {
    if (isWithin(hours, at)) return at
    opens = Math.min(opens, nextMinute(hours.from, at))
  }
  return visitTimes.length === 0 ? at : opens
}
