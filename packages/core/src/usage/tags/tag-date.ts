// Parses the dates of `unavailable_after`.
//
// Google names RFC 822, RFC 850 and ISO 8601, "among others". Sites write all of them, and more.
import { similarDate } from '../../http/date.ts'

/** The time zones of RFC 822 other than UTC: hours from UTC, without daylight saving time. */
const ZONE_HOURS: Readonly<Record<string, number>> = { e: -5, c: -6, m: -7, p: -8 }

/**
 * Parses a date in a format of `similarDate`, also with a time zone of RFC 822 (`PST`), with a
 * comma after the day (`Dec 31, 2025`), as `20251231`, or as seconds since 1970. Returns
 * milliseconds since 1970, or undefined for an invalid date.
 *
 * @param now Milliseconds since 1970. A two-digit year is taken to be at most 50 years after it.
 */
export function tagDate(value: string, now: number): number | undefined {
  if (/^\d{9,11}$/.test(value)) return Number(value) * 1000
  const text = value
    .replace(/\[[^[\]]*\]$/, '') // the name of the zone after its offset, as in RFC 9557
    .replace(/^(\d{4}-\d{2}-\d{2})Z$/i, '$1')
    .replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3')
    .replace(/^([a-z]+ \d{1,2}),/i, '$1')
    .replace(/(:\d{2}[+-]\d{2})$/, '$100')
    .replace(/ ([ecmp])([sd])t$/i, (_, zone: string, kind: string) => {
      const hours = (ZONE_HOURS[zone.toLowerCase()] as number) + (kind.toLowerCase() === 'd' ? 1 : 0)
      return ` -0${-hours}00`
    })
  return similarDate(text, now)
}
