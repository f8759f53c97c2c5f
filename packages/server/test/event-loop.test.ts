import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BusyWatch } from '../src/event-loop.ts'

let now: number

beforeEach(() => {
  now = 0
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Lets the timer fire so many milliseconds after the last time. */
function tick(watch: BusyWatch, ms: number): boolean {
  now += ms
  vi.advanceTimersByTime(500)
  return watch.isBusy
}

test('a server is busy after two late samples, not after one, and no longer after a good one', () => {
  using watch = new BusyWatch()
  expect([500, 6_500, 6_500, 500].map((ms) => tick(watch, ms))).toEqual([false, false, true, false])
})

test('a process that was stopped is not busy: one sample is late', () => {
  using watch = new BusyWatch()
  expect([500, 60_000, 500, 500].map((ms) => tick(watch, ms))).toEqual([false, false, false, false])
})

test('a server is busy after two samples of an almost full heap', () => {
  let used = 0
  using watch = new BusyWatch(() => ({ used_heap_size: used, heap_size_limit: 100 }))
  const seen = [91, 50, 91, 91, 90].map((percent) => {
    used = percent
    return tick(watch, 500)
  })
  expect(seen).toEqual([false, false, false, true, false])
})
