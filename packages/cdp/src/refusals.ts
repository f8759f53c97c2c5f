// Remembers refusals, so that the caller can find out why a request failed.

import { LRUCache } from '@politely/fetcher/internal'
import type { RobotsDisallowedError } from '@politely/gate'

const MAX_REFUSALS = 1_000

/** A page chooses the length of its URLs, and Chromium permits 2 MB. Our choice. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * A failed request, in the form that Playwright and Puppeteer give it.
 * @inline
 */
export interface FailedRequest {
  failure(): unknown
  url(): string
}

/**
 * Remembers the last 1,000 refusals by URL, or fewer if they exceed 16 MiB, so that the caller can
 * find out why a request failed.
 */
export class Refusals {
  readonly #refusals = new LRUCache<string, RobotsDisallowedError>({
    max: MAX_REFUSALS,
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  })

  /** Adds a refusal. It replaces an earlier one of the same URL. */
  add(url: string, refusal: RobotsDisallowedError): void {
    this.#refusals.set(url, refusal)
  }

  /**
   * Looks a refusal up by the request's URL without its fragment. Undefined for a request that has
   * not failed.
   */
  of(request: FailedRequest): RobotsDisallowedError | undefined {
    return request.failure() === null ? undefined : this.#refusals.peek(request.url().replace(/#.*/s, ''))
  }
}

/**
 * Returns the size of the texts that a refusal may hold. Each counts separately, though some are
 * parts of others.
 */
function bytesOf({ message, verdict }: RobotsDisallowedError, url: string): number {
  return url.length + message.length + JSON.stringify(verdict).length
}
