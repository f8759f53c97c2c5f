// How long an answer holds. RFC 9309 §2.4, RFC 9111 §4.2.
import { cacheControlOf } from '../http/cache-control.ts'
import { httpDate } from '../http/date.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import type { AccessPolicy } from './policy.ts'

/** Milliseconds from `now` for which a response holds: what its headers say, inside the policy's bounds. */
export function freshForMs(headers: Headers, now: number, policy: AccessPolicy): number {
  const { ttlMs, minTtlMs, maxTtlMs } = policy
  return Math.min(Math.max(lifetimeMs(headers, now) ?? ttlMs, minTtlMs), maxTtlMs)
}

/** What the headers say, or undefined where they say nothing. RFC 9111 §4.2.1, in its order. */
function lifetimeMs(headers: Headers, now: number): number | undefined {
  const { noStore, noCache, sMaxage, maxAge } = cacheControlOf(headerOf(headers, 'cache-control'))
  if (noStore || noCache) return 0
  const seconds = sMaxage ?? maxAge // one answer serves many crawlers, so a shared cache's lifetime comes first
  if (seconds !== undefined) return seconds * 1000 - ageMs(headers)
  const expires = headerOf(headers, 'expires')
  if (expires === undefined) return undefined
  const at = httpDate(expires, now)
  if (at === undefined) return 0 // `Expires: 0` and the like mean the past. RFC 9111 §5.3.
  const date = headerOf(headers, 'date')
  return at - ((date === undefined ? undefined : httpDate(date, now)) ?? now) - ageMs(headers)
}

/** How old the response was when it came out of a cache on the way. RFC 9111 §5.1. */
function ageMs(headers: Headers): number {
  const age = headerOf(headers, 'age')
  return age !== undefined && /^\s*\d+\s*$/.test(age) ? Number(age) * 1000 : 0
}
