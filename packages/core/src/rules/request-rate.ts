// Request-rate, an extension (RFC 9309 §2.2.4): `1/10s 1800-1900`, one request in ten seconds, between 18:00 and 19:00 UTC.
import { type DayRange, dayRangeOf } from './day-range.ts'

/** At most so many requests in any such period. JSON-safe. */
export interface RequestRate {
  readonly requests: number
  readonly periodMs: number
  /** When it holds; undefined for always. */
  readonly between: DayRange | undefined
}

const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * `requests/period`, the period in seconds or with `s`, `m`, `h`, `d`, and perhaps a time of day. What does not say both numbers, or
 * says nothing of one (`0/1`, `1/0`), is not understood and so not obeyed; nor is a rate whose time of day cannot be read.
 */
export function requestRateOf(value: string): RequestRate | undefined {
  const [, count, period, unit = '', , hours] = /^(\d+)\/(\d+)([smhd]?)([\t ]+(.*))?$/i.exec(value) ?? []
  const requests = Math.min(Number(count), Number.MAX_SAFE_INTEGER)
  const periodMs = Math.min(Number(period) * (UNIT_MS[unit.toLowerCase()] ?? 0), Number.MAX_SAFE_INTEGER)
  const between = hours === undefined ? undefined : dayRangeOf(hours)
  const readable = requests > 0 && periodMs > 0 && (hours === undefined || between !== undefined)
  return readable ? { requests, periodMs, between } : undefined
}
