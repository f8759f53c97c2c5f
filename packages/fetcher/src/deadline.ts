// What must not outlast the deadline, although nobody can be sure that it heeds a signal: a fetch or a lookup of the caller's.

/** The promise, or the signal's reason if that comes first. Who gave the promise may still have to clean up after it. */
export function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const end = () => reject(deadline.reason)
  if (deadline.aborted) end()
  deadline.addEventListener('abort', end, { once: true })
  work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', end))
  return promise
}
