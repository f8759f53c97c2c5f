// Counts the events of a gate, from its creation on.
import { isPushback, type PaceResponse } from '@politely/core/engine'
import type { ClientVerdict } from '@politely/fetcher'
import type { WaitReason } from '../pace/wait-cause.ts'

/** A snapshot of what a gate has counted. No count ever decreases. JSON-safe. */
export interface GateCounters {
  /** Requests that started. */
  readonly started: number
  /** Requests that started and have ended. */
  readonly done: number
  /** Responses with status 429 or 503. */
  readonly pushbacks: number
  /**
   * Requests that ended while they waited: aborted, rejected by `close`, or rejected because the
   * pacer failed.
   */
  readonly abandoned: number
  /** Requests that would have had to wait longer than `maxWaitMs`, or that had waited that long. */
  readonly tooLong: number
  /** Requests for which the queue was full (`maxQueuedPerKey`). */
  readonly queueFull: number
  /** Failures of the pacer that no request could be rejected with. */
  readonly failures: number
  /** Requests that had to wait, by what they waited for last. */
  readonly waits: Readonly<Record<WaitReason, number>>
  /** How long they waited in all, by the same reasons. Milliseconds. */
  readonly waitedMs: Readonly<Record<WaitReason, number>>
  /** Requests that robots.txt refused, by the reason of the verdict. */
  readonly refusals: Readonly<Partial<Record<ClientVerdict['because'], number>>>
}

const noWaits = (): Record<WaitReason, number> => ({
  'own-delay': 0,
  'crawl-delay': 0,
  'request-rate': 0,
  'visit-time': 0,
  'retry-after': 0,
  backoff: 0,
  cap: 0,
  'slow-site': 0,
  'pacer-failure': 0,
  concurrency: 0,
})

export class Counters {
  started = 0
  done = 0
  abandoned = 0
  tooLong = 0
  queueFull = 0
  failures = 0
  #pushbacks = 0
  readonly #waits = noWaits()
  readonly #waitedMs = noWaits()
  readonly #refusals: Partial<Record<ClientVerdict['because'], number>> = {}

  waited(reason: WaitReason, ms: number): void {
    this.#waits[reason]++
    this.#waitedMs[reason] += ms
  }

  responded(response: PaceResponse): void {
    if (isPushback(response)) this.#pushbacks++
  }

  refused(because: ClientVerdict['because']): void {
    this.#refusals[because] = (this.#refusals[because] ?? 0) + 1
  }

  snapshot(): GateCounters {
    const { started, done, abandoned, tooLong, queueFull, failures } = this
    return {
      started,
      done,
      pushbacks: this.#pushbacks,
      abandoned,
      tooLong,
      queueFull,
      failures,
      waits: { ...this.#waits },
      waitedMs: { ...this.#waitedMs },
      refusals: { ...this.#refusals },
    }
  }
}
