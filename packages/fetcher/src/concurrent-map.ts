// Many questions at once, out of a stream and into a stream: bounded, in order or not, no faster than they are taken.
import { onAbort } from './abort-listeners.ts'

export interface ConcurrentMapOptions {
  /** How many are under way, or done and not yet taken, at most. */
  readonly concurrency: number
  /** `input`: in the order in which they came. `ready`: each as soon as it is done. */
  readonly order: 'input' | 'ready'
  /** Aborting it ends everything with its reason. */
  readonly signal: AbortSignal | undefined
}

interface Slot<R> {
  result: { readonly value: R } | { readonly error: unknown } | undefined
}

/**
 * Works on every item. Takes the next one only when there is room, so a source of any length does. The first error, the source's or the
 * work's, ends it when its turn comes. Whoever stops reading ends it too: `signal` tells the work that is under way, and the source is closed.
 */
export async function* concurrentMap<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  { concurrency, order, signal }: ConcurrentMapOptions,
): AsyncGenerator<R, void, undefined> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  const ending = new AbortController()
  /** In the order in which they will be taken; in order of input also those that are not done. */
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
  const begin = (item: T) => {
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
      else begin(next.value)
    } catch (error) {
      isDrained = true
      underWay++
      finish({ result: undefined }, { error })
    } finally {
      isPulling = false
      change()
    }
  }
  /** Tells the source that no more is wanted. One that is asked for an item answers to nothing else before, and is not waited for. */
  const close = async () => {
    ending.abort()
    if (isDrained) return
    isDrained = true
    if (!isPulling) return void (await items.return?.())
    const isLeft = () => undefined // nobody is there to hear how it ends
    Promise.resolve(items.return?.()).then(isLeft, isLeft)
  }
  const taken = () => (order === 'input' ? slots.size : underWay + slots.size)

  const unlisten = signal && onAbort(signal, abort)
  try {
    for (;;) {
      signal?.throwIfAborted()
      changed = Promise.withResolvers()
      if (!isPulling && !isDrained && taken() < concurrency) void pull()
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
    await close().catch(() => undefined) // of two errors the first is told, as `for await` does
    throw error
  } finally {
    unlisten?.()
    await close()
  }
}
