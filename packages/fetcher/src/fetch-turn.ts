// Which of the clients that share a store fetches a robots.txt: the one that holds the lease of the origin.
import { setTimeout } from 'node:timers/promises'
import type { Entries } from './entries.ts'
import type { Settings } from './options.ts'
import type { Lease } from './store.ts'
import { STORE_TIMEOUT_MS } from './store-calls.ts'
import type { Telemetry } from './telemetry.ts'

/** Delays between two reads of the store while another client fetches, in milliseconds. They double from the first to the second. */
const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 500

/** One client's turn to fetch one robots.txt. */
export class FetchTurn {
  readonly #origin: string
  readonly #entries: Entries
  readonly #telemetry: Telemetry
  readonly #holdMs: number
  readonly #giveUpAt: number
  #pauseMs = 0
  #lease: Lease | undefined

  constructor(origin: string, entries: Entries, telemetry: Telemetry, { timeoutMs }: Settings) {
    this.#origin = origin
    this.#entries = entries
    this.#telemetry = telemetry
    // An attempt, and the calls of the store before and after it: get, and for a redirect get and set, and set.
    this.#holdMs = timeoutMs + 4 * STORE_TIMEOUT_MS
    // The lease of a dead holder expires in this time, and that of a second one. A store that has leases but saves no texts must not make
    // the clients of a fleet fetch one after the other.
    this.#giveUpAt = performance.now() + 2 * this.#holdMs
  }

  /** Whether this client holds the lease. */
  get hasLease(): boolean {
    return this.#lease !== undefined
  }

  /**
   * Takes the lease, or pauses if another client holds it. For a store without leases, or one that has failed, does neither.
   * @returns whether to read the store again, since another client may have fetched. If false, this client fetches without a lease.
   */
  async takeOrPause(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#entries.lease(this.#origin, this.#holdMs)
    if (lease === 'none') return false
    if (lease !== 'held') {
      this.#lease = lease
      return true
    }
    if (this.#pauseMs === 0) this.#telemetry.count('leaseWaits')
    if (performance.now() >= this.#giveUpAt) return false
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS)
    const jittered = this.#pauseMs * (0.5 + Math.random() / 2) // so that waiting clients do not read at the same moment
    await setTimeout(jittered, undefined, { signal }).catch(() => undefined)
    return true
  }

  /** Releases the lease, if this client has it. */
  async end(): Promise<void> {
    if (this.#lease !== undefined) await this.#entries.release(this.#origin, this.#lease)
  }
}
