// Watches over the reading of one file: its time, and the signal. Lets other events of the process
// happen meanwhile.
import { setImmediate } from 'node:timers/promises'
import type { SitemapReason } from '../file-result.ts'

/** Why a file ended early. */
export interface Stop {
  readonly reason: SitemapReason
  readonly detail?: string
}

/** The longest work without a turn of the event loop, in milliseconds. */
const MAX_BUSY_MS = 10

export class FileWatch {
  readonly signal: AbortSignal
  readonly #maxMs: number
  readonly #stopOnAbort: () => Stop | undefined
  #spentMs = 0
  /** Undefined while the caller has the entries. */
  #since: number | undefined = performance.now()
  #turnedAt = performance.now()

  /**
   * @param maxMs The time that the reader may take, without the time of the caller.
   * @param stopOnAbort Says why the file ends when the signal is aborted. If it returns undefined, the
   * reading rejects with the signal's reason.
   */
  constructor(maxMs: number, signal: AbortSignal, stopOnAbort: () => Stop | undefined) {
    this.#maxMs = maxMs
    this.signal = signal
    this.#stopOnAbort = stopOnAbort
  }

  get leftMs(): number {
    return this.#maxMs - this.#spentMs - (performance.now() - (this.#since ?? performance.now()))
  }

  /** Stops the clock, since the caller takes what was read. */
  pause(): void {
    this.#spentMs += performance.now() - (this.#since ?? performance.now())
    this.#since = undefined
  }

  resume(): void {
    this.#since = performance.now()
  }

  /** Returns why the file must end now. @throws the signal's reason. */
  async check(): Promise<Stop | undefined> {
    if (performance.now() - this.#turnedAt > MAX_BUSY_MS) {
      await setImmediate()
      this.#turnedAt = performance.now()
    }
    if (this.signal.aborted) return this.aborted()
    return this.leftMs <= 0 ? { reason: 'limit: maxFileMs' } : undefined
  }

  /** @throws the signal's reason, unless the reading goes on with other files. */
  aborted(): Stop {
    const stop = this.#stopOnAbort()
    if (stop === undefined) throw this.signal.reason
    return stop
  }
}
