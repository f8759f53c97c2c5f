// @module-tag timers
// The gauges of a gate, the histogram of waits, the tables of their meanings, and the progress line.
import { expectTables } from '@politely/testkit/doc-page'
import { describe, expect, test, vi } from 'vitest'
import { type GateCounters, gateCounterMeanings, gateGaugeMeanings, waitBucketsMs } from '../src/index.ts'
import { simulate } from './simulation.ts'

test('every counter and every gauge has a meaning', async () => {
  const { gate } = await simulate({})
  expect(Object.keys(gateCounterMeanings).toSorted()).toEqual(Object.keys(gate.counters).toSorted())
  expect(Object.keys(gateGaugeMeanings).toSorted()).toEqual(Object.keys(gate.gauges).toSorted())
})

test('gauges: the requests that wait and are under way, and the ages of the oldest permit and wait', async () => {
  const { gate, enter, advance } = await simulate({ 'a.test': '', 'b.test': '' }, { maxConcurrentPerKey: 1 })
  expect(gate.gauges).toEqual({
    queues: 0,
    waiting: 0,
    underWay: 0,
    oldestPermitMs: 0,
    openCircuits: 0,
    oldestWaitMs: 0,
    pacerOutageMs: 0,
  })
  const held = [await enter('1', 'a.test'), await enter('1', 'b.test')]
  await advance(2_000)
  const waiting = [enter('2', 'a.test'), enter('3', 'a.test')]
  await advance(3_000)
  expect(gate.gauges).toEqual({
    queues: 2,
    waiting: 2,
    underWay: 2,
    oldestPermitMs: 5_000,
    openCircuits: 0,
    oldestWaitMs: 3_000,
    pacerOutageMs: 0,
  })
  expect(JSON.parse(JSON.stringify(gate.gauges))).toEqual(gate.gauges)
  for (const permit of held) permit.release()
  await advance(1_000)
  const second = await waiting[0]
  expect(gate.gauges).toMatchObject({ waiting: 1, oldestWaitMs: 4_000 })
  second?.release()
  await advance(1_000)
  ;(await waiting[1])?.release()
  expect(gate.gauges).toEqual({
    queues: 0,
    waiting: 0,
    underWay: 0,
    oldestPermitMs: 0,
    openCircuits: 0,
    oldestWaitMs: 0,
    pacerOutageMs: 0,
  })
})

describe('the histogram of waits', () => {
  test.each<[delayMs: number, bucket: number]>([
    [1, 0],
    [100, 0],
    [101, 1],
    [1_000, 1],
    [60_000, 3],
    [3_600_000, 5],
    [3_600_001, 6],
  ])('counts a wait of %i ms in bucket %i', async (minDelayMs, bucket) => {
    const { gate, enter, advance } = await simulate({ 'a.test': '' }, { minDelayMs })
    ;(await enter('1', 'a.test')).release()
    const second = enter('2', 'a.test')
    await advance(minDelayMs)
    ;(await second).release()
    const expected = [...waitBucketsMs, 0].map((_, n) => (n === bucket ? 1 : 0))
    const { waitHistogram, waits } = gate.counters
    expect(waitHistogram['own-delay']).toEqual(expected)
    expect(Object.keys(waitHistogram)).toEqual(Object.keys(waits))
    expect(Object.values(waitHistogram).flat().filter(Boolean)).toEqual([1])
  })

  test('is a copy', async () => {
    const { gate } = await simulate({})
    ;(gate.counters.waitHistogram['own-delay'] as number[])[0] = 5
    expect(gate.counters.waitHistogram['own-delay'][0]).toBe(0)
  })
})

describe('progressMs', () => {
  test('writes a line each time, but none while the crawl is idle, and none after close', async () => {
    const lines: string[] = []
    const { gate, site, enter, advance } = await simulate(
      { 'a.test': 'Crawl-delay: 9\nDisallow: /private' },
      { progressMs: 60_000, logger: { info: (line) => lines.push(line) } },
    )
    await advance(60_000)
    expect(lines).toEqual([])
    await gate.enter(site.at('a.test', '/private')).catch(() => undefined)
    ;(await enter('1', 'a.test')).release({ status: 503, headers: { 'retry-after': '9' } })
    await enter('2', 'a.test', AbortSignal.abort(new Error('enough'))).catch(() => undefined)
    const second = enter('2', 'a.test')
    const third = enter('3', 'a.test')
    const fourth = enter('4', 'a.test')
    await advance(9_000)
    await second
    await advance(9_000)
    await third
    await advance(42_000)
    await advance(60_000)
    expect(lines.filter((line) => line.startsWith('in '))).toEqual([
      'in 60 s: started 3, refused 1, pushed back 1; now: under way 2, waiting 1 (concurrency 1), queues 1',
      'in 60 s: started 0, refused 0, pushed back 0; now: under way 2, waiting 1 (concurrency 1), queues 1',
    ])
    gate.close()
    await fourth.catch(() => undefined)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('starts no timer without a logger', async () => {
    await simulate({}, { progressMs: 1_000, logger: { warn: () => undefined } })
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('docs/observing.md has the tables', { tags: 'page' }, async () => {
  const rowsOf = (meanings: Readonly<Record<string, string>>) =>
    Object.entries(meanings).map(([name, meaning]) => [`\`${name}\``, meaning])
  const counters: Readonly<Record<keyof GateCounters, string>> = gateCounterMeanings
  await expectTables(
    'docs/observing.md',
    { head: ['counter of a gate', 'what it counts'], rows: rowsOf(counters) },
    {
      head: ['bucket', 'longest wait'],
      rows: [...waitBucketsMs.map((ms) => `${ms.toLocaleString('en-US')} ms`), 'none'].map((bound, n) => [
        `${n}`,
        bound,
      ]),
    },
    { head: ['gauge of a gate', 'what it says'], rows: rowsOf(gateGaugeMeanings) },
  )
})
