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
  /** Bytes, one character for each (latin1). */
  readonly bytes: string
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
 * Why the server did not answer. Each makes robots.txt unreachable, RFC 9309 §2.3.1.4:
 * - `dns`: the host's name has no address.
 * - `dns-unavailable`: the resolver did not answer.
 * - `refused`: the connection was refused.
 * - `reset`: the connection broke.
 * - `network`: no route to the host, or a failure with no name here.
 * - `tls`: no secure connection could be made.
 * - `timeout`: the deadline passed.
 * - `malformed`: the answer is not valid HTTP, such as broken chunked framing.
 * - `undecodable`: a content or transfer coding is unknown, or its data cannot be decoded.
 * - `truncated`: the body ended early, or is only a part of the file.
 * - `too-large`: the headers exceed the limit.
 * - `blocked-address`: the network guard refused the address.
 * - `no-transport`: no client for this scheme.
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
  return notFoundPages === 'unavailable' && status >= 500 && /\bnot found\b|\b404\b/i.test(body?.bytes ?? '')
}
