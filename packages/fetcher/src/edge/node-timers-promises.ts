// What the package uses of node:timers/promises, in runtimes without it.
import { onAbort } from '../base/abort-listeners.ts'

/** Rejects with the reason of the signal when it is aborted. */
export function setTimeout(ms: number, value: undefined, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = globalThis.setTimeout(resolve, ms, value)
  const unlisten = onAbort(signal, () => reject(signal.reason))
  return promise.finally(() => {
    clearTimeout(timer)
    unlisten()
  })
}
