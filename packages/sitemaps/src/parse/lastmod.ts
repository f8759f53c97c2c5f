// Reads the dates of sitemaps and feeds. sitemaps.org asks for W3C dates; sites write many other
// forms.

/** A year, and what may follow: month, day, time, and the rest, which may have a zone. */
const DATE =
  /^(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?(?:(?:T|\s+|\s*T\s*)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,30}))?)?)?/i
/** The date of a feed: `Tue, 03 Oct 2023 10:20:30 +0200`. RFC 5322 §3.3. */
const FEED_DATE =
  /^(?:[a-z]{3,9},?\s+)?(\d{1,2})\s+([a-z]{3})[a-z]{0,6}\s+(\d{4})(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?/i
/** `Z`, `+02:00`, `+0200`, `-05`, and `-00:14400`, whose minutes are seconds. */
const ZONE = /^\s*(?:(z|utc|gmt)|(?:gmt|utc)?([+-])(\d{2}):?(\d{5}|\d{2})?)(?!\d)/i
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'
const MAX_LENGTH = 200

/**
 * Returns the time in milliseconds since 1970, negative before. Returns undefined for a text that is
 * not a date. A date without a zone counts as UTC. If the text has two dates, the later one counts.
 */
export function parseLastmod(text: string): number | undefined {
  const trimmed = text.trim().slice(0, MAX_LENGTH)
  const first = parseFirst(trimmed)
  if (first === undefined) return undefined
  const second = parseFirst(trimmed.slice(first.length).replace(/^[\s,;/-]+(?:and|to)?\s*/i, ''))
  return second === undefined ? first.ms : Math.max(first.ms, second.ms)
}

function parseFirst(text: string): { readonly ms: number; readonly length: number } | undefined {
  const date = DATE.exec(text)
  if (date !== null) {
    const [all, year, , month, day, hour, minute, second, fraction] = date
    const ms = utc(Number(year), Number(month ?? 1), Number(day ?? 1), hour, minute, second, fraction)
    return ms === undefined ? undefined : withZone(ms, text, all.length, hour !== undefined)
  }
  const feed = FEED_DATE.exec(text)
  if (feed === null) return undefined
  const [all, day, name, year, hour, minute, second] = feed
  const month = MONTHS.indexOf((name as string).toLowerCase()) / 3 + 1
  const ms = utc(Number(year), month, Number(day), hour, minute, second, undefined)
  return ms === undefined ? undefined : withZone(ms, text, all.length, hour !== undefined)
}

/** Reads one or more zones after a time. The first one counts: `10:20:30-0400-04:00`. */
function withZone(ms: number, text: string, end: number, hasTime: boolean): { ms: number; length: number } {
  let length = end
  let offset: number | undefined
  for (let zones = 0; hasTime && zones < 3; zones++) {
    const zone = ZONE.exec(text.slice(length))
    if (zone === null) break
    length += zone[0].length
    offset ??= offsetOf(zone)
  }
  return { ms: ms - (offset ?? 0), length }
}

function offsetOf([, utcName, sign, hours, rest = '0']: RegExpExecArray): number {
  if (utcName !== undefined) return 0
  const ms = Number(hours) * 3_600_000 + Number(rest) * (rest.length === 5 ? 1_000 : 60_000)
  return sign === '-' ? -ms : ms
}

function utc(
  year: number,
  month: number,
  day: number,
  hour = '0',
  minute = '0',
  second = '0',
  fraction = '',
): number | undefined {
  const isTime = Number(hour) <= 24 && Number(minute) <= 59 && Number(second) <= 60
  if (!isTime || !Number.isInteger(month) || month < 1 || month > 12 || day < 1 || day > 31) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day) // Date.UTC would read the year 50 as 1950
  if (date.getUTCDate() !== day) return undefined // such as 30 February
  const ms = Number(`${fraction}000`.slice(0, 3))
  return date.getTime() + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1_000 + ms
}
