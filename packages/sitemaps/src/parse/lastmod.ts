// Reads the dates of sitemaps and feeds. sitemaps.org asks for W3C dates; sites write many other
// forms. A text counts only if all of it was understood: a part that was not could change the time.

/** `2026`, `2026-03`, `2026-03-04`. No digit of another form may follow, as in `2026-063`. */
const CALENDAR = /^(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?(?![/.]?\d|-?W|-\d(?!\d:\d\d))/i
/** `20260304`. ISO 8601, basic format. */
const BASIC = /^(\d{4})(\d{2})(\d{2})(?!\d)/
/** `20260304050607`. */
const DIGITS = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(?!\d)/
/** `2026-W10-3`, `2026W103`, `2026-W10`. ISO 8601, week date. */
const WEEK = /^(\d{4})(-?)W(\d{2})(?:\2([1-7]))?(?!\d)/i
/** `2026-063`, `2026063`. ISO 8601, ordinal date. */
const ORDINAL = /^(\d{4})-?(\d{3})(?!\d)/
/** Seconds or milliseconds since 1970. */
const EPOCH = /^(?:(\d{10})(?:\.\d{1,9})?|(\d{13}))$/
/** The date of a feed: `Tue, 03 Oct 2023`. RFC 5322 §3.3 and §4.3. */
const FEED = /^(?:[a-z]{3,9},?\s+)?(\d{1,2})\s+([a-z]{3})[a-z]{0,6}\s+(\d{2,4})(?!\d)/i
const TIME = /^(?:\s*T\s*|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,30}))?)?(?!\d)/i
const BASIC_TIME = /^T(\d{2})(?:(\d{2})(?:(\d{2})(?:[.,](\d{1,30}))?)?)?(?!\d)/i
/** `+02:00`, `+0200`, `-05`, and `-00:14400`, whose minutes are seconds; or a name. */
const ZONE = /^\s*(?:(?:gmt|utc)?([+-])(\d{2}):?(\d{5}|\d{2})?(?!\d)|([a-z]{1,5})(?![a-z]))/i
/** The zone of a date without a time, as XML Schema allows it. */
const ZONE_OF_DATE = /^(?:([+-])(\d{2}):(\d{2})(?!\d)|(z)(?![a-z]))/i
/** A comment (RFC 5322 §3.2.2), or the name of a zone that was given as an offset before. */
const COMMENT = /^\s*(?:\([^()]*\)|\[[^\][]*\])/
const BETWEEN_DATES = /^[\s,;/-]*(?:(?:and|to)\s+)?/i

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'
/** The hours of the zones of RFC 5322 §4.3. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
}
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MAX_LENGTH = 200

/** A part of the text that was understood. */
interface Part {
  readonly ms: number
  readonly length: number
}

interface DatePart extends Part {
  /** Whether the part is a day, and not a month or a year. */
  readonly isDay: boolean
  readonly isOfFeed?: boolean
}

/**
 * Returns the time in milliseconds since 1970, negative before. Returns undefined for a text that is
 * not a date. A date without a zone counts as UTC. If the text has several dates, the latest one
 * counts.
 */
export function parseLastmod(text: string): number | undefined {
  let rest = text.trim()
  if (rest.length > MAX_LENGTH) return undefined
  let latest: number | undefined
  do {
    const date = dateAt(rest)
    if (date === undefined) return undefined
    const end = date.isDay ? timeAt(rest, date) : date
    if (end === undefined) return undefined
    const { ms, length } = end
    const isOnly = latest === undefined && length === rest.length
    if (!date.isDay && !isOnly) return undefined
    latest = Math.max(latest ?? ms, ms)
    rest = rest.slice(length).replace(BETWEEN_DATES, '')
  } while (rest !== '')
  return latest
}

function dateAt(text: string): DatePart | undefined {
  const calendar = CALENDAR.exec(text)
  if (calendar !== null) {
    const [all, year, , month = '1', day] = calendar
    return part(utc(year, month, day ?? '1'), all.length, day !== undefined)
  }
  const basic = BASIC.exec(text)
  if (basic !== null) return part(utc(basic[1], basic[2], basic[3]), basic[0].length)
  const digits = DIGITS.exec(text)
  if (digits !== null) {
    const day = utc(digits[1], digits[2], digits[3])
    const time = timeOf(digits.slice(4))
    return part(day === undefined || time === undefined ? undefined : day + time, digits[0].length)
  }
  const week = WEEK.exec(text)
  if (week !== null) return part(weekDay(Number(week[1]), Number(week[3]), Number(week[4] ?? 1)), week[0].length)
  const ordinal = ORDINAL.exec(text)
  if (ordinal !== null) return part(dayOfYear(ordinal[1] as string, Number(ordinal[2])), ordinal[0].length)
  const epoch = EPOCH.exec(text)
  if (epoch !== null && !isDayAndHour(text))
    return part(epoch[2] === undefined ? Number(text) * 1_000 : Number(text), text.length)
  const feed = FEED.exec(text)
  if (feed === null) return undefined
  const [all, day, name = '', year = ''] = feed
  const date = part(utc(fullYear(year), `${MONTHS.indexOf(name.toLowerCase()) / 3 + 1}`, day), all.length)
  return date && { ...date, isOfFeed: true }
}

