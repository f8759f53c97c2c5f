// A store in memory answers at once, which costs no promise and no turn of the event loop.
import { isPromise } from '@politely/core/internal'
import type { Awaitable } from './page-store.ts'

/** Calls `next` with a value: at once, or when the promise of it resolves. */
export function withValue<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromise(value) ? value.then(next) : next(value)
}

/** Does work that may fail at once or later. Then `failed` decides the result. */
export function attempted<T, R>(work: () => Awaitable<T>, failed: (error: unknown) => R): Awaitable<T | R> {
  try {
    const result = work()
    return isPromise(result) ? result.then(undefined, failed) : result
  } catch (error) {
    return failed(error)
  }
}
