// The calls of the caller's store: each has a time limit, and a store that does not respond is not
// called for a while.

import { StoreTimeoutError } from '../base/errors.ts'
import { withTimeout } from '../base/timeout.ts'
import type { StoreFailure, Telemetry } from '../report/telemetry.ts'

/** What a probe of the store asks for: the origin of no site. */
export const PROBED_ORIGIN = 'https://politely.invalid'

/**
 * How long to wait for a store without leases, in milliseconds. A store is there to save time, so a
 * slow one is treated as failed.
 */
export const STORE_TIMEOUT_MS = 2_000
/**
 * How long to wait for a store with leases, in milliseconds. It is slow when all its clients are
 * busy, and without it each of them would fetch the same robots.txt. Our choice.
 */
export const LEASING_STORE_TIMEOUT_MS = 10_000

/**
 * How long a store is not called after a call that took too long. Milliseconds; doubled after each
 * further one. Our choice.
 */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/**
 * A failure after so long counts as no response: the client of the store has its own time limit.
 * Milliseconds. Our choice.
 */
const SLOW_FAILURE_MS = 1_000

/**
 * After this time without a failure, any call that succeeds ends an outage: the operation that has
 * failed may not come again. Milliseconds. Our choice.
 */
const QUIET_MS = 60_000

/**
 * From the first call that fails until the same operation succeeds: a store that is full still reads.
 * The times are of `performance.now`.
 */
interface Outage {
  readonly since: number
  failures: number
  operation: StoreFailure['operation']
  failedAt: number
}

export class StoreCalls {
  readonly #telemetry: Telemetry
  readonly #closing: AbortSignal
  readonly #timeoutMs: number
  /** 0 while the store responds. */
  #pauseMs = 0
  #pausedAt = 0
  #resumeAt = 0
  #outage: Outage | undefined

  /**
   * @param closing After its abort, a store that does not respond does not keep the process alive.
   */
  constructor(telemetry: Telemetry, closing: AbortSignal, hasLeases = false) {
    this.#telemetry = telemetry
    this.#closing = closing
    this.#timeoutMs = hasLeases ? LEASING_STORE_TIMEOUT_MS : STORE_TIMEOUT_MS
  }

  /** How long the store has failed. Milliseconds; 0 while it works. */
  get outageMs(): number {
    return this.#outage === undefined ? 0 : performance.now() - this.#outage.since
  }

  /**
   * Calls the store. Resolves with undefined if the store throws or takes too long, which telemetry
   * reports, and while it is not called after that. The caller treats both like an empty store.
   */
  async call<T>(operation: StoreFailure['operation'], origin: string, call: () => Promise<T>): Promise<T | undefined> {
    const startedAt = performance.now()
    const timeoutMs = this.#timeoutMs
    if (!this.#isResponding(startedAt)) return undefined
    try {
      const onTimeout = () => {
        throw new StoreTimeoutError(operation, timeoutMs, this.#pause(startedAt))
      }
      const result = await withTimeout(call(), timeoutMs, onTimeout, this.#closing)
      this.#pauseMs = 0
      this.#works(operation)
      return result
    } catch (error) {
      if (!(error instanceof StoreTimeoutError)) {
        if (performance.now() - startedAt < SLOW_FAILURE_MS) this.#pauseMs = 0
        else this.#pause(startedAt)
      }
      this.#telemetry.storeFailed({ operation, origin, error }, this.#outage === undefined)
      this.#fails(operation)
      return undefined
    }
  }

  #fails(operation: StoreFailure['operation']): void {
    const failedAt = performance.now()
    const { since = failedAt, failures = 0 } = this.#outage ?? {}
    this.#outage = { since, failures: failures + 1, operation, failedAt }
  }

  #works(operation: StoreFailure['operation']): void {
    if (this.#outage === undefined) return
    if (operation !== this.#outage.operation && performance.now() - this.#outage.failedAt < QUIET_MS) return
    this.#telemetry.storeWorks(this.outageMs, this.#outage.failures)
    this.#outage = undefined
  }

  /**
   * Whether to call the store. After a pause, one call at a time finds out whether the store
   * responds again.
   */
  #isResponding(now: number): boolean {
    if (this.#pauseMs === 0) return true
    if (now < this.#resumeAt) return false
    this.#resumeAt = now + this.#timeoutMs
    return true
  }

  /**
   * A call that began at this time took too long. Returns how long the store is not called from now
   * on.
   */
  #pause(startedAt: number): number {
    if (this.#pauseMs === 0 || startedAt >= this.#pausedAt) {
      this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS)
      this.#pausedAt = performance.now()
      this.#resumeAt = this.#pausedAt + this.#pauseMs
    }
    return this.#pauseMs
  }
}
