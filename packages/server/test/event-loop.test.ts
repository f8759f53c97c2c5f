import { afterEach, expect, test, vi } from 'vitest'
import { EventLoopDelay } from '../src/event-loop.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('the event loop counts as blocked after two late samples, not after one, and no longer after a good one', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  using delay = new EventLoopDelay()
  const seen = [500, 6_500, 6_500, 500].map((ms) => {
    now += ms
    vi.advanceTimersByTime(500)
    return delay.exceeds(5_000)
  })
  expect(seen).toEqual([false, false, true, false])
})
