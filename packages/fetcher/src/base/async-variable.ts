// Values of the current async context, which the client and the gate use to recognise requests that
// are made by other requests.
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * One for the process, because on Node 22 each AsyncLocalStorage slows down every promise. It holds
 * the values of all variables.
 */
const storage = new AsyncLocalStorage<ReadonlyMap<AsyncVariable<unknown>, unknown>>()

/** A value of the current async context. Has the methods of an AsyncLocalStorage. */
export class AsyncVariable<T> {
  getStore(): T | undefined {
    return storage.getStore()?.get(this) as T | undefined
  }

  /** Calls a function in a new async context with this value. */
  run<R>(value: T, callback: () => R): R {
    return storage.run(new Map(storage.getStore()).set(this, value), callback)
  }
}