function part(ms: number | undefined, length: number, isDay = true): DatePart | undefined {
  return ms === undefined ? undefined : { ms: Math.trunc(ms), length, isDay }
}

/** `2026030405` could be 4 March 2026, or a second of 2034. */
function isDayAndHour(text: string): boolean {
  return text.length === 10 && text >= '1990' && utc(text.slice(0, 4), text.slice(4, 6), text.slice(6, 8)) !== undefined
}

/** Two and three digits: RFC 5322 §4.3. */
function fullYear(year: string): string {
  if (year.length === 4) return year
  return String(Number(year) + (year.length === 2 && Number(year) < 50 ? 2_000 : 1_900))
}

/** Reads the time, the zones and the comments after a day. The first zone counts: `10:20:30-0400-04:00`. */
function timeAt(text: string, { ms: day, length: end, isOfFeed }: DatePart): Part | undefined {
  const rest = text.slice(end)
  const time = TIME.exec(rest) ?? BASIC_TIME.exec(rest)
  const [all, ...fields] = time ?? ['']
  const timeMs = timeOf(fields)
  if (timeMs === undefined) return undefined
  let length = end + all.length
  let offset: number | undefined
  for (let parts = 0; parts < 4; parts++) {
    const after = text.slice(length)
    const comment = COMMENT.exec(after)
    const zone = comment === null ? (time === null ? ZONE_OF_DATE : ZONE).exec(after) : null
    const found = comment ?? zone
    if (found === null) break
    if (zone !== null) {
      const zoneMs = offsetOf(zone, isOfFeed === true)
      const isName = zone[4] !== undefined // such as `+0100 CET`
      if (zoneMs === undefined && !(isName && offset !== undefined)) return undefined
      offset ??= zoneMs
    }
    length += found[0].length
  }
  return { ms: day + timeMs - (offset ?? 0), length }
}

/** Returns undefined for a zone that is unknown or impossible. */
function offsetOf([, sign, hours, rest = '0', name]: RegExpExecArray, isOfFeed: boolean): number | undefined {
  if (name !== undefined) {
    const zone = name.toLowerCase()
    if (Object.hasOwn(ZONES, zone)) return (ZONES[zone] as number) * HOUR_MS
    return isOfFeed && zone.length === 1 && zone !== 'j' ? 0 : undefined // the letters of the military
  }
  if (Number(hours) > 23 || (rest.length === 2 && Number(rest) > 59)) return undefined
  const ms = Number(hours) * HOUR_MS + Number(rest) * (rest.length === 5 ? 1_000 : 60_000)
  return sign === '-' ? -ms : ms
}

/** Returns the milliseconds since midnight. 24:00:00 is the end of the day. */
function timeOf([hour = '0', minute = '0', second = '0', fraction = '']: readonly string[]): number | undefined {
  const isEndOfDay = Number(hour) === 24 && Number(minute) === 0 && Number(second) === 0
  const isTime = (Number(hour) < 24 || isEndOfDay) && Number(minute) <= 59 && Number(second) <= 60
  if (!isTime) return undefined
  const ms = Number(`${fraction}000`.slice(0, 3))
  return Number(hour) * HOUR_MS + Number(minute) * 60_000 + Number(second) * 1_000 + ms
}

function utc(year: string | undefined, month: string | undefined, day: string | undefined): number | undefined {
  const [monthNumber, dayNumber] = [Number(month), Number(day)]
  if (!Number.isInteger(monthNumber) || monthNumber < 1 || monthNumber > 12 || dayNumber < 1) return undefined
  const date = new Date(0)
  date.setUTCFullYear(Number(year), monthNumber - 1, dayNumber) // Date.UTC would read the year 50 as 1950
  return date.getUTCDate() === dayNumber ? date.getTime() : undefined // not for 30 February
}

function dayOfYear(year: string, day: number): number | undefined {
  const first = utc(year, '1', '1') as number
  const ms = first + (day - 1) * DAY_MS
  return day >= 1 && new Date(ms).getUTCFullYear() === Number(year) ? ms : undefined
}

/** 4 January is in the first week, and Thursday decides to which year a week belongs. ISO 8601. */
function weekDay(year: number, week: number, day: number): number | undefined {
  const fourth = utc(String(year), '1', '4') as number
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS + (week - 1) * 7 * DAY_MS
  if (week < 1 || new Date(monday + 3 * DAY_MS).getUTCFullYear() !== year) return undefined
  return monday + (day - 1) * DAY_MS
}
