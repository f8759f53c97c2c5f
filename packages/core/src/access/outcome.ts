// What one attempt to get robots.txt meant. RFC 9309 §2.3.1.
import type { Headers } from '../http/headers.ts'
import type { Copy } from './copy.ts'
import type { Body, FailureReason } from './reply.ts'

/** One request of the chain and its answer. */
export interface Hop {
  readonly url: string
  readonly status: number
}

interface Attempted {
  /** The redirects that were followed, in order; empty where the first request was answered itself. */
  readonly hops: readonly Hop[]
  /** The URL that gave the answer, or did not. */
  readonly url: string
}

export type Outcome = Success | Unchanged | Unavailable | Restricted | Unreachable

/** 2xx: its rules are to be followed. §2.3.1.1. */
export interface Success extends Attempted {
  readonly kind: 'success'
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** 304 to a conditional request: the copy at hand is still the file. */
export interface Unchanged extends Attempted {
  readonly kind: 'unchanged'
  readonly copy: Copy
  readonly status: 304
  readonly headers: Headers
}

/** The server says that the file does not exist: everything is allowed. §2.3.1.3. */
interface Unavailable extends Attempted {
  readonly kind: 'unavailable'
  readonly status: number
  readonly reason: UnavailableReason
  readonly headers: Headers
}

/**
 * `status`: 4xx but 429. `not-found-page`: a 5xx whose page says so, where the policy reads them. The others are redirects that
 * lead nowhere, §2.3.1.2.
 */
export type UnavailableReason =
  | 'status'
  | 'not-found-page'
  | 'too-many-redirects'
  | 'redirect-loop'
  | 'no-usable-location'

/** 401 and 403 in the reading of the nineties: the whole site is off limits. The draft of 1996, §3.1. */
interface Restricted extends Attempted {
  readonly kind: 'restricted'
  readonly status: number
  readonly reason: 'status'
  readonly headers: Headers
}

/** Its content is unknown: everything is disallowed. §2.3.1.4. */
export interface Unreachable extends Attempted {
  readonly kind: 'unreachable'
  /** `status`: 429, 5xx, or a status that means none of the above. */
  readonly reason: 'status' | FailureReason
  readonly status?: number
  readonly headers?: Headers
  readonly detail?: string
}
