// Parses Retry-After. RFC 9110 §10.2.3.
import { httpDate } from './date.ts'

/** A member of a list that commas separate. A date contains a comma itself. */
const MEMBER = /\s*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,[^,]*|[^,]+/gi

/**
 * Returns how long to wait from `now`, in milliseconds, 0 or more; undefined if the value is
 * neither a number of seconds nor a date. Clients join the values of several headers with commas
 * (RFC 9110 §5.3). Then the longest time counts.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  let longest: number | undefined
  for (const member of value?.match(MEMBER) ?? []) {
    const ms = memberMs(member, now)
    if (ms !== undefined) longest = Math.max(ms, longest ?? 0)
  }
  return longest
}

function memberMs(member: string, now: number): number | undefined {
  if (/^\s*\d+\s*$/.test(member)) return Number(member) * 1000
  const at = httpDate(member, now)
  return at === undefined ? undefined : Math.max(0, at - now)
}
