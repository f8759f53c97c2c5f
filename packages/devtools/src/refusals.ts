// Remembers refusals, so that the caller can find out why a request failed.
import type { RobotsDisallowedError } from '@politely/gate'

const MAX_REFUSALS = 1_000

/** A failed request, in the form that Playwright and Puppeteer give it. */
export interface FailedRequest {
  failure(): unknown
  url(): string
}

/** Remembers the last 1,000 refusals by URL, so that the caller can find out why a request failed. */
export class Refusals {
  /** Refusals by URL, the latest last. */
  readonly #refusals = new Map<string, RobotsDisallowedError>()

  /** Adds a refusal. It replaces an earlier one of the same URL. */
  add(url: string, refusal: RobotsDisallowedError): void {
    this.#refusals.delete(url)
    this.#refusals.set(url, refusal)
    const [oldest] = this.#refusals.keys()
    if (this.#refusals.size > MAX_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest)
  }

  /** Looks a refusal up by the request's URL without its fragment. Undefined for a request that has not failed. */
  of(request: FailedRequest): RobotsDisallowedError | undefined {
    return request.failure() === null ? undefined : this.#refusals.get(request.url().replace(/#.*/s, ''))
  }
}
