// From the request for robots.txt to an outcome, redirects included. RFC 9309 §2.3.1.
//
// A state machine of two states, `asking` and an outcome. It holds no socket: its caller makes the request that it
// names, gives it the reply, and goes on until there is an outcome.

import { textOf } from '../bytes.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import type { Copy } from './copy.ts'
import type { Hop, Outcome, UnavailableReason } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { isNotFoundPage, type Reply, type Response } from './reply.ts'

/** A request is due. */
export interface RobotsRequest {
  readonly kind: 'request'
  readonly url: string
  /** Headers of the condition, if there is one. */
  readonly conditions: Readonly<Record<string, string>>
  /** The redirects that led here. */
  readonly hops: readonly Hop[]
  /** The copy at hand, whose server may say that it is still the file. */
  readonly copy: Copy | undefined
}

/** The first request for an origin's robots.txt; with a copy at hand, it asks only whether that has changed. */
export function startAttempt(robotsUrl: string, copy?: Copy): RobotsRequest {
  return asking(robotsUrl, [], copy)
}

/** What a reply means: another request, or an outcome. Each row of the RFC's §2.3.1 once. */
export function advance(at: RobotsRequest, reply: Reply, policy: AccessPolicy): RobotsRequest | Outcome {
  const { url, hops } = at
  if (reply.kind === 'failure') {
    return { kind: 'unreachable', reason: reply.reason, detail: reply.detail, url, hops } // §2.3.1.4
  }
  const { status, headers, body } = reply
  if (isPartial(status, headers)) {
    return { kind: 'unreachable', reason: 'truncated', status, headers, url, hops } // the rest could hold the rule that forbids
  }
  if (status >= 200 && status <= 299) {
    return { kind: 'success', status, headers, body: body ?? { bytes: '', truncated: false }, url, hops } // §2.3.1.1
  }
  if (status === 304 && at.copy !== undefined && Object.keys(at.conditions).length > 0) {
    return { kind: 'unchanged', copy: at.copy, status, headers, url, hops }
  }
  if (status >= 300 && status <= 399 && status !== 304) return follow(at, reply, policy) // §2.3.1.2
  if ((status === 401 || status === 403) && policy.forbidden === 'restricted') {
    return { kind: 'restricted', reason: 'status', status, headers, url, hops } // the draft of 1996, §3.1
  }
  if (isNotFoundPage(reply, policy)) {
    return { kind: 'unavailable', reason: 'not-found-page', status, headers, url, hops } // Google
  }
  if (status >= 400 && status <= 499 && status !== 429) {
    return { kind: 'unavailable', reason: 'status', status, headers, url, hops } // §2.3.1.3
  }
  // 429 counts as 5xx (Google); a 304 to a request without conditions, 1xx and what no standard names are undefined. §2.3.1.4.
  return { kind: 'unreachable', reason: 'status', status, headers, url, hops }
}

/** Returns whether the body of a 2xx, for which we sent no Range and no A-IM, may be only a part of the file or a change to it. */
function isPartial(status: number, headers: Headers): boolean {
  if (status === 226) return headers.im !== undefined // RFC 3229 §10.4.1: the IM header says what was done to the file
  return status === 206 && !isWhole(headers)
}

/**
 * Returns whether a 206 is the whole file. RFC 9110 §14.4, §15.3.7. One without Content-Range is, unless its body is in parts: some
 * servers answer every request with 206.
 */
function isWhole(headers: Headers): boolean {
  if (/multipart\/byteranges/i.test(headerOf(headers, 'content-type') ?? '')) return false
  const range = headerOf(headers, 'content-range')
  if (range === undefined) return true
  const [, last, length] = /^\s*bytes\s+0-(\d+)\/(\d+)\s*$/i.exec(range) ?? [] // several headers are joined, and do not match
  return Number.isSafeInteger(Number(length)) && Number(last) + 1 === Number(length)
}

/** §2.3.1.2: at least five, also to other hosts; then the file is unavailable. */
function follow(at: RobotsRequest, { status, headers }: Response, policy: AccessPolicy): RobotsRequest | Outcome {
  const { url, hops } = at
  const nowhere = (reason: UnavailableReason): Outcome => ({ kind: 'unavailable', reason, status, headers, url, hops })
  const next = locationOf(headers, url)
  if (next === undefined) return nowhere('no-usable-location')
  if (next === url || hops.some((hop) => hop.url === next)) return nowhere('redirect-loop')
  if (hops.length >= policy.maxRedirects) return nowhere('too-many-redirects')
  return asking(next, [...hops, { url, status }], at.copy)
}

function asking(url: string, hops: readonly Hop[], copy: Copy | undefined): RobotsRequest {
  const conditions: Record<string, string> = {}
  if (copy?.url === url) {
    if (copy.etag) conditions['if-none-match'] = copy.etag // RFC 9110 §13.1
    if (copy.lastModified) conditions['if-modified-since'] = copy.lastModified
  }
  return { kind: 'request', url, conditions, hops, copy }
}

/**
 * Where a redirect leads, or undefined: no Location, several that differ, none that is a URL, or a scheme that has no
 * robots.txt.
 */
function locationOf(headers: Headers, base: string): string | undefined {
  const given = headers.location
  const [location, ...others] = typeof given === 'string' ? [given] : new Set(given)
  if (location === undefined || location.trim() === '' || others.length > 0) return undefined
  const target = URL.parse(asUtf8(location), base)
  if (target === null || !['http:', 'https:', 'ftp:'].includes(target.protocol)) return undefined
  // A request shows neither of these; credentials that a site hands out are not ours to use.
  target.username = ''
  target.password = ''
  target.hash = ''
  return target.href
}

/** A header's value is bytes; those of a Location are UTF-8 where they can be, as browsers take them (WHATWG Fetch). */
function asUtf8(bytes: string): string {
  const text = textOf(bytes)
  return text.includes('\ufffd') ? bytes : text
}
