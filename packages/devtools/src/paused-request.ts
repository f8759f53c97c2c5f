// A request that stands still, or the answer to a document: what the DevTools protocol says of it, and how it may end.

interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/** `Fetch.requestPaused`, as far as it is looked at. */
export interface PausedRequest {
  /** Of one hop: the same for the request and its answer, another one after a redirect. */
  readonly requestId: string
  readonly request: { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined }
  readonly frameId: string
  readonly resourceType: string
  /** At a hop of a redirect: the hop before. */
  readonly redirectedRequestId?: string | undefined
  readonly responseStatusCode?: number | undefined
  readonly responseHeaders?: readonly HeaderEntry[] | undefined
  /** There is no answer. */
  readonly responseErrorReason?: string | undefined
}

/**
 * `page`: a navigation of a page. `service-worker`: the script of a service worker, or a request that a service worker makes.
 * `other`: whatever else a page loads.
 */
export type Kind = 'page' | 'service-worker' | 'other'

/** How a request fails, in the browser's words: `net::ERR_ABORTED` and `net::ERR_BLOCKED_BY_CLIENT`. */
export type Failure = 'Aborted' | 'BlockedByClient'
