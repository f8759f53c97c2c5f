// Abort listeners that share one real listener for each signal.
//
// Node scans the list of listeners whenever one is added to an AbortSignal or removed from it. A
// crawler that gives one signal to 100,000 requests would add 100,000 listeners, in quadratic time.
import { callSafely } from './call-safely.ts'

type Listener = () => void

/** Each call gets its own object, since the same function may be added twice. */
interface Entry {
  readonly listener: Listener
}

/** The entries of each signal that has listeners. */
const entriesOf = new WeakMap<AbortSignal, SignalEntries>()

/**
 * Calls the listener when the signal is aborted, or at once if it is already aborted.
 * @returns A function that removes the listener. Nothing stays on the signal when its last listener
 * is removed.
 */
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  if (signal.aborted) {
    listener()
    return () => undefined
  }
  const entry: Entry = { listener }
  const entries = entriesOf.get(signal) ?? new SignalEntries(signal)
  entries.add(entry)
  return () => entries.remove(entry)
}

/**
 * Settles like `work`, or rejects with the reason of a signal that is aborted before. The caller
 * may then still have to clean up its result.
 */
export function orAborted<T>(work: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  work.then(resolve, reject).finally(onAnyAbort(signals, reject))
  return promise
}

/**
 * A signal that is aborted with the reason of the first of its sources. Call `unlink` when it is no
 * longer needed.
 */
export interface LinkedSignal {
  readonly signal: AbortSignal
  readonly unlink: () => void
}

/**
 * Replaces `AbortSignal.any`. On Node 22, a source of `AbortSignal.any` keeps memory for every
 * signal derived from it (measured).
 */
export function linkSignals(sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController()
  return { signal: controller.signal, unlink: onAnyAbort(sources, (reason) => controller.abort(reason)) }
}

/** As `onAbort`, for several signals. Calls the listener with the reason. */
export function onAnyAbort(signals: readonly AbortSignal[], listener: (reason: unknown) => void): () => void {
  const removals = signals.map((signal) => onAbort(signal, () => listener(signal.reason)))
  return () => {
    for (const remove of removals) remove()
  }
}

class SignalEntries {
  readonly #signal: AbortSignal
  readonly #entries = new Set<Entry>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    entriesOf.set(signal, this)
    signal.addEventListener('abort', this.#aborted)
  }

  add(entry: Entry): void {
    this.#entries.add(entry)
  }

  remove(entry: Entry): void {
    if (this.#entries.delete(entry) && this.#entries.size === 0) this.#stop()
  }

  readonly #aborted = () => {
    this.#stop()
    for (const entry of this.#entries) {
      this.#entries.delete(entry)
      callSafely(entry.listener)
    }
  }

  #stop(): void {
    this.#signal.removeEventListener('abort', this.#aborted)
    entriesOf.delete(this.#signal)
  }
}
