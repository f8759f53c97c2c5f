// One real listener for each signal, for any number of calls.
import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { linkSignals, onAbort } from '../src/base/abort-listeners.ts'
import { RobotsClient } from '../src/index.ts'

const count = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

describe('onAbort', () => {
  test('adds one listener to the signal, and removes it with the last call', () => {
    const { signal } = new AbortController()
    const same = () => undefined
    const removals = Array.from({ length: 1_000 }, () => onAbort(signal, same))
    expect(count(signal)).toBe(1)
    const last = removals.pop()
    for (const remove of removals) remove()
    for (const remove of removals) remove() // a second time does nothing
    expect(count(signal)).toBe(1)
    last?.()
    expect(count(signal)).toBe(0)
  })

  test('calls the remaining listeners in order, once, and leaves none', () => {
    const controller = new AbortController()
    const { signal } = controller
    const called: string[] = []
    const removals = ['a', 'b', 'c', 'd'].map((name) =>
      onAbort(signal, () => {
        called.push(name)
        if (name === 'a') removals[2]?.() // one that is removed meanwhile is not called
      }),
    )
    removals[1]?.()
    controller.abort()
    controller.abort()
    expect(called).toEqual(['a', 'd'])
    expect(count(signal)).toBe(0)
    for (const remove of removals) remove()
    onAbort(signal, () => called.push('late'))
    expect(called).toEqual(['a', 'd', 'late'])
    expect(count(signal)).toBe(0)
  })

  test('calls the other listeners if one throws', async () => {
    const controller = new AbortController()
    const uncaught = new Promise((resolve) => {
      vi.stubGlobal('queueMicrotask', (callback: () => void) => {
        try {
          callback()
        } catch (error) {
          resolve(error)
        }
      })
    })
    const broken = new Error('broken')
    const heard = vi.fn()
    onAbort(controller.signal, () => {
      throw broken
    })
    onAbort(controller.signal, heard)
    controller.abort()
    vi.unstubAllGlobals()
    expect(heard).toHaveBeenCalledTimes(1)
    expect(await uncaught).toBe(broken)
  })

  test('linkSignals is aborted with the reason of the first source, and leaves no listener on the others', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const linked = linkSignals([one.signal, two.signal])
    two.abort('two')
    one.abort('one')
    expect(linked.signal.reason).toBe('two')
    const { signal } = new AbortController()
    const links = [linkSignals([signal]), linkSignals([signal])]
    expect(count(signal)).toBe(1)
    for (const { unlink } of links) unlink()
    expect(count(signal)).toBe(0)
  })
})

test('1,000 checks with one signal add one listener to it, and leave none', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', lookup: () => undefined }) // never answers
  const one = Array.from({ length: 500 }, (_, n) => robots.check(`http://h${n}.test/`, { signal }))
  const same = Array.from({ length: 500 }, () => robots.check('http://same.test/', { signal }))
  const stream = robots.checkMany(['http://many.test/'], { signal }).next()
  const all = Promise.allSettled([...one, ...same, stream])
  expect(count(signal)).toBe(1)
  controller.abort(new Error('enough'))
  for (const { status } of await all) expect(status).toBe('rejected')
  expect(count(signal)).toBe(0)
  await robots.close()
})
