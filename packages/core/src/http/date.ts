// Parses the HTTP-date format. RFC 9110 §5.6.7.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const IMF_FIXDATE = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const RFC_850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i

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
