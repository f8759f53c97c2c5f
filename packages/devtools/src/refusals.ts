// Refusals that are remembered, so that a request that failed can be asked why.
import type { RobotsDisallowedError } from '@politely/gate'

const MAX_REFUSALS = 1_000

/** A request as drivers tell of it. */
export interface FailedRequest {
  failure(): unknown
  url(): string
}

export class Refusals {
  /** By URL, the latest last. */
  readonly #refusals = new Map<string, RobotsDisallowedError>()

  add(url: string, refusal: RobotsDisallowedError): void {
    this.#refusals.delete(url)
    this.#refusals.set(url, refusal)
    const [oldest] = this.#refusals.keys()
    if (this.#refusals.size > MAX_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest)
  }

  /** By what was asked for: a URL without its fragment. */
  of(request: FailedRequest): RobotsDisallowedError | undefined {
    return request.failure() === null ? undefined : this.#refusals.get(request.url().replace(/#.*/s, ''))
  }
}
