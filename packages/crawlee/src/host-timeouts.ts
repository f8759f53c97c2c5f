// Extends Crawlee's timeouts (requestHandlerTimeoutSecs, navigationTimeoutSecs) by the time that
// requests wait at the gate, and up to a limit by the time that checks of page requests take.
import type { AsyncLocalStorage } from 'node:async_hooks'
import { requireLikeCrawlee } from './crawlee-copy.ts'

interface TimeoutModule {
  addTimeoutToPromise<T>(work: () => Promise<T>, timeoutMillis: number, message: string): Promise<T>
  /** Extends every timeout that the caller runs under. */
  extendTimeout(extraMillis: number): void
  /** Contains the innermost timeout that the caller runs under. */
  readonly storage: AsyncLocalStorage<object>
}

/**
 * Crawlee's own copy of @apify/timeout. Another copy, or the ESM build, would not share Crawlee's
 * timeouts.
 */
const { addTimeoutToPromise, extendTimeout, storage }: TimeoutModule = requireLikeCrawlee('@apify/timeout')

/** How often timeouts are extended. Far below any useful timeout. */
const EXTEND_EVERY_MS = 100

/**
 * How much page requests may extend one timeout. Milliseconds; our choice. A page can request
 * any number of hosts that never respond, so without a limit it would never time out. A fetch of
 * robots.txt takes up to 20 seconds by default, so one such host is covered, or several at once.
 */
const MAX_EXTENSION_BY_PAGE_REQUESTS_MS = 30_000

/** How a request waits: at the gate, or for the verdict of a page request. */
type WaitKind = 'gate' | 'page-request'

/**
 * Stops the clock of one timeout, and of the timeouts around it, while at least one request waits.
 * Its methods must be called under the timeout.
 */
class TimeoutExtender {
  readonly #waiting: Record<WaitKind, number> = { gate: 0, 'page-request': 0 }
  #remainingForPageRequestsMs = MAX_EXTENSION_BY_PAGE_REQUESTS_MS
  #extendedUntil = 0
  #timer: NodeJS.Timeout | undefined

  /** Begins or ends a wait. */
  change(kind: WaitKind, by: 1 | -1): void {
    this.#extend()
    this.#waiting[kind] += by
    if (this.#waiting.gate + this.#waiting['page-request'] > 0) {
      this.#timer ??= setInterval(() => this.#extend(), EXTEND_EVERY_MS)
    } else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #extend(): void {
    const now = performance.now()
    const elapsedMs = now - this.#extendedUntil
    this.#extendedUntil = now
    if (this.#waiting.gate > 0) extendTimeout(elapsedMs)
    else if (this.#waiting['page-request'] > 0) {
      const extraMs = Math.min(elapsedMs, this.#remainingForPageRequestsMs)
      this.#remainingForPageRequestsMs -= extraMs
      extendTimeout(extraMs)
    }
  }
}

/** By the innermost timeout that each one extends. */
const extenders = new WeakMap<object, TimeoutExtender>()

/**
 * Runs `work`, and extends the Crawlee timeouts that it runs under. Time during which several
 * requests wait counts once.
 */
export async function outsideTimeouts<T>(kind: WaitKind, work: () => Promise<T>): Promise<T> {
  const timeout = storage.getStore()
  if (timeout === undefined) return work()
  const extender = extenders.get(timeout) ?? new TimeoutExtender()
  extenders.set(timeout, extender)
  extender.change(kind, 1)
  try {
    return await work()
  } finally {
    extender.change(kind, -1)
  }
}

/**
 * Runs `work` under a timeout that `outsideTimeouts` can extend. With `timeoutMs` 0, without a
 * timeout.
 */
export function withHostTimeout<T>(timeoutMs: number, message: string, work: () => Promise<T>): Promise<T> {
  return timeoutMs > 0 ? addTimeoutToPromise(work, timeoutMs, message) : work()
}
