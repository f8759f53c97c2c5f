// Extends Crawlee's timeouts (requestHandlerTimeoutSecs, navigationTimeoutSecs) by the time that a request waits at the gate.
import { createRequire } from 'node:module'

interface TimeoutModule {
  addTimeoutToPromise<T>(work: () => Promise<T>, timeoutMillis: number, message: string): Promise<T>
  /** Extends every timeout that the caller runs under. */
  extendTimeout(extraMillis: number): void
}

/** Crawlee's own copy of @apify/timeout. Another copy, or the ESM build, would not share Crawlee's timeouts. */
const { addTimeoutToPromise, extendTimeout }: TimeoutModule = createRequire(
  createRequire(import.meta.url).resolve('@crawlee/basic'),
)('@apify/timeout')

/** How often timeouts are extended. Far below any useful timeout. */
const EXTEND_EVERY_MS = 100

/** Runs `work`, and extends the Crawlee timeouts that it runs under by its duration. */
export async function outsideTimeouts<T>(work: () => Promise<T>): Promise<T> {
  let extendedUntil = performance.now()
  const extend = () => {
    const now = performance.now()
    extendTimeout(now - extendedUntil)
    extendedUntil = now
  }
  const timer = setInterval(extend, EXTEND_EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    extend()
  }
}

/** Runs `work` under a timeout that `outsideTimeouts` can extend. With `timeoutMs` 0, without a timeout. */
export function withTimeout<T>(timeoutMs: number, message: string, work: () => Promise<T>): Promise<T> {
  return timeoutMs > 0 ? addTimeoutToPromise(work, timeoutMs, message) : work()
}
