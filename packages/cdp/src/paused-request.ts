// A paused request, or the paused response to a document request: the fields of
// `Fetch.requestPaused` that the guard reads, and how a request may fail.

/**
 * A header of a response, as the DevTools protocol represents it.
 * @inline
 */
export interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/**
 * The parameters of the event `Fetch.requestPaused` that the guard reads.
 * @inline
 */
export interface PausedRequest {
  /** Identifies one hop: the same for a request and its response, another one after a redirect. */
  readonly requestId: string
  readonly request: { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined }
  readonly frameId: string
  readonly resourceType: string
  /**
   * Identifies the request, with its redirects, in the driver and in the events of the Network
   * domain. Some requests have none.
   */
  readonly networkId?: string | undefined
  /** Set on a redirected request: the `requestId` of the previous hop. */
  readonly redirectedRequestId?: string | undefined
  readonly responseStatusCode?: number | undefined
  /** The reason phrase, such as `Not Found`. */
  readonly responseStatusText?: string | undefined
  readonly responseHeaders?: readonly HeaderEntry[] | undefined
  /** Set when the request failed without a response. */
  readonly responseErrorReason?: string | undefined
}

/** The failures that may be the site's. The others are the caller's: an abort, a blocked request, no network. */
const OF_THE_SITE =
  /^(?:Failed|TimedOut|Connection(?:Closed|Reset|Refused|Aborted|Failed)|NameNotResolved|AddressUnreachable)$/

/**
 * Returns why a request failed without a response, with Chromium's name for it, such as
 * `net::ERR_CONNECTION_REFUSED`. Undefined if the failure is not the site's.
 */
export function siteErrorOf({ responseErrorReason: reason = '' }: PausedRequest): Error | undefined {
  const name = reason.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
  return OF_THE_SITE.test(reason) ? new Error(`net::ERR_${name}`) : undefined
}

/**
 * Returns the first response header with this name and a value, or null. `name` is in lower case.
 * Chromium reads `Location` in the same way: a response without a value there is not a redirect.
 */
export function responseHeader({ responseHeaders = [] }: PausedRequest, name: string): string | null {
  return responseHeaders.find((header) => header.name.toLowerCase() === name && header.value !== '')?.value ?? null
}

/**
 * `page`: a navigation of a page's main frame. `service-worker`: the script of a service worker, or
 * a request that a service worker makes. `other`: every other page request.
 * @inline
 */
export type RequestKind = 'page' | 'service-worker' | 'other'

/**
 * The protocol's name for a failure: the page sees `net::ERR_ABORTED` or
 * `net::ERR_BLOCKED_BY_CLIENT`.
 * @inline
 */
export type ErrorReason = 'Aborted' | 'BlockedByClient'
