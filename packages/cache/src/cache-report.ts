// cacheOf: what the cache did for a response.
import { warnOfNoResponse } from '@politely/core/engine'
import { hiddenField } from '@politely/fetcher/internal'

/** What the cache did for a response. */
export interface CacheReport {
  /**
   * - `hit`: stored, fresh, and returned without a request.
   * - `revalidated`: stored, and the site has said that it is unchanged.
   * - `stale`: stored, no longer fresh, and returned because the site fails, the cache is offline, or the
   *   request accepts it (`max-stale`, `cache: 'force-cache'`).
   * - `stored`: sent by the site, and stored when its body has been read. If the body is then found not to
   *   be whole, or not to be the page, the state becomes `bypass`.
   * - `bypass`: sent by the site, and not stored.
   */
  readonly state: 'hit' | 'revalidated' | 'stored' | 'stale' | 'bypass'
  /** How old the response is (RFC 9111 §4.2.3). Milliseconds; 0 for one that the site just sent. */
  readonly ageMs: number
  /** When its body was stored. Milliseconds since 1970; undefined for one that was not stored before. */
  readonly storedAt: number | undefined
  /** Why it has this state, in words. */
  readonly because: string
}

const reports = hiddenField<CacheReport>()

/** Remembers what the cache did for a response. Returns the response. */
export function report<R extends object>(response: R, about: CacheReport): R {
  reports.set(response, about)
  return response
}

/**
 * Returns what the cache did for a response; undefined for one that no `PageCache` returned. Never
 * throws: a number or a promise leads to a process warning (`POLITELY_NOT_A_RESPONSE`).
 */
export function cacheOf(response: object): CacheReport | undefined {
  warnOfNoResponse('cacheOf', response)
  return reports.get(response)
}
