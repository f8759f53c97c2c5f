// A time limit for work that has none, and the limits of timers.
import { onAbort } from './abort-listeners.ts'

/** The latest time that a Date can have, in milliseconds since 1970: in about 280,000 years. */
export const MAX_TIME_MS = 8.64e15

/** The longest delay of a timer, in milliseconds. With a longer one, Node does not wait at all. */
export const MAX_TIMEOUT_MS: number = 2 ** 31 - 1

/**
 * The longest part of a wait, in milliseconds. A wait may be longer than the longest timer, so it
 * is split into several timers. Each reads the clock again.
 */
export const MAX_TIMER_MS: number = 60 * 60 * 1000

/**
 * A key of the options of fetch. If it is true, `requestTimeoutMs` of `politely` ends when the headers
 * of the response have arrived: the caller has a time limit for the body.
 */
export const UNTIL_HEADERS: unique symbol = Symbol.for('politely.untilHeaders')

/**
 * A time limit consists of so many timers, one after the other. If the process does not run for a
 * while, because its event loop is blocked or the machine is busy, one of them fires late. The
 * results that have arrived meanwhile are read before the next one fires.
 */
const TIMERS = 20

/**
 * Settles like `work`. If it takes longer than `ms` milliseconds, settles with what `onTimeout`
 * returns or throws. The work goes on. Time during which this process does not run hardly counts.
 * @param closing After its abort, the time limit does not keep the process alive.
 */
export async function withTimeout<T, U>(
  work: Promise<T>,
  ms: number,
  onTimeout: () => U,
  closing?: AbortSignal,
): Promise<T | U> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  let timersLeft = TIMERS
  const startTimer = () => {
    if (timersLeft-- === 0) return resolve()
    timer = setTimeout(startTimer, ms / TIMERS)
    if (closing?.aborted) timer.unref()
  }
  startTimer()
  const removeListener = closing && onAbort(closing, () => timer?.unref())
  try {
    return await Promise.race([work, tooLong.then(onTimeout)])
  } finally {
    clearTimeout(timer)
    removeListener?.()
  }
}
