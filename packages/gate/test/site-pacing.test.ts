// @module-tag timers
// The option `pace`: options for one site.
import { expect, test } from 'vitest'
import { OptionError } from '../src/index.ts'
import type { SitePacingOptions } from '../src/pace/pacing-options.ts'
import { simulate } from './simulation.ts'
import { HOSTS, visits } from './visits.ts'

/** Returns a function for `pace` that gives options to the sites of this host. */
const forHost =
  (host: string, options: unknown, calls: string[] = []) =>
  (origin: string) => {
    calls.push(origin)
    return new URL(origin).hostname === host ? (options as SitePacingOptions) : undefined
  }

test('gives one site its own delay, and is called once for each origin', async () => {
  const calls: string[] = []
  const seen = await visits(['a.one.test', 'two.test', 'a.one.test', 'two.test', 'a.one.test', 'two.test'], {
    minDelayMs: 1_000,
    pace: forHost('two.test', { minDelayMs: 3_000 }, calls),
  })
  expect(seen.map(([host, at]) => [host, at])).toEqual([
    ['a.one.test', 0],
    ['two.test', 0],
    ['a.one.test', 1_000],
    ['a.one.test', 2_000],
    ['two.test', 3_000],
    ['two.test', 6_000],
  ])
  expect(calls).toHaveLength(2)
})

test('gives one site its own concurrency limit, and `when` says so', async () => {
  const { enter, advance, gate, site, starts } = await simulate(HOSTS, {
    minDelayMs: 0,
    pace: forHost('two.test', { maxConcurrentPerKey: 1 }),
  })
  const all = ['1', '2', '3'].flatMap((name) => [enter(`a${name}`, 'a.one.test'), enter(`t${name}`, 'two.test')])
  for (const one of all) one.catch(() => undefined)
  await advance()
  expect(starts.map(([name]) => name)).toEqual(['a1', 't1', 'a2'])
  expect(await gate.when(site.at('two.test'))).toMatchObject({ because: 'concurrency', level: 'origin', ahead: 2 })
  gate.close()
})

test('gives one site a cap, a delay factor and a jitter of its own', async () => {
  const host = 'two.test'
  const capped = await visits(
    [host, host, host],
    {
      minDelayMs: 0,
      pace: forHost(host, { delayFactor: 4, maxDelayMs: 2_000 }),
    },
    { takesMs: 1_000 },
  )
  expect(capped.map(([, at]) => at)).toEqual([0, 0, 2_000])
})

test('with a shared pace key, each request has the options of its own origin', async () => {
  const seen = await visits(['a.one.test', 'b.one.test', 'a.one.test', 'b.one.test'], {
    paceBy: 'domain',
    minDelayMs: 1_000,
    pace: forHost('b.one.test', { minDelayMs: 5_000 }),
  })
  expect(seen.map(([host, at]) => [host, at])).toEqual([
    ['a.one.test', 0],
    ['b.one.test', 1_000],
    ['a.one.test', 6_000],
    ['b.one.test', 7_000],
  ])
})

test.each<[given: unknown, field: string, problem: string]>([
  [{ minDelayMs: -1 }, '.minDelayMs', '-1 is out of range; expected a number of milliseconds from 0, such as 1000'],
  [
    { minDelayMs: 90_000 },
    '.minDelayMs',
    '90000 is greater than maxDelayMs, which is 60000; write a smaller minDelayMs or a larger maxDelayMs',
  ],
  [{ jitter: 3 }, '.jitter', '3 is out of range; expected a number from 0 to 1, such as 0.5'],
  [{ maxConcurrentPerKey: 0 }, '.maxConcurrentPerKey', '0 is out of range; expected a whole number from 1, such as 2'],
  [{ obey: { rules: 'no' } }, '.obey.rules', '"no" is not a boolean; write true or false'],
  [{ maxConcurrent: 5 }, '.maxConcurrent', 'is an unknown option'],
  [5_000, '', '5000 is not an object of options; expected one such as { minDelayMs: 5_000 }'],
  [null, '', 'null is not an object of options; expected one such as { minDelayMs: 5_000 }'],
  [
    Promise.resolve({}),
    '',
    'an object of type Promise is not an object of options; expected one such as { minDelayMs: 5_000 }',
  ],
])('rejects each request of a site whose options are %o', async (given, field, problem) => {
  const { enter, gate, site } = await simulate(HOSTS, { maxDelayMs: 60_000, pace: forHost('two.test', given) })
  const { origin } = new URL(site.at('two.test'))
  for (const call of [
    () => enter('1', 'two.test'),
    () => enter('2', 'two.test'),
    () => gate.when(site.at('two.test')),
  ]) {
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(OptionError)
    expect((error as Error).message).toContain(`pace("${origin}")${field}: ${problem}`)
  }
  ;(await enter('3', 'a.one.test')).release()
  expect(gate.queues()).toEqual([])
})

test('an error of the function rejects the request, and the next request calls it again', async () => {
  const error = new Error('no settings')
  let calls = 0
  const { enter, gate } = await simulate(HOSTS, {
    pace: () => {
      if (calls++ === 0) throw error
      return undefined
    },
  })
  await expect(enter('1', 'two.test')).rejects.toBe(error)
  ;(await enter('2', 'two.test')).release()
  expect(calls).toBe(2)
  expect(gate.gauges).toMatchObject({ queues: 0, waiting: 0, underWay: 0 })
})
