// Concurrent work on a stream. All of it is our choice.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type ConcurrentMapOptions, concurrentMap } from '../src/base/concurrent-map.ts'

const orders = ['input', 'ready'] as const
const options = (given: Partial<ConcurrentMapOptions> = {}): ConcurrentMapOptions => ({
  concurrency: 4,
  order: 'input',
  signal: undefined,
  ...given,
})

/** Work whose promises the test settles. */
function work() {
  const started: number[] = []
  const signals = new Set<AbortSignal>()
  const results: PromiseWithResolvers<string>[] = []
  return {
    started,
    signals,
    results,
    do: (item: number, signal: AbortSignal) => {
      started.push(item)
      signals.add(signal)
      results[item] = Promise.withResolvers()
      return results[item].promise
    },
  }
}

/** Waits until all pending microtasks and immediates have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A source that counts the items taken from it, and records whether it was closed. */
function numbers(length: number, kind: 'sync' | 'async' = 'sync') {
  const seen = { pulled: 0, closed: 0 }
  function* sync() {
    try {
      for (let i = 0; i < length; i++) {
        seen.pulled++
        yield i
      }
    } finally {
      seen.closed++
    }
  }
  async function* slowly() {
    for (const i of sync()) yield i
  }
  return { seen, source: kind === 'sync' ? sync() : slowly() }
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}

