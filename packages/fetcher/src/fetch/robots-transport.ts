// The interface of the transports: one request in, one reply out. The implementations use undici,
// the caller's fetch, or FTP.
import type { AccessPolicy, Headers } from '@politely/core/engine'
import { mayBeNotFoundPage, type Reply } from '@politely/core/internal'
import type { Reach } from '../network/network-guard.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Deadline } from './deadline.ts'

export interface RobotsTransport {
  /** Sends the request. Never throws: network errors and the end of the deadline are replies. */
  send(request: TransportRequest, deadline: Deadline): Promise<Reply>
}

export interface TransportRequest {
  readonly url: string
  /** Conditional headers, if there is a copy to confirm. RFC 9110 §13. */
  readonly conditions: Readonly<Record<string, string>>
  /** The addresses that the request may connect to. */
  readonly reach: Reach
}

/** The size limit of a response's headers, and of all replies of an FTP server together. */
export const MAX_HEADER_BYTES = 16_384

export const ACCEPT = 'text/plain, */*;q=0.5'

/**
 * Headers for the caller's dispatcher or fetch, which may have a cache. A cached body may be
 * truncated, and the cache no longer shows it. RFC 9111 §5.2.1.5.
 */
export const BYPASS_CACHES: Readonly<Record<string, string>> = { 'cache-control': 'no-store' }

/** The headers of the option `httpCaches`. RFC 9111 §5.2.1.4, §5.4. */
export const HTTP_CACHE_HEADERS: Readonly<Record<ClientSettings['httpCaches'], Readonly<Record<string, string>>>> = {
  allow: {},
  revalidate: { 'cache-control': 'no-cache', pragma: 'no-cache' },
}

/**
 * Returns whether the body of a response is read: it may hold rules, or be a not-found page (see
 * `notFoundPages`).
 */
export function isBodyWanted(status: number, headers: Headers, policy: AccessPolicy): boolean {
  return (status >= 200 && status <= 299) || mayBeNotFoundPage(status, headers, policy)
}
