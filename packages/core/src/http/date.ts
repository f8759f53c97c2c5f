// Parses the HTTP-date format, RFC 9110 §5.6.7, and other formats that servers send in its place.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const IMF_FIXDATE = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const RFC_850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i

const TIME = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?`
const ZONE = String.raw` ?(?:gmt|utc?|z)? ?(?:([+-]\d{2}):?(\d{2}))?(?: utc)?(?: \(.*\))?`
const YEAR_LAST = new RegExp(
  String.raw`^(?:[a-z]+,? )?(?:(\d{1,2})[ -]([a-z]{3})[a-z]*|([a-z]{3})[a-z]* (\d{1,2}))[ -](\d{4}|\d{2}) ${TIME}${ZONE}$`,
  'i',
)
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})-(\d{2})-(\d{2})[t ]${TIME}${ZONE}$`, 'i')

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
 * zone, a missing day of the week. A date without a time zone is in UTC. Returns milliseconds since
 * 1970, or undefined for an invalid date. Parts of a millisecond are rounded up.
 *
 * @param now Milliseconds since 1970. A two-digit year is taken to be at most 50 years after it.
 */
export function similarDate(value: string, now: number): number | undefined {
  const text = value.trim()
  const [, year, monthNumber, date, ...time] = YEAR_FIRST.exec(text) ?? []
  if (year !== undefined) return utcWithZone(Number(year), MONTHS[Number(monthNumber) - 1], date, time)
  const [, day, month, monthBefore, dayAfter, lastYear = '', ...lastTime] = YEAR_LAST.exec(text) ?? []
  if (lastYear === '') return httpDate(text, now)
  const fullLastYear = lastYear.length === 2 ? fullYear(Number(lastYear), now) : Number(lastYear)
  return utcWithZone(fullLastYear, month ?? monthBefore, day ?? dayAfter, lastTime)
}

/** @param time The groups of `TIME` and `ZONE`. */
function utcWithZone(
  year: number,
  monthName: string | undefined,
  dayText: string | undefined,
  [hours = '', minutes = '', seconds = '', fraction = '', zoneHours = '', zoneMinutes = '']: readonly string[],
): number | undefined {
  const at = utc(year, monthName, dayText, [hours, minutes, seconds])
  const offsetMinutes = Number(zoneHours) * 60 + Number(`${zoneHours.slice(0, 1)}${zoneMinutes}`)
  return at === undefined ? undefined : at + Math.ceil(Number(fraction) * 1000) - offsetMinutes * 60_000
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
