// @module-tag timers
// The option `jitter`.

import { delayOf } from '@politely/core/engine'
import { afterEach, expect, test, vi } from 'vitest'
import { lengthened } from '../src/lane/jitter.ts'
import { simulate } from './simulation.ts'
import { HOSTS, visits } from './visits.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Makes `Math.random` return these numbers, and then the last one. */
function random(...numbers: readonly number[]): void {
  let n = 0
  vi.spyOn(Math, 'random').mockImplementation(() => numbers[Math.min(n++, numbers.length - 1)] as number)
}

const times = async (...[hosts, options, takes]: Parameters<typeof visits>) =>
  (await visits(hosts, options, takes)).map(([, at]) => at)

test('makes each delay longer by a random part', async () => {
  random(0, 0.5, 0.999, 0)
  expect(await times(Array(5).fill('two.test'), { jitter: 0.5 })).toEqual([0, 1_000, 2_250, 3_750, 4_750])
})

test('keeps the reason, applies to every level, and `permit.delay` says the longer delay', async () => {
  random(0.5)
  const seen = await visits(['a.one.test', 'b.one.test', 'c.one.test'], { jitter: 1, minDelayPerDomainMs: 2_000 })
  expect(seen).toEqual([
    ['a.one.test', 0, 'none', undefined],
    ['b.one.test', 3_000, 'own-delay', 'domain'],
    ['c.one.test', 6_000, 'own-delay', 'domain'],
  ])
})

test('`permit.delay` and `when` say the longer delay', async () => {
  random(0.5)
  const { enter, gate, site } = await simulate({ 'one.test': 'Crawl-delay: 10' }, { jitter: 0.5 })
  const permit = await enter('1', 'one.test')
  permit.release()
  expect(permit.delay).toEqual({ delayMs: 12_500, because: 'crawl-delay' })
  expect(await gate.when(site.at('one.test'))).toMatchObject({ waitMs: 12_500, because: 'crawl-delay' })
})

test('applies after `maxDelayMs`, and to the delay of a slow site', async () => {
  random(0.5)
  const { enter } = await simulate({ 'one.test': 'Crawl-delay: 100' }, { jitter: 0.2, maxDelayMs: 10_000 })
  const permit = await enter('1', 'one.test')
  permit.release()
  expect(permit.delay).toEqual({ delayMs: 11_000, because: 'cap' })
})

test('applies to the delay of a slow site, and to a delay from the end of a request', async () => {
  random(0.5)
  const hosts = Array(3).fill('two.test')
  const slow = { jitter: 0.5, delayFactor: 4, maxConcurrentPerKey: 1 }
  expect(await times(hosts, slow, { takesMs: 800 })).toEqual([0, 4_000, 8_000])
  expect(await times(hosts, { jitter: 0.5, pauseFrom: 'end' }, { takesMs: 500 })).toEqual([0, 1_750, 3_500])
})

test('does not change a Retry-After', async () => {
  random(0.999)
  const { enter, gate, site } = await simulate(HOSTS, { jitter: 1 })
  ;(await enter('1', 'two.test')).release({ status: 429, headers: { 'retry-after': '60' } })
  expect(await gate.when(site.at('two.test'))).toMatchObject({ waitMs: 60_000, because: 'retry-after' })
})

test('never shortens a delay, and makes it longer by half of the jitter on average', () => {
  const limits = {
    ownDelayMs: 500,
    maxDelayMs: 60_000,
    crawlDelayMs: 2_000,
    requestRates: [{ requests: 5, periodMs: 20_000, between: undefined }],
  }
  const delays = Array.from({ length: 10_000 }, () => delayOf(lengthened(limits, 1 + 0.5 * Math.random()), 0).delayMs)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(4_000)
  expect(Math.max(...delays)).toBeLessThan(6_000)
  expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length).toBeCloseTo(5_000, -2)
})
