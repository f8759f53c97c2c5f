// Request-rate, an extension (RFC 9309 §2.2.4). `1/10s 1800-1900` means one request in ten seconds, between 18:00 and 19:00 UTC.
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { type DayRange, dayRangeOf } from './day-range.ts'

/** A limit on requests in a period. JSON-safe. */
export interface RequestRate {
  /** At most this many requests in any `periodMs`. */
  readonly requests: number
  /** The length of the period, in milliseconds. */
  readonly periodMs: number
  /** The part of the day in which the limit applies; undefined for always. */
  readonly between: DayRange | undefined
}

const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses `requests/period`. The period is in seconds, or has a unit: `s`, `m`, `h`, `d`. A part of the day may follow. Returns undefined
 * for a value without both numbers, with a zero (`0/1`, `1/0`), or with an invalid part of the day.
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
 * Returns the rates to keep: the first 24, in the order of the file. If the strictest rate that always applies comes later, it replaces
 * the 24th, so that other lines cannot push it out.
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
