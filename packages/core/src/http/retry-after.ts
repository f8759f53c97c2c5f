// Retry-After. RFC 9110 §10.2.3.
import { httpDate } from './date.ts'

/** How long to wait, in milliseconds from `now`, never negative; undefined where the value is neither seconds nor a date. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const at = httpDate(value, now)
  return at === undefined ? undefined : Math.max(0, at - now)
}
