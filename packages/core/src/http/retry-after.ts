// Parses Retry-After. RFC 9110 §10.2.3.
import { httpDate } from './date.ts'

/** Returns how long to wait from `now`, in milliseconds, 0 or more; undefined if the value is neither a number of seconds nor a date. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const at = httpDate(value, now)
  return at === undefined ? undefined : Math.max(0, at - now)
}
