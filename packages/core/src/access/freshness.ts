// How long the result of an attempt is valid. RFC 9309 §2.4, RFC 9111 §4.2.
import { cacheControlOf } from '../http/cache-control.ts'
import { httpDate } from '../http/date.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import type { AccessPolicy } from './policy.ts'

/**
 * Returns for how many milliseconds a response is fresh after it has arrived, within the policy's
 * bounds.
 * @param lifetime What `lifetimeMs` returned for the response, or, for a 304, for the response that
 * it confirms.
 * @param now When the response arrived. Milliseconds since 1970.
 */
export function freshForMs(headers: Headers, lifetime: number | undefined, now: number, policy: AccessPolicy): number {
  const { ttlMs, minTtlMs, maxTtlMs } = policy
  const freshMs = lifetime === undefined ? ttlMs : lifetime - ageMs(headers, now)
  return Math.min(Math.max(freshMs, minTtlMs), maxTtlMs)
}

/**
 * Returns the freshness lifetime that the headers give, in milliseconds; undefined if they give
 * none. Headers are tried in the order of RFC 9111 §4.2.1.
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
  return at - dateOf(headers, now)
}

/**
 * Returns how old the response was when it arrived: the larger of its Age and the time since its
 * Date. RFC 9111 §4.2.3. An invalid Age is ignored, and the first of several counts. §5.1. The
 * duration of the request is unknown here, and is not added to Age.
 */
function ageMs(headers: Headers, now: number): number {
  const [, seconds = 0] = /^\s*(\d+)\s*(?:,|$)/.exec(headerOf(headers, 'age') ?? '') ?? []
  return Math.max(Number(seconds) * 1000, now - dateOf(headers, now))
}

/**
 * Returns when the server generated the response, by the server's clock. Returns `now` if the Date
 * is missing or invalid. RFC 9110 §6.6.1.
 */
function dateOf(headers: Headers, now: number): number {
  return httpDate(headerOf(headers, 'date') ?? '', now) ?? now
}
