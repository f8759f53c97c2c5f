// What a gate counts, from its beginning on.
import type { ClientVerdict } from '@politely/fetcher'
import type { WaitReason } from './queue.ts'

/** They only grow. */
export interface GateCounters {
  /** Requests that left. */
  readonly started: number
  /** Of them, those that are over. */
  readonly done: number
  /** Answers that asked for a pause, 429 and 503. */
  readonly pushbacks: number
  /** Requests that gave up while they waited, or were turned away by `close`. */
  readonly abandoned: number
  /** Failures of the pacer. */
  readonly failures: number
  /** Requests that had to wait, by what they waited for in the end. */
  readonly waits: Readonly<Record<WaitReason, number>>
  /** How long they waited, in milliseconds, by the same. */
  readonly waitedMs: Readonly<Record<WaitReason, number>>
  /** Requests that robots.txt refused, by the verdict's reason. */
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
  concurrency: 0,
})

export class Tally {
  started = 0
  done = 0
  pushbacks = 0
  abandoned = 0
  failures = 0
  readonly #waits = noWaits()
  readonly #waitedMs = noWaits()
  readonly #refusals: Partial<Record<ClientVerdict['because'], number>> = {}

  waited(reason: WaitReason, ms: number): void {
    this.#waits[reason]++
    this.#waitedMs[reason] += ms
  }

  refused(because: ClientVerdict['because']): void {
    this.#refusals[because] = (this.#refusals[because] ?? 0) + 1
  }

  snapshot(): GateCounters {
    const { started: left, done, pushbacks, abandoned, failures } = this
    return {
      started: left,
      done,
      pushbacks,
      abandoned,
      failures,
      waits: { ...this.#waits },
      waitedMs: { ...this.#waitedMs },
      refusals: { ...this.#refusals },
    }
  }
}
