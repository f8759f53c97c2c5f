// Crawlee's clocks (requestHandlerTimeoutSecs, navigationTimeoutSecs), and how a wait at the gate is kept out of what they count.
import { createRequire } from 'node:module'

interface TimeoutModule {
  addTimeoutToPromise<T>(work: () => Promise<T>, timeoutMillis: number, message: string): Promise<T>
  /** Moves the end of every timeout that the caller runs under. */
  extendTimeout(extraMillis: number): void
}

/** Crawlee's own copy of @apify/timeout: another one, or its ESM form, would know nothing of Crawlee's timeouts. */
const { addTimeoutToPromise, extendTimeout }: TimeoutModule = createRequire(
  createRequire(import.meta.url).resolve('@crawlee/basic'),
)('@apify/timeout')

/** How often they are moved on. Far below any timeout that makes sense. */
const EVERY_MS = 100

/** Does something, for as long as it takes: timeouts of Crawlee that it runs under end later by that. */
export async function waitingOutside<T>(work: () => Promise<T>): Promise<T> {
  let counted = performance.now()
  const extend = () => {
    const now = performance.now()
    extendTimeout(now - counted)
    counted = now
  }
  const timer = setInterval(extend, EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    extend()
  }
}

/** Does something under a timeout of Crawlee's kind. 0 is none. */
export function within<T>(timeoutMs: number, message: string, work: () => Promise<T>): Promise<T> {
  return timeoutMs > 0 ? addTimeoutToPromise(work, timeoutMs, message) : work()
}
