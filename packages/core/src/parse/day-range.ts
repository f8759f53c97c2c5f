// A part of the day in UTC, as in visit-time and request-rate: `0600-0845` (Conner's extended standard, Seznam).

/**
 * A part of the UTC day: minutes since midnight, `from` inclusive and `to` exclusive. If `to` is smaller than `from`, the range crosses
 * midnight. `to` may be 1440, the end of the day.
 */
export interface DayRange {
  readonly from: number
  readonly to: number
}

/**
 * Parses `0600-0845` or `06:00-08:45`, with optional blanks around the hyphen, and an optional `UTC` or `GMT` after a blank. Returns
 * undefined for any other value: `6-8`, `600-845` and other time zones are ambiguous or invalid, and an empty range could mean a whole
 * day or nothing.
 */
export function dayRangeOf(value: string): DayRange | undefined {
  const [, start, end] = /^(\d\d:?\d\d)[\t ]*-[\t ]*(\d\d:?\d\d)([\t ]+(utc|gmt))?$/i.exec(value) ?? []
  const from = minuteOf(start)
  const to = minuteOf(end)
  if (from === undefined || to === undefined || from === MINUTES_PER_DAY || from === to) return undefined
  return { from, to }
}

const MINUTES_PER_DAY = 24 * 60

function minuteOf(time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const minute = Number(time.slice(-2))
  const total = Number(time.slice(0, 2)) * 60 + minute
  return minute < 60 && total <= MINUTES_PER_DAY ? total : undefined
}
