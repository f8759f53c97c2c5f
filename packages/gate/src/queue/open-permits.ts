// The permits of a gate that have started and are not released. Warns if one is never released.
//
// One timer serves all permits. It runs while permits are open, and remembers the oldest of them.
// If that one is still open when the timer fires, it has been open for at least the whole time. So
// the warning comes after one to two times `releaseWarningMs`. The timer does not keep the process
// alive, and it uses no clock: neither a fake one of a test, nor the clock of the gate.
import { escapeControls } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import { MAX_TIMEOUT_MS } from '@politely/fetcher/internal'
import { durationText } from '../report/duration.ts'
import type { GateLog } from '../report/gate-log.ts'

/** A permit that has started. */
export interface OpenPermit {
  /** The pace key. */
  readonly key: string
  readonly url: string
  /** The time of the gate's clock. */
  readonly startedAt: number
  /** The stack of the call of `enter`, if the process runs with `NODE_DEBUG=politely`. */
  readonly enteredAt: string | undefined
}

// Read when this module is loaded, before a test replaces them.
const startTimer = setTimeout
const stopTimer = clearTimeout

export class OpenPermits {
  readonly #log: GateLog
  readonly #warningMs: number
  /** In the order in which they started. */
  readonly #open = new Set<OpenPermit>()
  #timer: NodeJS.Timeout | undefined
  /** The oldest permit when the timer was started. */
  #watched: OpenPermit | undefined
  #isWatching: boolean

  /** @param warningMs Infinity for no warning. */
  constructor(log: GateLog, warningMs: number) {
    this.#log = log
    this.#warningMs = warningMs
    this.#isWatching = warningMs < Number.POSITIVE_INFINITY
  }

  add(permit: OpenPermit): void {
    this.#open.add(permit)
    if (this.#timer === undefined && this.#isWatching) this.#watch(permit)
  }

  delete(permit: OpenPermit): void {
    this.#open.delete(permit)
  }

  get oldest(): OpenPermit | undefined {
    return this.#open.values().next().value
  }

  /** Returns when the oldest permit of each pace key started, by the gate's clock. */
  oldestByKey(): ReadonlyMap<string, number> {
    const oldest = new Map<string, number>()
    for (const { key, startedAt } of this.#open) if (!oldest.has(key)) oldest.set(key, startedAt)
    return oldest
  }

  /** Warns no more. To be called when the gate is closed. */
  stop(): void {
    this.#isWatching = false
    stopTimer(this.#timer)
    this.#timer = undefined
    this.#watched = undefined
  }

  #watch(oldest: OpenPermit): void {
    this.#watched = oldest
    this.#timer = startTimer(() => this.#check(), Math.min(this.#warningMs, MAX_TIMEOUT_MS)).unref()
  }

  #check(): void {
    this.#timer = undefined
    const { oldest } = this
    if (oldest !== undefined && oldest === this.#watched) this.#warn(oldest)
    else if (oldest !== undefined) this.#watch(oldest)
    else this.#watched = undefined
  }

  #warn({ url, enteredAt }: OpenPermit): void {
    this.stop() // one warning is enough
    const hint = enteredAt === undefined ? '; NODE_DEBUG=politely shows where the request entered the gate' : ''
    const message = `the permit for ${escapeControls(withoutCredentials(url))} has not been released for ${durationText(this.#warningMs)}, and requests may wait for it; release each permit: read each response to its end, or call permit.release(); if requests take longer, write the option releaseWarningMs${hint}`
    this.#log.warn(message)
    process.emitWarning(message, {
      type: 'PolitelyWarning',
      code: 'POLITELY_UNRELEASED_PERMIT',
      ...(enteredAt !== undefined && { detail: enteredAt }),
    })
  }
}
