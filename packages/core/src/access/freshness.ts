// How long the result of an attempt is valid. RFC 9309 §2.4, RFC 9111 §4.2.
import { cacheControlOf } from '../http/cache-control.ts'
import { httpDate } from '../http/date.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import type { AccessPolicy } from './policy.ts'

/**
 * Returns for how many milliseconds a response is fresh after it has arrived, within the policy's bounds.
 * @param lifetime What `lifetimeMs` returned for the response, or for the one that it confirms (304).
 */
export function freshForMs(headers: Headers, lifetime: number | undefined, policy: AccessPolicy): number {
  const { ttlMs, minTtlMs, maxTtlMs } = policy
  const freshMs = lifetime === undefined ? ttlMs : lifetime - ageMs(headers)
  return Math.min(Math.max(freshMs, minTtlMs), maxTtlMs)
}

/**
 * Returns the freshness lifetime that the headers give, in milliseconds; undefined if they give none. Headers are tried in the order of RFC 9111
 * §4.2.1.
 */
export function lifetimeMs(headers: Headers, now: number): number | undefined {
  const { noStore, noCache, sMaxage, maxAge } = cacheControlOf(headerOf(headers, 'cache-control'))
  if (noStore || noCache) return 0
  const seconds = sMaxage ?? maxAge // one entry serves many requests, so the lifetime for shared caches comes first
  if (seconds !== undefined) return seconds * 1000
  const expires = headerOf(headers, 'expires')
  if (expires === undefined) return undefined
  const at = httpDate(expires, now)
  if (at === undefined) return 0 // an invalid date such as `Expires: 0` means the past. RFC 9111 §5.3.
  const date = headerOf(headers, 'date')
  return at - ((date === undefined ? undefined : httpDate(date, now)) ?? now)
}

/**
 * Returns how long the response was stored in caches on its way, or 0 if the Age header is missing or invalid. The first of several counts.
 * RFC 9111 §5.1.
 */
function ageMs(headers: Headers): number {
  const [, seconds] = /^\s*(\d+)\s*(?:,|$)/.exec(headerOf(headers, 'age') ?? '') ?? []
  return seconds === undefined ? 0 : Number(seconds) * 1000
}
