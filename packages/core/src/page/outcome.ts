// The outcome of a request for a page, as values.
import type { PageFailureReason } from '../access/reply.ts'
import type { ResponseHeaders } from '../http/header-lines.ts'
import type { PagePrice } from './price.ts'

const KINDS = {
  served: { sentence: 'the page was served', may: ['be-stored'] },
  redirect: { sentence: 'the site redirected the request', may: ['be-stored'] },
  connection: { sentence: 'there was no usable response', may: ['fail', 'pass'] },
  'server-error': { sentence: 'the server could not answer', may: ['fail', 'pass'] },
  'rate-limited': { sentence: 'the site asks for fewer requests', may: ['fail', 'pass'] },
  challenge: { sentence: 'the site sent a challenge for browsers', may: ['fail'] },
  denied: { sentence: 'the site refuses the page to this crawler', may: ['fail'] },
  'payment-required': { sentence: 'the site asks for payment', may: ['fail'] },
  login: { sentence: 'the site asks for a login', may: ['fail'] },
  'not-found': { sentence: 'the site has no page for this request', may: ['fail', 'be-stored'] },
  gone: { sentence: 'the page is gone', may: ['fail', 'be-stored'] },
} as const

/**
 * What became of a request for a page, by what a crawler does next:
 *
 * - `served`: use the page. Any 2xx; and 304, which confirms the copy of the crawler.
 * - `redirect`: request the target. Any 3xx except 304.
 * - `not-found`: do not request this URL again soon, and continue with the site. 404, and every 4xx
 *   that is not listed here, such as 400, 405, 406 and 416: the site has no page for this request.
 * - `gone`: remove the URL. 410.
 * - `denied`: the site refuses the page to this crawler. 401, 403, 451.
 * - `payment-required`: the site asks for money. 402; see `price`.
 * - `challenge`: the site wants to see a browser. Any status: `because` says what shows it.
 * - `login`: the site wants a user. A redirect to a login page, or a login page with a 2xx.
 * - `rate-limited`: the site wants fewer requests. 429, and 430, which some servers send instead.
 * - `server-error`: try again later. Any 5xx except 511, whether or not it has a Retry-After; 408,
 *   421 and 425, after which the same request may succeed; and statuses from 600 on (RFC 9110 §15).
 * - `connection`: no usable response. DNS, TCP, TLS or HTTP failed, or a time limit passed; a 1xx,
 *   which ends no request; and 407 and 511, which the crawler's proxy or network sends.
 */
export type PageOutcomeKind = keyof typeof KINDS

/** The kinds of outcomes, in the order in which error messages list them, with a sentence for `describeOutcome`. */
export const outcomeKinds: {
  readonly [Kind in PageOutcomeKind]: {
    readonly sentence: string
    readonly may: readonly Parameters<typeof outcomesThatMay>[0][]
  }
} = KINDS

/**
 * Returns the kinds of outcomes that may do something:
 * - `fail`: count as a failure, for a circuit and for a retry.
 * - `pass`: the same request may succeed a little later.
 * - `be-stored`: the response says what the site has at this URL, so a cache may store it.
 */
export function outcomesThatMay(may: 'fail' | 'pass' | 'be-stored'): readonly PageOutcomeKind[] {
  return (Object.keys(outcomeKinds) as PageOutcomeKind[]).filter((kind) => outcomeKinds[kind].may.includes(may))
}

/**
 * What shows the outcome of a request for a page:
 *
 * - `status`: the status of the response.
 * - `no-usable-location`, `too-many-redirects`: the `redirect` cannot be followed.
 * - `challenge-header`: the header cf-mitigated or x-amzn-waf-action.
 * - `challenge-page`: the start of the page is that of a known challenge.
 * - `login-redirect`: the redirect leads to a login page, or fetch followed one there.
 * - `password-form`: the start of the page has a form for a password.
 * - `proxy`: the status says that the crawler's proxy or network must be paid or logged into: 407, 511.
 * - any other: the reason for `connection`, as in `Access.reason`.
 */
export type PageOutcomeReason =
  | 'status'
  | 'no-usable-location'
  | 'too-many-redirects'
  | 'challenge-header'
  | 'challenge-page'
  | 'login-redirect'
  | 'password-form'
  | 'proxy'
  | PageFailureReason

/** The outcome of a request for a page. JSON-safe. */
export interface PageOutcome {
  readonly kind: PageOutcomeKind
  readonly because: PageOutcomeReason
  /** The HTTP status; absent if there was no response. */
  readonly status?: number
  /**
   * How long the response asks to wait (Retry-After), with any status. Milliseconds, above 0 and at
   * most a day. Absent if it does not ask.
   */
  readonly retryAfterMs?: number
  /** What the site asks for the page (402), or what it charged. Absent if it names no price. */
  readonly price?: PagePrice
}

/**
 * The parts of a response that `outcomeOf` reads. A `Response` of fetch fits, and so do responses of
 * undici, node:http, got and axios, whose status may be `statusCode`.
 */
export interface PageResponse {
  readonly status: number
  /** A `Headers`, an object by name in any case, or pairs. */
  readonly headers: ResponseHeaders
  /**
   * The start of the decoded body, as bytes or as text, for challenges and login pages that headers do
   * not show. At least 4 KB are useful. At most the first 65,536 bytes or characters are read. Without
   * `head`, the bytes or the text in `body` (got) or `data` (axios) are read.
   */
  readonly head?: string | Uint8Array | ArrayBuffer
  /** The URL that sent this response. With it, a redirect from one login page to another is no `login`. */
  readonly url?: string
  /** Whether `url` is the target of a redirect that was followed. */
  readonly redirected?: boolean
}

// What statuses say of a request for a page.

/** The statuses that differ from the other 4xx or 5xx. */
export const STATUS_KINDS: Readonly<Record<number, PageOutcomeKind>> = {
  401: 'denied',
  402: 'payment-required',
  403: 'denied',
  407: 'connection',
  408: 'server-error', // RFC 9110 §15.5.9: the client may repeat the request on a new connection
  410: 'gone',
  421: 'server-error', // RFC 9110 §15.5.20: the same
  425: 'server-error', // RFC 8470 §5.2: the same, after the TLS handshake
  429: 'rate-limited',
  430: 'rate-limited',
  451: 'denied',
  511: 'connection', // RFC 6585 §6: not from the site
}
