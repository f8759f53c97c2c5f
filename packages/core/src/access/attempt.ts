// One attempt to fetch robots.txt: from the first request to an outcome, redirects included.
// RFC 9309 §2.3.1.
//
// A state machine that does no I/O. `startAttempt` returns the first request. The caller sends each
// request and passes the reply to `advance`, which returns the next request or the outcome.

import { textOf } from '../bytes.ts'
import { type Headers, headerOf } from '../http/headers.ts'
import { urlOrNull } from '../url/url-or-null.ts'
import type { Copy } from './copy.ts'
import { looksLikeOf } from './looks-like.ts'
import { isNotFoundPage } from './not-found-page.ts'
import type { Hop, Outcome, UnavailableReason } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { type Body, failuresThatAre, type Reply, type Response } from './reply.ts'

/** A request that the caller has to send. */
export interface AttemptRequest {
  readonly kind: 'request'
  readonly url: string
  /**
   * The headers that make the request conditional, such as `if-none-match`; empty for an
   * unconditional request.
   */
  readonly conditions: Readonly<Record<string, string>>
  /** The redirects that led to this URL. */
  readonly hops: readonly Hop[]
  /** The cached copy, which a 304 confirms. */
  readonly copy: Copy | undefined
}

/**
 * Returns the first request for an origin's robots.txt. It is conditional if `copy` came from this
 * URL, is complete, and has a validator.
 */
export function startAttempt(robotsUrl: string, copy?: Copy): AttemptRequest {
  return requestFor(robotsUrl, [], copy)
}

/** Returns what follows from a reply: the next request or the outcome. RFC 9309 §2.3.1. */
export function advance(at: AttemptRequest, reply: Reply, policy: AccessPolicy): AttemptRequest | Outcome {
  const { url, hops } = at
  if (reply.kind === 'failure') {
    const { reason, detail, retryAfterMs } = reply
    return { kind: 'unreachable', reason, detail, retryAfterMs, url, hops } // §2.3.1.4
  }
  const { status, headers, body } = reply
  const isConditional = Object.keys(at.conditions).length > 0
  const isClientError = status >= 400 && status <= 499 && status !== 429
  // The conditions may be what the server rejects, with a 412 or 431 for example, so such a reply
  // does not say that the file is gone.
  if (isClientError && isConditional) return { ...at, conditions: {} }
  if (isPartial(reply)) {
    return { kind: 'unreachable', reason: 'truncated', status, headers, url, hops } // the missing part may contain a Disallow
  }
  if (status === 304 && at.copy !== undefined && isConditional) {
    return { kind: 'unchanged', copy: at.copy, status, headers, url, hops, looksLike: at.copy.looksLike }
  }
  const looksLike = looksLikeOf(reply)
  if (looksLike !== undefined && policy.foreignBodies === 'unreachable') {
    return { kind: 'unreachable', reason: 'foreign-body', status, headers, url, hops, looksLike }
  }
  if (status >= 200 && status <= 299) {
    return { kind: 'success', status, headers, body: body ?? EMPTY, url, hops, looksLike } // §2.3.1.1
  }
  if (status >= 300 && status <= 399 && status !== 304) return followRedirect(at, reply, policy) // §2.3.1.2
  if ((status === 401 || status === 403) && policy.forbidden === 'restricted') {
    return { kind: 'restricted', reason: 'status', status, headers, url, hops, looksLike } // the draft of 1996, §3.1
  }
  if (isNotFoundPage(reply, policy)) {
    return { kind: 'unavailable', reason: 'not-found-page', status, headers, url, hops } // Google
  }
  if (isClientError) {
    return { kind: 'unavailable', reason: 'status', status, headers, url, hops, looksLike } // §2.3.1.3
  }
  // 429 counts as 5xx (Google). No standard defines the rest: a 304 to an unconditional request,
  // 1xx and unknown classes. §2.3.1.4.
  return { kind: 'unreachable', reason: 'status', status, headers, url, hops, looksLike }
}

/**
 * Returns whether the body of a 2xx response may be only a part of the file, or a change to it,
 * although the request had neither Range nor A-IM.
 */
function isPartial({ status, headers, body }: Response): boolean {
  if (status === 226) return headers.im !== undefined // RFC 3229 §10.4.1: the IM header names what was applied to the file
  return status === 206 && !isWholeFile(headers, body)
}

