// Parses the HTTP-date format, RFC 9110 §5.6.7, and other formats that servers send in its place.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const IMF_FIXDATE = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const RFC_850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i

const YEAR_FIRST = /^(\d{4})-(\d{2})-(\d{2})$/
const YEAR_LAST = /^(?:[a-z]+,? )?(?:(\d{1,2})[ -]([a-z]{3})[a-z]*|([a-z]{3})[a-z]* (\d{1,2}))[ -](\d{4}|\d{2})$/i
const TIME_AND_ZONE =
  /[t ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)? ?(?:gmt|utc?|z)? ?(?:([+-]\d{2}):?(\d{2}))?(?: utc)?(?: \([^()]*\))?$/i

/**
 * Parses an HTTP-date in any of its three formats. Returns milliseconds since 1970, or undefined
 * for an invalid date.
 *
 * @param now Milliseconds since 1970. A two-digit year is taken to be at most 50 years after it.
 */
export function httpDate(value: string, now: number): number | undefined {
  const text = value.trim()
  const fixdate = IMF_FIXDATE.exec(text)
  if (fixdate !== null) return utc(Number(fixdate[3]), fixdate[2], fixdate[1], fixdate.slice(4))
  const rfc850 = RFC_850.exec(text)
  if (rfc850 !== null) return utc(fullYear(Number(rfc850[3]), now), rfc850[2], rfc850[1], rfc850.slice(4))
  const asctime = ASCTIME.exec(text)
  if (asctime !== null) return utc(Number(asctime[6]), asctime[1], asctime[2], asctime.slice(3, 6))
  return undefined
}

/**
 * Parses an HTTP-date, or a similar date: ISO 8601, the format of JavaScript's `Date`, another time
 * zone, a missing day of the week. A date without a time zone is in UTC, and a date without a time
 * begins at midnight. Returns milliseconds since 1970, or undefined for an invalid date. Parts of a
 * millisecond are rounded up.
 *
 * @param now Milliseconds since 1970. A two-digit year is taken to be at most 50 years after it.
 */
export function similarDate(value: string, now: number): number | undefined {
  const text = value.trim()
  const [match = '', hours = '0', minutes = '0', seconds = '0', fraction = '', zoneHours = '', zoneMinutes = ''] =
    TIME_AND_ZONE.exec(text) ?? []
  const at = similarUtc(text.slice(0, text.length - match.length), [hours, minutes, seconds], now)
  if (at === undefined) return httpDate(text, now) // asctime, whose year comes after the time
  const offsetMinutes = Number(zoneHours) * 60 + Number(`${zoneHours.slice(0, 1)}${zoneMinutes}`)
  return at + Math.ceil(Number(fraction) * 1000) - offsetMinutes * 60_000
}

/** Returns the time of a date as if its zone were UTC. */
function similarUtc(date: string, time: readonly string[], now: number): number | undefined {
  const [, firstYear, monthNumber, dayOfMonth] = YEAR_FIRST.exec(date) ?? []
  if (firstYear !== undefined) return utc(Number(firstYear), MONTHS[Number(monthNumber) - 1], dayOfMonth, time)
  const [, day, month, monthBefore, dayAfter, text = ''] = YEAR_LAST.exec(date) ?? []
  const year = text.length === 2 ? fullYear(Number(text), now) : Number(text)
  return utc(year, month ?? monthBefore, day ?? dayAfter, time)
}

function utc(year: number, monthName = '', dayText = '', time: readonly string[]): number | undefined {
  const month = MONTHS.indexOf(monthName.toLowerCase())
  const day = Number(dayText)
  const [hours = 0, minutes = 0, seconds = 0] = time.map(Number)
  if (month === -1 || hours > 23 || minutes > 59 || seconds > 60) return undefined
  const at = Date.UTC(year, month, day, hours, minutes, Math.min(seconds, 59)) // JavaScript has no leap seconds, so second 60 becomes 59
  return new Date(at).getUTCDate() === day ? at : undefined // JavaScript turns 31 June into 1 July
}

function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + twoDigits
  return year > thisYear + 50 ? year - 100 : year
}
