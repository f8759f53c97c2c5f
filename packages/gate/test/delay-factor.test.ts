// @module-tag timers
// The options `delayFactor` and `pauseFrom`. All of it is our choice.
import { describe, expect, test } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { simulate } from './simulation.ts'
import { HOSTS, visits } from './visits.ts'

describe('delayFactor and pauseFrom', () => {
  test('pauseFrom end allows one request at a time even without a delay', async () => {
    const seen = await visits(['two.test', 'two.test'], { pauseFrom: 'end', minDelayMs: 0 }, { takesMs: 1_000 })
    expect(seen.map(([host, at]) => [host, at])).toEqual([
      ['two.test', 0],
      ['two.test', 1_000],
    ])
  })

  test('delayFactor gives a slow site a longer pause, with the reason slow-site', async () => {
    const seen = await visits(
      ['two.test', 'two.test', 'two.test'],
      { delayFactor: 4, maxConcurrentPerKey: 1 },
      { takesMs: 800 },
    )
    expect(seen).toEqual([
      ['two.test', 0, 'none', undefined],
      ['two.test', 3_200, 'slow-site', 'origin'],
      ['two.test', 6_400, 'slow-site', 'origin'],
    ])
  })

  test('with pauseFrom end, `when` and `queues` say that a request waits for the end of another', async () => {
    const { gate, site, enter, advance } = await simulate(HOSTS, { pauseFrom: 'end', minDelayMs: 3_000 })
    const first = await enter('1', 'two.test')
    void enter('2', 'two.test').then((second) => second.release())
    await advance(10_000)
    expect(gate.queues()).toMatchObject([{ waiting: 1, heldBy: 'concurrency', level: 'origin' }])
    first.release()
    expect(await gate.when(site.at('two.test', '/page'))).toMatchObject({
      waitMs: 6_000,
      because: 'own-delay',
      ahead: 1,
    })
    await advance(3_000)
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
    expect(() => new PoliteGate({ robots: gate.robots, pauseFrom: 'end', maxConcurrentPerKey: 2 })).toThrow(
      "maxConcurrentPerKey: is 2; with pauseFrom: 'end' only 1 is possible",
    )
  })

  test('pauseFrom end counts the delay from release, and allows one request at a time', async () => {
    const seen = await visits(['two.test', 'two.test', 'two.test'], { pauseFrom: 'end' }, { takesMs: 1_700 })
    expect(seen).toEqual([
      ['two.test', 0, 'none', undefined],
      ['two.test', 2_700, 'own-delay', 'origin'],
      ['two.test', 5_400, 'own-delay', 'origin'],
    ])
  })
})
