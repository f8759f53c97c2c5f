// Parts of the UTC day, as Visit-time and Request-rate give them, and when they begin and end.
import { DAY_MINUTES, DAY_MS, type DayRange } from '../timed-records.ts'

const MINUTE_MS = 60_000

/** Returns whether a time, in milliseconds since 1970, lies in these hours. */
export function isWithin({ from, to }: DayRange, at: number): boolean {
  const minute = Math.floor(at / MINUTE_MS) % DAY_MINUTES
  return from < to ? minute >= from && minute < to : minute >= from || minute < to
}

/**
 * Returns the next time after `at` at which this minute of the day begins. Milliseconds since 1970.
 */
export function nextMinute(minute: number, at: number): number {
  const today = Math.floor(at / DAY_MS) * DAY_MS + (minute % DAY_MINUTES) * MINUTE_MS
  return today > at ? today : today + DAY_MS
}

/**
 * Returns the first time from `at` on that lies in any of the visit times, or `at` if the site has
 * none. Milliseconds since 1970.
 */
export function nextVisitTimeAt(visitTimes: readonly DayRange[], at: number): number {
  let opens = Number.POSITIVE_INFINITY
  for (const hours of visitTimes) {
    if (isWithin(hours, at)) return at
    opens = Math.min(opens, nextMinute(hours.from, at))
  }
  return visitTimes.length === 0 ? at : opens
}
