// The port that robots.txt comes through: one request in, one reply out. Who makes the request is behind it.
import type { AccessPolicy, Reply } from '@politely/core'
import type { Deadline } from './deadline.ts'
import type { Reach } from './network-guard.ts'

export interface RobotsTransport {
  /** Makes the request. Never throws: what goes wrong is a reply, and so is the end of the deadline. */
  send(request: RobotsRequest, deadline: Deadline): Promise<Reply>
}

export interface RobotsRequest {
  readonly url: string
  /** Headers of the condition, if there is one. */
  readonly conditions: Readonly<Record<string, string>>
  /** What may be connected to. */
  readonly reach: Reach
}

/** What all ways of getting robots.txt need to know. */
export interface TransportSettings {
  readonly userAgent: string
  readonly policy: AccessPolicy
  readonly maxBodyBytes: number
  /** The whole attempt's; a connection that is not made by then is given up too. Milliseconds. */
  readonly timeoutMs: number
}

/** The most octets that are read of an answer's headers, or of all that an FTP server says. */
export const MAX_HEADER_BYTES = 16_384

export const ACCEPT = 'text/plain, */*;q=0.5'

/**
 * For a transport of the caller, which may have a cache. What a cache stored as whole may have been cut on its way there, and nothing
 * shows it any more. RFC 9111 §5.2.1.5.
 */
export const PAST_CACHES: Readonly<Record<string, string>> = { 'cache-control': 'no-store' }

/** The bodies that are read: those with rules, and those that may say that there are none. */
export function isBodyWanted(status: number, { notFoundPages }: AccessPolicy): boolean {
  return (status >= 200 && status <= 299) || (status >= 500 && notFoundPages === 'unavailable')
}
