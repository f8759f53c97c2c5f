// The values of Crawl-delay, Request-rate and Visit-time, which are extensions (RFC 9309 §2.2.4).
import { DAY_MINUTES, type DayRange, MAX_TIMED_RECORDS, type RequestRate } from '../timed-records.ts'

/**
 * Parses a Crawl-delay, which Bing, Yandex and others have obeyed: a number of decimal seconds,
 * such as `10`, `1.5` or `.5`. Returns whole milliseconds. Any other value (`10s`, `-1`, `1e3`)
 * gives undefined and is ignored; docs/records.md lists the doubtful ones. The result is at most
 * `Number.MAX_SAFE_INTEGER`, which clocks and JSON can represent.
 */
export function crawlDelayMsOf(value: string): number | undefined {
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(value)) return undefined
  return Math.min(Math.round(Number(value) * 1000), Number.MAX_SAFE_INTEGER)
}

/**
 * Parses a part of the day (Conner's extended standard, Seznam): `0600-0845` or `06:00-08:45`, with
 * optional blanks around the hyphen, and an optional `UTC` or `GMT` after a blank. Returns
 * undefined for any other value: `6-8`, `600-845` and other time zones are ambiguous or invalid,
 * and an empty range could mean a whole day or nothing.
 */
export function dayRangeOf(value: string): DayRange | undefined {
  const [, start, end] = /^(\d\d:?\d\d)[\t ]*-[\t ]*(\d\d:?\d\d)([\t ]+(utc|gmt))?$/i.exec(value) ?? []
  const from = minuteOf(start)
  const to = minuteOf(end)
  if (from === undefined || to === undefined || from === DAY_MINUTES || from === to) return undefined
  return { from, to }
}

function minuteOf(time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const minute = Number(time.slice(-2))
  const total = Number(time.slice(0, 2)) * 60 + minute
  return minute < 60 && total <= DAY_MINUTES ? total : undefined
}

const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses `requests/period`. The period is in seconds, or has a unit: `s`, `m`, `h`, `d`. A part of
 * the day may follow: `1/10s 1800-1900` means one request in ten seconds, between 18:00 and 19:00
 * UTC. Returns undefined for a value without both numbers, with a zero (`0/1`, `1/0`), or with an
 * invalid part of the day.
 */
export function requestRateOf(value: string): RequestRate | undefined {
  const [, count, period, unit = '', , hours] = /^(\d+)\/(\d+)([smhd]?)([\t ]+(.*))?$/i.exec(value) ?? []
  const requests = Math.min(Number(count), Number.MAX_SAFE_INTEGER)
  const periodMs = Math.min(Number(period) * (UNIT_MS[unit.toLowerCase()] ?? 0), Number.MAX_SAFE_INTEGER)
  const between = hours === undefined ? undefined : dayRangeOf(hours)
  const isValid = requests > 0 && periodMs > 0 && (hours === undefined || between !== undefined)
  return isValid ? { requests, periodMs, between } : undefined
}

/**
 * Returns the rates to keep: the first 24, in the order of the file. If the strictest rate that
 * always applies comes later, it replaces the 24th, so that other lines cannot push it out.
 */
export function keptRates(rates: readonly RequestRate[]): readonly RequestRate[] {
  const kept = rates.slice(0, MAX_TIMED_RECORDS)
  if (kept.length === rates.length) return kept
  const strictest = rates.filter(({ between }) => between === undefined).reduce(stricterRate, NO_RATE)
  if (strictest !== NO_RATE && !kept.includes(strictest)) kept[MAX_TIMED_RECORDS - 1] = strictest
  return kept
}

/** In place of a rate: no pause. */
const NO_RATE: RequestRate = { requests: 1, periodMs: 0, between: undefined }

function stricterRate(one: RequestRate, other: RequestRate): RequestRate {
  return other.periodMs / other.requests > one.periodMs / one.requests ? other : one
}
