// Remembers which redirects led to a page request, so that a public site cannot lead the browser to
// a private address.
import { LRUCache } from '@politely/fetcher/internal'

/** The memory of all chains. About 20,000 requests without redirects. Our choice. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * The memory of a chain without its texts: the array, the request ID and the links of the cache.
 */
const CHAIN_BYTES = 180

/**
 * The chains of requests that were sent, by request ID. The next hop removes the chain of the
 * previous one. The browser does not report the end of a request, so all other chains stay until
 * newer ones evict them.
 */
export class RedirectChains {
  readonly #chains = new LRUCache<string, readonly string[]>({
    maxSize: MAX_BYTES,
    sizeCalculation: (origins) => origins.reduce((bytes, origin) => bytes + origin.length, CHAIN_BYTES),
  })

  /** Adds a request that is about to be sent. `origins` ends with the request's own origin. */
  add(requestId: string, origins: readonly string[]): void {
    this.#chains.set(requestId, origins)
  }

  /**
   * Removes the chain of the previous hop and returns it: the origins whose redirects led to a
   * request, in order. Empty if it is not a redirect. Undefined if the chain was evicted, so that
   * the redirect must be refused.
   */
  take(redirectedRequestId: string | undefined): readonly string[] | undefined {
    if (redirectedRequestId === undefined) return []
    const origins = this.#chains.get(redirectedRequestId)
    this.#chains.delete(redirectedRequestId)
    return origins
  }
}
