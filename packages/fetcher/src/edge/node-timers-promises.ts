// What the package uses of node:timers/promises, in runtimes without it.

/** Rejects with the reason of the signal when it is aborted. */
export function setTimeout(ms: number, value: undefined, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  const timer = globalThis.setTimeout(resolve, ms, value)
  signal.addEventListener('abort', abort)
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  })
}
