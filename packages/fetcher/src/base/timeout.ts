// A time limit for work that has none.
import { onAbort } from './abort-listeners.ts'

/**
 * Settles like `work`. If it takes longer than `ms` milliseconds, settles with what `onTimeout`
 * returns or throws. The work goes on.
 * @param closing After its abort, the time limit does not keep the process alive.
 */
export async function withTimeout<T, U>(
  work: Promise<T>,
  ms: number,
  onTimeout: () => U,
  closing?: AbortSignal,
): Promise<T | U> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const removeListener = closing && onAbort(closing, () => timer.unref())
  try {
    return await Promise.race([work, tooLong.then(onTimeout)])
  } finally {
    clearTimeout(timer)
    removeListener?.()
  }
}
