// What one attempt to fetch robots.txt led to. RFC 9309 §2.3.1.

import type { LooksLike } from '../foreign-format.ts'
import type { Headers } from '../http/headers.ts'
import type { Copy } from './copy.ts'
import type { Body, FailureReason } from './reply.ts'

/**
 * One redirect that was followed.
 * @inline
 */
export interface Hop {
  /** The URL that was requested. */
  readonly url: string
  /** The status of its response, such as 301. */
  readonly status: number
}

interface OutcomeSource {
  /** The redirects that were followed, in order; empty if the first response was not a redirect. */
  readonly hops: readonly Hop[]
  /** The last URL that was requested. */
  readonly url: string
  /** What the response looks like, if it is not a robots.txt. */
  readonly looksLike?: LooksLike | undefined
}

/**
 * The result of one attempt to fetch robots.txt, after its redirects: one type for each case of
 * RFC 9309 §2.3.1.
 */
export type Outcome = Success | Unchanged | Unavailable | Restricted | Unreachable

/**
 * 2xx: the client obeys the rules in the body. §2.3.1.1.
 * @inline
 */
export interface Success extends OutcomeSource {
  readonly kind: 'success'
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/**
 * 304 to a conditional request: the cached copy is still current.
 * @inline
 */
export interface Unchanged extends OutcomeSource {
  readonly kind: 'unchanged'
  readonly copy: Copy
  readonly status: 304
  readonly headers: Headers
}

/**
 * The server says that the file does not exist: everything is allowed. §2.3.1.3.
 * @inline
 */
export interface Unavailable extends OutcomeSource {
  readonly kind: 'unavailable'
  readonly status: number
  readonly reason: UnavailableReason
  readonly headers: Headers
}

/**
 * Why robots.txt is unavailable:
 * - `status`: 4xx except 429, and except 401 and 403 if the policy treats them as restricted.
 * - `not-found-page`: a 5xx whose page says "not found", if the policy reads such pages.
 * - `too-many-redirects`, `redirect-loop`, `no-usable-location`: redirects that cannot be followed
 *   to a response. §2.3.1.2.
 * @inline
 */
export type UnavailableReason =
  | 'status'
  | 'not-found-page'
  | 'too-many-redirects'
  | 'redirect-loop'
  | 'no-usable-location'

/**
 * 401 or 403 in a dialect from before RFC 9309: everything is disallowed. The draft of 1996, §3.1.
 * @inline
 */
export interface Restricted extends OutcomeSource {
  readonly kind: 'restricted'
  readonly status: number
  readonly reason: 'status'
  readonly headers: Headers
}

/**
 * The client could not read robots.txt, so its content is unknown: everything is disallowed.
 * §2.3.1.4.
 * @inline
 */
export interface Unreachable extends OutcomeSource {
  readonly kind: 'unreachable'
  /** `status`: 429, 5xx, or a status that belongs to no other outcome. */
  readonly reason: 'status' | FailureReason
  readonly status?: number
  readonly headers?: Headers
  readonly detail?: string
  /**
   * The wait that the server asked for in an earlier response, if no request was sent because of
   * it. Milliseconds.
   */
  readonly retryAfterMs?: number | undefined
}
