// Tells failures of the crawler's own network from failures of a site.
//
// If nothing answers any more, the fault is here: the network is down, or the proxy. Then no site must
// pay for it. So a failure is doubtful if requests to three origins or more have failed since the
// last response of any origin, and none of these failures shows that the network works.
import type { PageOutcomeReason } from '@politely/core'
import { failuresThatAre } from '@politely/core/engine'

/** From so many origins on. Our choice. */
const DOUBTFUL_ORIGINS = 3

/** Failures after which the network is known to work: a server has answered, or the DNS has. */
const PROOFS = failuresThatAre('answered')

export class OwnNetwork {
  /** The origins whose requests have failed since the last response. */
  readonly #failed = new Set<string>()

  /** A response has arrived. */
  works(): void {
    if (this.#failed.size > 0) this.#failed.clear()
  }

  /** A request has failed without a response. Returns whether that may be the fault of the network here. */
  isDoubtful(origin: string, because: PageOutcomeReason): boolean {
    if (because === 'proxy') return true
    if (PROOFS.has(because)) {
      this.works()
      return false
    }
    if (this.#failed.size < DOUBTFUL_ORIGINS) this.#failed.add(origin)
    return this.#failed.size >= DOUBTFUL_ORIGINS
  }
}