describe.each(orders)('in order %s', (order) => {
  test.each([1, 2, 7, 1_000])('with concurrency %i, processes every item once', async (concurrency) => {
    let underWay = 0
    let most = 0
    const run = async (item: number) => {
      most = Math.max(most, ++underWay)
      if (item % 3 === 0) await settled()
      underWay--
      return item
    }
    const { source, seen } = numbers(100)
    const taken = await all(concurrentMap(source, run, options({ order, concurrency })))
    expect(order === 'input' ? taken : taken.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    )
    expect(most).toBeLessThanOrEqual(concurrency)
    expect(seen).toEqual({ pulled: 100, closed: 1 })
  })

  test.each(['sync', 'async'] as const)('an empty source, %s, yields nothing', async (kind) => {
    expect(await all(concurrentMap(numbers(0, kind).source, async () => 1, options({ order })))).toEqual([])
  })

  test.each(['sync', 'async'] as const)(
    'takes from a source of a million items, %s, only the results taken plus the concurrency',
    async (kind) => {
      const { source, seen } = numbers(1_000_000, kind)
      let count = 0
      for await (const _ of concurrentMap(source, async (item) => item, options({ order, concurrency: 8 }))) {
        count++
        await settled()
        expect(seen.pulled - count).toBeLessThanOrEqual(8)
        if (count === 50) break
      }
      expect(seen.closed).toBe(1)
    },
  )

  test('leaving the loop aborts the work under way and closes the source', async () => {
    const { source, seen } = numbers(100)
    const jobs = work()
    const iterator = concurrentMap(source, jobs.do, options({ order }))
    const first = iterator.next()
    await settled()
    expect(jobs.started).toEqual([0, 1, 2, 3])
    jobs.results[0]?.resolve('a')
    expect(await first).toEqual({ done: false, value: 'a' })
    await iterator.return()
    expect([...jobs.signals].map(({ aborted }) => aborted)).toEqual([true])
    expect(seen.closed).toBe(1)
    for (const { reject } of jobs.results) reject(new Error('aborted')) // must not become an unhandled rejection
    await settled()
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test('an error of the work is thrown in its turn, ends the loop and closes the source', async () => {
    const { source, seen } = numbers(100)
    const jobs = work()
    const iterator = concurrentMap(source, jobs.do, options({ order, concurrency: 2 }))
    const first = iterator.next()
    await settled()
    jobs.results[0]?.resolve('a')
    await first
    const second = iterator.next()
    jobs.results[1]?.reject(new Error('broken'))
    await expect(second).rejects.toThrow('broken')
    expect(seen.closed).toBe(1)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  test.each(['sync', 'async'] as const)(
    'an error of the source, %s, is thrown after the results of its earlier items',
    async (kind) => {
      let returned = 0
      const items: Iterator<number> = {
        next: (() => {
          let i = 0
          return () => {
            if (i === 3) throw new Error('the source broke')
            return { done: false, value: i++ }
          }
        })(),
        return: () => {
          returned++
          return { done: true, value: undefined }
        },
      }
      const source =
        kind === 'sync'
          ? { [Symbol.iterator]: () => items }
          : {
              [Symbol.asyncIterator]: () => ({
                next: async () => items.next(),
                return: async () => items.return?.() as never,
              }),
            }
      const taken: number[] = []
      const run = async () => {
        for await (const one of concurrentMap(source as Iterable<number>, async (item) => item, options({ order })))
          taken.push(one)
      }
      await expect(run()).rejects.toThrow('the source broke')
      expect(taken).toEqual([0, 1, 2])
      expect(returned, 'a source that threw is over').toBe(0)
    },
  )

  test.each([
    ['before', 0],
    ['in the middle', 2],
  ])('a signal that is aborted %s ends the loop with its reason', async (_, after) => {
    const aborting = new AbortController()
    if (after === 0) aborting.abort(new Error('enough'))
    const { source, seen } = numbers(100)
    const taken: number[] = []
    const run = async () => {
      for await (const one of concurrentMap(
        source,
        async (item) => item,
        options({ order, signal: aborting.signal }),
      )) {
        taken.push(one)
        if (taken.length === after) aborting.abort(new Error('enough'))
      }
    }
    await expect(run()).rejects.toThrow('enough')
    expect(taken).toHaveLength(after)
    expect(seen.closed).toBe(after === 0 ? 0 : 1) // what was never begun has nothing to close
    expect(getEventListeners(aborting.signal, 'abort')).toEqual([])
  })

  test('a signal that is aborted during a wait ends the wait, and aborts the work with its reason', async () => {
    const aborting = new AbortController()
    const jobs = work()
    const taken = all(concurrentMap(numbers(10).source, jobs.do, options({ order, signal: aborting.signal })))
    await settled()
    aborting.abort(new Error('enough'))
    await expect(taken).rejects.toThrow('enough')
    expect([...jobs.signals].map(({ reason }) => reason)).toEqual([aborting.signal.reason])
  })

  test('a source that hangs delays no result, and leaving the loop does not wait for it', async () => {
    async function* hanging() {
      yield 0
      yield 1
      await new Promise(() => undefined)
    }
    const iterator = concurrentMap(hanging(), async (item) => item, options({ order }))
    expect([await iterator.next(), await iterator.next()].map(({ value }) => value)).toEqual([0, 1])
    const third = iterator.next()
    await settled()
    void iterator.return() // comes after the third, which hangs
    const aborting = new AbortController()
    const other = concurrentMap(hanging(), async (item) => item, options({ order, signal: aborting.signal }))
    await other.next()
    await other.next()
    const waiting = other.next()
    await settled()
    aborting.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(await Promise.race([third, settled()])).toBeUndefined()
  })
})

describe('the order', () => {
  test('input: a slow item delays the results after it', async () => {
    const jobs = work()
    const taken = all(concurrentMap(numbers(3).source, jobs.do, options({ order: 'input' })))
    await settled()
    for (const i of [2, 1, 0]) {
      jobs.results[i]?.resolve(`${i}`)
      await settled()
    }
    expect(await taken).toEqual(['0', '1', '2'])
  })

  test('ready: a slow item delays no other result', async () => {
    const jobs = work()
    const taken = all(concurrentMap(numbers(3).source, jobs.do, options({ order: 'ready' })))
    await settled()
    for (const i of [2, 0, 1]) {
      jobs.results[i]?.resolve(`${i}`)
      await settled()
    }
    expect(await taken).toEqual(['2', '0', '1'])
  })
})

describe('a source that throws when it is closed', () => {
  const source = () => ({
    [Symbol.iterator]: () => ({
      next: () => ({ done: false as const, value: 1 }),
      return: () => {
        throw new Error('will not close')
      },
    }),
  })

  test('throws its error to the caller that left the loop', async () => {
    const run = async () => {
      for await (const _ of concurrentMap(source(), async (item) => item, options())) break
    }
    await expect(run()).rejects.toThrow('will not close')
  })

  test('does not replace the error that ended the loop', async () => {
    const run = all(concurrentMap(source(), () => Promise.reject(new Error('broken')), options()))
    await expect(run).rejects.toThrow('broken')
  })
})
