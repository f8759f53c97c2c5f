// Several clients may share a store. Of these, only the client that holds the lease of an origin
// fetches its robots.txt; the others wait and read the result from the store.
import { setTimeout } from 'node:timers/promises'
import { LeaseTimeoutError } from '../base/errors.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Telemetry } from '../report/telemetry.ts'
import type { Lease } from '../store/store.ts'
import { LEASING_STORE_TIMEOUT_MS } from '../store/store-calls.ts'
import type { Entries } from './entries.ts'

/**
 * Delays between two reads of the store while another client fetches, in milliseconds. They double
 * from the first to the second.
 */
const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 500

/** The lease that one flight needs to fetch its robots.txt. */
export class FetchLease {
  readonly #origin: string
  readonly #entries: Entries
  readonly #telemetry: Telemetry
  readonly #leaseMs: number
  readonly #giveUpAt: number
  #pauseMs = 0
  #lease: Lease | undefined

  constructor(origin: string, entries: Entries, telemetry: Telemetry, { timeoutMs }: ClientSettings) {
    this.#origin = origin
    this.#entries = entries
    this.#telemetry = telemetry
    // The time of an attempt and of the five calls of the store around it, of which no more than one
    // takes long: the reply to `lease`, `get`, `get` and `set` for a redirect, and `set`.
    this.#leaseMs = timeoutMs + LEASING_STORE_TIMEOUT_MS
    // In this time the leases of two dead holders expire, one after the other. The wait must end: a
    // store that has leases but saves no texts must not make the clients of a fleet fetch one after
    // the other.
    this.#giveUpAt = performance.now() + 2 * this.#leaseMs
  }

  /**
   * Takes the lease, or waits a moment if another client holds it.
   * @returns `taken` or `waited`: read the store again, since another client may have fetched.
   * `without`: fetch without the lease, since the store has no leases or has failed, or since the
   * wait took too long.
   */
  async takeOrWait(signal: AbortSignal): Promise<'taken' | 'waited' | 'without'> {
    const lease = await this.#entries.lease(this.#origin, this.#leaseMs)
    if (lease === 'none') return 'without'
    if (lease !== 'held') {
      this.#lease = lease
      return 'taken'
    }
    if (this.#pauseMs === 0) this.#telemetry.count('leaseWaits')
    if (performance.now() >= this.#giveUpAt) {
      const error = new LeaseTimeoutError(2 * this.#leaseMs)
      this.#telemetry.storeFailed({ operation: 'lease', origin: this.#origin, error }, true)
      return 'without'
    }
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS)
    const jittered = this.#pauseMs * (0.5 + Math.random() / 2) // so that waiting clients do not read at the same moment
    await setTimeout(jittered, undefined, { signal }).catch(() => undefined)
    return 'waited'
  }

  /** Releases the lease, if it was taken. */
  async release(): Promise<void> {
    if (this.#lease !== undefined) await this.#entries.release(this.#origin, this.#lease)
  }
}
