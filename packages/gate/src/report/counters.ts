// Counts the events of a gate, from its creation on.
import type { ClientVerdict } from '@politely/fetcher'
import { PACE_REASONS, type WaitReason } from '../pace/wait-cause.ts'

/** A snapshot of what a gate has counted. No count ever decreases. JSON-safe. */
export interface GateCounters {
  /** Requests that started. */
  readonly started: number
  /** Requests that started and have ended. */
  readonly done: number
  /**
   * Responses that ask for fewer requests, by their status, by Retry-After, or by what `backoff` and
   * `isRateLimited` say.
   */
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
  /** Requests for which the `budget` of their pace key was used up. */
  readonly overBudget: number
  /** Circuits that opened, after so many failures in a row (`circuit`). */
  readonly circuitsOpened: number
  /** Requests that did not start because the circuit of their origin was open. */
  readonly circuitRefused: number
  /** Requests that started, or passed `check`, although robots.txt disallows them (`obey`). */
  readonly disobeyedRules: number
  /** Requests that started without a delay, rate or visit time that robots.txt asks for (`obey`). */
  readonly ignoredDelays: number
  /** Failures of the pacer that no request could be rejected with. */
  readonly failures: number
  /** Requests that started after a wait, by what they waited for last. */
  readonly waits: Readonly<Record<WaitReason, number>>
  /** How long they waited in all, by the same reasons. Milliseconds. */
  readonly waitedMs: Readonly<Record<WaitReason, number>>
  /**
   * The same requests, by the same reasons and by how long they waited. Each list has one number
   * for each bound of `waitBucketsMs`, and a last number for the longer waits. No request counts
   * twice.
   */
  readonly waitHistogram: Readonly<Record<WaitReason, readonly number[]>>
  /** Requests that robots.txt refused, by the reason of the verdict. */
  readonly refusals: Readonly<Partial<Record<ClientVerdict['because'], number>>>
}

/**
 * The name of a counter of a gate. `gateCounterMeanings` says what each counts.
 * @inline
 */
export type GateCounterName = keyof GateCounters

/** The counters of a gate, and the meaning of each. */
export const gateCounterMeanings: Readonly<Record<GateCounterName, string>> = {
  started: 'requests that started',
  done: 'requests that started and have ended',
  pushbacks:
    'responses that ask for fewer requests, by their status, by Retry-After, or by what `backoff` and `isRateLimited` say',
  abandoned:
    'requests that ended while they waited: aborted, rejected by `close`, or rejected because the pacer failed',
  tooLong: 'requests that would have had to wait longer than `maxWaitMs`, or that had waited that long',
  queueFull: 'requests for which the queue was full (`maxQueuedPerKey`)',
  overBudget: 'requests for which the `budget` of their pace key was used up',
  circuitsOpened: 'circuits that opened, after so many failures in a row (`circuit`)',
  circuitRefused: 'requests that did not start because the circuit of their origin was open',
  disobeyedRules: 'requests that started, or passed `check`, although robots.txt disallows them (`obey`)',
  ignoredDelays: 'requests that started without a delay, rate or visit time that robots.txt asks for (`obey`)',
  failures: 'failures of the pacer that no request could be rejected with',
  waits: 'requests that started after a wait, by what they waited for last',
  waitedMs: 'how long these requests waited in all, in milliseconds, by the same reasons',
  waitHistogram: 'the same requests, by the same reasons and by how long they waited',
  refusals: 'requests that robots.txt refused, by the reason of the verdict',
}

/** The longest wait in each bucket of `waitHistogram` but the last. Milliseconds. */
export const waitBucketsMs: readonly number[] = [100, 1_000, 10_000, 60_000, 600_000, 3_600_000]

const { concurrency, ...paceReasons } = PACE_REASONS
const WAIT_REASONS = Object.keys({ ...paceReasons, concurrency, circuit: true }) as readonly WaitReason[]

/** Returns a record with a value for each reason. */
const byReason = <T>(newValue: () => T) =>
  Object.fromEntries(WAIT_REASONS.map((reason) => [reason, newValue()])) as Record<WaitReason, T>
const zero = () => 0

/** Its public fields are the counters of `GateCounters` that are numbers, in the same order. */
export class GateCounts {
  started = 0
  done = 0
  pushbacks = 0
  abandoned = 0
  tooLong = 0
  queueFull = 0
  overBudget = 0
  circuitsOpened = 0
  circuitRefused = 0
  disobeyedRules = 0
  ignoredDelays = 0
  failures = 0
  readonly #waits = byReason(zero)
  readonly #waitedMs = byReason(zero)
  readonly #waitHistogram = byReason(() => [...waitBucketsMs, 0].fill(0))
  readonly #refusals: Partial<Record<ClientVerdict['because'], number>> = {}

  waited(reason: WaitReason, ms: number): void {
    this.#waits[reason]++
    this.#waitedMs[reason] += ms
    const bucket = waitBucketsMs.findIndex((bound) => ms <= bound)
    const counts = this.#waitHistogram[reason]
    const index = bucket === -1 ? counts.length - 1 : bucket
    counts[index] = (counts[index] as number) + 1
  }

  refused(because: ClientVerdict['because']): void {
    this.#refusals[because] = (this.#refusals[because] ?? 0) + 1
  }

  snapshot(): GateCounters {
    return {
      ...this,
      waits: { ...this.#waits },
      waitedMs: { ...this.#waitedMs },
      waitHistogram: structuredClone(this.#waitHistogram),
      refusals: { ...this.#refusals },
    }
  }
}
