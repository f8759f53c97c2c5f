// A part of the day, as visit-time and request-rate name it: `0600-0845`, in UTC (Conner's extended standard, Seznam).

/**
 * Minutes of the UTC day: from minute `from` on, and until just before minute `to`. Where `to` is the smaller one, the range goes
 * over midnight. `to` may be 1440, the end of the day.
 */
export interface DayRange {
  readonly from: number
  readonly to: number
}

/**
 * `0600-0845`, `06:00-08:45`, blanks around the hyphen, and `UTC` behind it. Other forms (`6-8`, `600-845`, another zone) could be
 * read in two ways or in none; a range of no length could be a whole day or nothing. Those are not understood.
 */
export function dayRangeOf(value: string): DayRange | undefined {
  const [, start, end] = /^(\d\d:?\d\d)[\t ]*-[\t ]*(\d\d:?\d\d)([\t ]+(utc|gmt))?$/i.exec(value) ?? []
  const from = minuteOf(start)
  const to = minuteOf(end)
  if (from === undefined || to === undefined || from === MINUTES || from === to) return undefined
  return { from, to }
}

const MINUTES = 24 * 60

function minuteOf(time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const minute = Number(time.slice(-2))
  const total = Number(time.slice(0, 2)) * 60 + minute
  return minute < 60 && total <= MINUTES ? total : undefined
}
