// Maps a stream to a stream concurrently. Bounds the number of items in progress, and reads the
// source only as fast as the results are taken.
import { onAbort } from './abort-listeners.ts'

export interface ConcurrentMapOptions {
  /** The maximum number of items that are under way, or done and not yet taken. */
  readonly concurrency: number
  /**
   * `input`: results come in the order of the source. `ready`: each result comes as soon as it is
   * done.
   */
  readonly order: 'input' | 'ready'
  /** Aborting it ends the generator with the signal's reason. */
  readonly signal: AbortSignal | undefined
}

interface Slot<R> {
  result: { readonly value: R } | { readonly error: unknown } | undefined
}

/**
 * Calls `work` for every item of the source and yields the results. The source may be of any
 * length, since the next item is read only below `concurrency`. An error of the source or of `work`
 * ends the generator when its turn in the order comes. When the generator ends, also because the
 * consumer stops reading, it aborts the signal of the work under way and closes the source.
 */
export async function* concurrentMap<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  { concurrency, order, signal }: ConcurrentMapOptions,
): AsyncGenerator<R, void, undefined> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  const ending = new AbortController()
  /**
   * The results in the order in which they are yielded. With order `input`, also the slots of items
   * under way.
   */
  const slots = new Set<Slot<R>>()
  let underWay = 0
  let isPulling = false
  let isDrained = false
  let changed = Promise.withResolvers<void>()
  const change = () => changed.resolve()
  const abort = () => {
    ending.abort(signal?.reason)
    change()
  }

  const finish = (slot: Slot<R>, result: Slot<R>['result']) => {
    underWay--
    slot.result = result
    slots.add(slot)
    change()
  }
  const start = (item: T) => {
    const slot: Slot<R> = { result: undefined }
    if (order === 'input') slots.add(slot)
    underWay++
    work(item, ending.signal).then(
      (value) => finish(slot, { value }),
      (error: unknown) => finish(slot, { error }),
    )
  }
  const pull = async () => {
    isPulling = true
    try {
      const next = await items.next()
      if (ending.signal.aborted) return
      if (next.done) isDrained = true
      else start(next.value)
    } catch (error) {
      isDrained = true
      underWay++
      finish({ result: undefined }, { error })
    } finally {
      isPulling = false
      change()
    }
  }
  /**
   * Closes the source. An async generator with a pending `next()` settles `return()` only after it,
   * so the close is then not awaited.
   */
  const close = async () => {
    ending.abort()
    if (isDrained) return
    isDrained = true
    if (!isPulling) return void (await items.return?.())
    Promise.resolve(items.return?.()).catch(() => undefined)
  }
  const itemsInProgress = () => (order === 'input' ? slots.size : underWay + slots.size)

  const unlisten = signal && onAbort(signal, abort)
  try {
    for (;;) {
      signal?.throwIfAborted()
      changed = Promise.withResolvers()
      if (!isPulling && !isDrained && itemsInProgress() < concurrency) void pull()
      const [first] = slots
      if (first?.result !== undefined) {
        slots.delete(first)
        if ('error' in first.result) throw first.result.error
        yield first.result.value
      } else if (isDrained && slots.size === 0 && underWay === 0) {
        return
      } else {
        await changed.promise
      }
    }
  } catch (error) {
    await close().catch(() => undefined) // of two errors, the first is thrown, as by `for await`
    throw error
  } finally {
    unlisten?.()
    await close()
  }
}
