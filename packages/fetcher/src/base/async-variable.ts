// Values of the current async context, which the client and the gate use to recognise requests that
// are made by other requests.
import { AsyncLocalStorage } from 'node:async_hooks'

/** The value of one variable in a context. A context has one frame for each variable that is set. */
interface Frame {
  readonly variable: AsyncVariable<unknown>
  readonly value: unknown
  readonly outer: Frame | undefined
}

/**
 * One for the process, because on Node 22 each AsyncLocalStorage slows down every promise. It holds
 * the values of all variables.
 */
const storage = new AsyncLocalStorage<Frame | undefined>()

/** A value of the current async context. Has the methods of an AsyncLocalStorage. */
export class AsyncVariable<T> {
  getStore(): T | undefined {
    let frame = storage.getStore()
    while (frame !== undefined && frame.variable !== this) frame = frame.outer
    return frame?.value as T | undefined
  }

  /** Calls a function in a new async context with this value. */
  run<R>(value: T, callback: () => R): R {
    return storage.run({ variable: this, value, outer: withoutFrameOf(this, storage.getStore()) }, callback)
  }
}

/** Returns the frames of the other variables. So contexts in contexts do not grow without end. */
function withoutFrameOf(variable: AsyncVariable<unknown>, frame: Frame | undefined): Frame | undefined {
  if (frame === undefined) return undefined
  if (frame.variable === variable) return frame.outer
  return { ...frame, outer: withoutFrameOf(variable, frame.outer) }
}
