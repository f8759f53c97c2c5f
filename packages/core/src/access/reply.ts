// The result of one request for robots.txt, as a value: a response or a failure. Core does no I/O.
import type { Headers } from '../http/headers.ts'

/** The result of one request for robots.txt. */
export type Reply = Response | Failure

/** The server responded. */
export interface Response {
  readonly kind: 'response'
  readonly status: number
  readonly headers: Headers
  /** The decoded body. It is read for a 2xx, and for a 5xx that `mayBeNotFoundPage` accepts. */
  readonly body?: Body
}

/** The decoded body of a response, up to the size limit. */
export interface Body {
  /** The body, one character for each byte (latin1). */
  readonly bytes: string
  /** Whether the size limit cut the body. RFC 9309 §2.5. */
  readonly truncated: boolean
}

/** The server sent no response, or the response could not be read completely. */
export interface Failure {
  readonly kind: 'failure'
  readonly reason: FailureReason
  /** The platform's error message, for people; not stable. */
  readonly detail: string
  /** The wait that the server asked for in an earlier response, if it is not over. Milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** What each reason means: see `failuresThatAre`. */
const TRAITS = {
  dns: ['unreached', 'another-way', 'by-proxy', 'answered', 'of-page'],
  'dns-unavailable': ['passing', 'unreached', 'another-way', 'by-proxy', 'of-page'],
  refused: ['passing', 'unreached', 'another-way', 'by-proxy', 'of-page'],
  reset: ['passing', 'unreached', 'by-proxy', 'answered', 'of-page'],
  network: ['passing', 'unreached', 'another-way', 'by-proxy', 'of-page'],
  tls: ['unreached', 'answered', 'of-page'],
  timeout: ['unreached', 'another-way', 'by-proxy', 'of-page'],
  malformed: ['answered', 'of-page'],
  undecodable: ['answered', 'of-page'],
  truncated: ['passing', 'answered', 'of-page'],
  'foreign-body': [],
  'too-large': ['of-page'],
  'blocked-address': ['own', 'another-way'],
  'busy-target': ['own'],
  'disallowed-target': [],
  'no-transport': ['own'],
  'unusable-transport': ['own'],
} as const

/**
 * Why the client has no usable response. Each reason makes robots.txt unreachable, RFC 9309
 * §2.3.1.4:
 * - `dns`: the host name has no address.
 * - `dns-unavailable`: the DNS resolver did not respond.
 * - `refused`: the connection was refused.
 * - `reset`: the connection broke.
 * - `network`: no route to the host, or a failure not listed here.
 * - `tls`: the TLS handshake failed, or the certificate is invalid.
 * - `timeout`: the deadline passed.
 * - `malformed`: the response is not valid HTTP, such as broken chunked framing.
 * - `undecodable`: a content or transfer coding is unknown, or its data is corrupt.
 * - `truncated`: the body ended early, or is only a part of the file.
 * - `foreign-body`: the body is not a robots.txt, or the response is a challenge for browsers, and
 *   `foreignBodies` is `unreachable`.
 * - `too-large`: the headers, or all bytes of the response together, exceed the limit.
 * - `blocked-address`: the network guard refused the address.
 * - `busy-target`: a redirect to another site was not followed. The other site asked for a pause,
 *   or too many redirects lead there.
 * - `disallowed-target`: a redirect was not followed, since the robots.txt of its target disallows it
 *   or is unreachable. This reason is for tdmrep.json only: for robots.txt itself, no rules apply.
 * - `no-transport`: the client has no transport for the scheme of the URL, such as FTP.
 * - `unusable-transport`: the caller's `fetch` or `dispatcher` does not do what it must: it follows
 *   or hides redirects, or drops or changes a body.
 * @inline
 * @useDeclaredType
 */
export type FailureReason = keyof typeof TRAITS

/** The reasons for which a request for a page may get no response. */
export type PageFailureReason = {
  [Reason in FailureReason]: 'of-page' extends (typeof TRAITS)[Reason][number] ? Reason : never
}[FailureReason]

/**
 * Returns the reasons with a trait:
 * - `own`: the client itself refused, by its network guard, its limits or its transport.
 * - `passing`: often gone a moment later.
 * - `unreached`: the host cannot be reached.
 * - `another-way`: a request on another way might have succeeded.
 * - `by-proxy`: a proxy may be the cause.
 * - `answered`: a server or the DNS has answered, so the client's network works.
 * - `of-page`: it is about the site, so it may be the outcome of a request for a page.
 */
export function failuresThatAre(
  trait: 'own' | 'passing' | 'unreached' | 'another-way' | 'by-proxy' | 'answered' | 'of-page',
): ReadonlySet<string> {
  const traits: Readonly<Record<FailureReason, readonly (typeof trait)[]>> = TRAITS
  return new Set(Object.keys(traits).filter((reason) => traits[reason as FailureReason].includes(trait)))
}
