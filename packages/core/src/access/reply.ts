// What came of one request for robots.txt, as a value: core never sees a socket.
import type { Headers } from '../http/headers.ts'
import type { AccessPolicy } from './policy.ts'

export type Reply = Response | Failure

/** The server answered. */
export interface Response {
  readonly kind: 'response'
  readonly status: number
  readonly headers: Headers
  /** The decoded body; read for a 2xx, and for a 5xx where the policy reads what its page says. */
  readonly body?: Body
}

export interface Body {
  /** Octets, one character for each (latin1). */
  readonly octets: string
  /** Whether the size limit cut it off. RFC 9309 §2.5. */
  readonly truncated: boolean
}

/** No answer, or none that could be read to its end. */
export interface Failure {
  readonly kind: 'failure'
  readonly reason: FailureReason
  /** What the platform said, for people; not stable. */
  readonly detail: string
}

/**
 * Why there was no answer. Each makes robots.txt unreachable, RFC 9309 §2.3.1.4:
 * `dns`: the host's name has no address; `dns-unavailable`: no answer from the resolver; `refused`; `reset`: the connection
 * broke; `network`: no way to the host, or any failure that has no name here; `tls`: no safe connection; `timeout`: the
 * deadline passed; `malformed`: not HTTP, or broken chunking; `undecodable`: a content or transfer coding that does not decode;
 * `truncated`: the body ended early; `too-large`: headers over the limit; `blocked-address`: the network guard refused; `no-transport`: no client for
 * this scheme.
 */
export type FailureReason =
  | 'dns'
  | 'dns-unavailable'
  | 'refused'
  | 'reset'
  | 'network'
  | 'tls'
  | 'timeout'
  | 'malformed'
  | 'undecodable'
  | 'truncated'
  | 'too-large'
  | 'blocked-address'
  | 'no-transport'

/** The failures that a second try a moment later may well not meet. */
const PASSING: ReadonlySet<FailureReason> = new Set(['dns-unavailable', 'refused', 'reset', 'network', 'truncated'])

/**
 * Is another try a moment later worth its request? Never after a success, a redirect or a 4xx. After 429 and 5xx it is,
 * unless the server said how long to wait: that wish is kept by the time of the next attempt.
 */
export function isWorthRetrying(reply: Reply, policy: AccessPolicy): boolean {
  if (reply.kind === 'failure') return PASSING.has(reply.reason)
  if (isNotFoundPage(reply, policy)) return false
  return (reply.status === 429 || reply.status >= 500) && reply.headers['retry-after'] === undefined
}

/** Is this a 5xx that means 404, where the policy takes it so? */
export function isNotFoundPage({ status, body }: Response, { notFoundPages }: AccessPolicy): boolean {
  return notFoundPages === 'unavailable' && status >= 500 && /\bnot found\b|\b404\b/i.test(body?.octets ?? '')
}