/**
 * Returns whether a 206 response holds the whole file: its Content-Range claims the whole file, and
 * its body is as long as the file. RFC 9110 §14.4, §15.3.7. If the size limit cut the body, the
 * file must be longer than the part that was kept.
 */
function isWholeFile(headers: Headers, { bytes, truncated }: Body = EMPTY): boolean {
  if (/multipart\/byteranges/i.test(headerOf(headers, 'content-type') ?? '')) return false
  // A repeated header is joined with commas and does not match.
  const [, last, length] = /^\s*bytes\s+0-(\d+)\/(\d+)\s*$/i.exec(headerOf(headers, 'content-range') ?? '') ?? []
  const fileBytes = Number(length)
  if (!Number.isSafeInteger(fileBytes) || Number(last) + 1 !== fileBytes) return false
  return truncated ? fileBytes > bytes.length : fileBytes === bytes.length
}

const EMPTY: Body = { bytes: '', truncated: false }

/**
 * Returns the request to the redirect's target. §2.3.1.2 asks for at least five redirects, also to
 * other hosts. Beyond `maxRedirects`, in a loop, or without a usable target, robots.txt is
 * unavailable.
 */
function followRedirect(
  at: AttemptRequest,
  { status, headers }: Response,
  policy: AccessPolicy,
): AttemptRequest | Outcome {
  const { url, hops } = at
  const unavailable = (reason: UnavailableReason): Outcome => ({
    kind: 'unavailable',
    reason,
    status,
    headers,
    url,
    hops,
  })
  const next = redirectTarget(headers, url)
  if (next === undefined) return unavailable('no-usable-location')
  if (next === url || hops.some((hop) => hop.url === next)) return unavailable('redirect-loop')
  if (hops.length >= policy.maxRedirects) return unavailable('too-many-redirects')
  return requestFor(next, [...hops, { url, status }], at.copy)
}

function requestFor(url: string, hops: readonly Hop[], copy: Copy | undefined): AttemptRequest {
  const conditions: Record<string, string> = {}
  // A 304 would confirm only the part that was kept. Another size limit may have cut it, so a
  // truncated copy is fetched in full.
  if (copy?.url === url && !copy.truncated) {
    if (copy.etag) conditions['if-none-match'] = copy.etag // RFC 9110 §13.1
    if (copy.lastModified) conditions['if-modified-since'] = copy.lastModified
  }
  return { kind: 'request', url, conditions, hops, copy }
}

/**
 * Returns the URL that a redirect leads to. Returns undefined if Location is missing or an invalid
 * URL, if several Locations differ, or if the scheme is not `http:`, `https:` or `ftp:`, the
 * schemes that have a robots.txt.
 */
function redirectTarget(headers: Headers, base: string): string | undefined {
  const given = headers.location
  const [location, ...others] = typeof given === 'string' ? [given] : new Set(given)
  if (location === undefined || location.trim() === '' || others.length > 0) return undefined
  const target = urlOrNull(decodeIfUtf8(location), base)
  if (target === null || !['http:', 'https:', 'ftp:'].includes(target.protocol)) return undefined
  // The site's credentials are not ours to use, and the fragment is not sent. Without them, equal
  // requests have equal URLs.
  target.username = ''
  target.password = ''
  target.hash = ''
  return target.href
}

/**
 * Decodes a Location as UTF-8 if its bytes are valid UTF-8, as browsers do (WHATWG Fetch);
 * otherwise returns them as latin1.
 */
function decodeIfUtf8(bytes: string): string {
  const text = textOf(bytes)
  return text.includes('\ufffd') ? bytes : text
}

const PASSING = failuresThatAre('passing')

/**
 * Returns whether to repeat a request within the same attempt, a moment later. That is so after
 * 5xx and failures that are often transient, and never after a success, a redirect or a 4xx. A 429
 * asks for fewer requests, and Retry-After sets the time of the next attempt, so neither is
 * followed by a retry.
 */
export function isWorthRetrying(reply: Reply, policy: AccessPolicy): boolean {
  if (reply.kind === 'failure') return PASSING.has(reply.reason)
  if (isNotFoundPage(reply, policy)) return false
  return reply.status >= 500 && reply.headers['retry-after'] === undefined
}
