// @module-tag timers
// The option `budget`.
import { expect, onTestFinished, test } from 'vitest'
import { BudgetError, politely, refusalOf } from '../src/index.ts'
import { simulate } from './simulation.ts'
import { Site } from './site.ts'
import { HOSTS } from './visits.ts'

const settled = (promise: Promise<{ release(): void }>) =>
  promise.then(
    (permit) => {
      permit.release()
      return 'started'
    },
    (error: Error) => error.name,
  )

test('rejects further requests, and those that wait when the last one starts', async () => {
  const { enter, gate, site, advance, starts } = await simulate(HOSTS, { budget: 2 })
  const all = ['1', '2', '3', '4'].map((name) => settled(enter(name, 'two.test')))
  await advance(999)
  expect(gate.queues()).toMatchObject([{ waiting: 3 }])
  await advance(1)
  expect(gate.queues()).toEqual([])
  expect(await Promise.all(all)).toEqual(['started', 'started', 'BudgetError', 'BudgetError'])
  await advance(60_000)
  const error: BudgetError = await enter('5', 'two.test').then(
    () => expect.unreachable(),
    (reason) => reason,
  )
  const { origin } = new URL(site.at('two.test'))
  expect(error).toBeInstanceOf(BudgetError)
  expect(error).toMatchObject({ code: 'ERR_POLITELY_BUDGET', key: origin, budget: 2, verdict: { allowed: true } })
  expect(error.message).toBe(
    `${origin}/5 does not start: the budget of ${origin} is used up (2 requests); make no further requests to it, or raise the option budget`,
  )
  expect(starts).toEqual([
    ['1', 0],
    ['2', 1_000],
  ])
  expect(gate.counters).toMatchObject({ started: 2, overBudget: 3, abandoned: 0 })
  expect(await settled(enter('1', 'a.one.test'))).toBe('started')
})

test('`when` says it, also if the requests that wait will use it up', async () => {
  const { enter, gate, site, advance } = await simulate(HOSTS, { budget: 2 })
  const url = site.at('two.test')
  expect(await gate.when(url)).toMatchObject({ allowed: true })
  const all = ['1', '2'].map((name) => settled(enter(name, 'two.test')))
  await advance()
  expect(await gate.when(url)).toMatchObject({
    allowed: false,
    budget: 2,
    retryAt: undefined,
    verdict: { allowed: true },
  })
  await advance(1_000)
  expect(await Promise.all(all)).toEqual(['started', 'started'])
  expect(await gate.when(url)).toMatchObject({ allowed: false, budget: 2 })
})

test('a request that is aborted while it waits, or before `enter` returns, does not count', async () => {
  const { enter, gate, advance } = await simulate(HOSTS, { budget: 2, minDelayMs: 0, maxConcurrentPerKey: 1 })
  const first = await enter('1', 'two.test')
  const waiting = new AbortController()
  const aborted = settled(enter('2', 'two.test', waiting.signal))
  const late = new AbortController()
  const cancelled = settled(enter('3', 'two.test', late.signal))
  await advance()
  waiting.abort(new Error('aborted'))
  expect(await aborted).toBe('Error')
  first.release() // grants the third request; its `enter` has not returned yet
  late.abort(new Error('aborted'))
  expect(await cancelled).toBe('Error')
  expect(gate.counters).toMatchObject({ started: 1, abandoned: 2, overBudget: 0 })
  expect(await settled(enter('4', 'two.test'))).toBe('started')
  expect(await settled(enter('5', 'two.test'))).toBe('BudgetError')
})

test('a function gives each key its own budget, and is called once for each key', async () => {
  const calls: string[] = []
  const { enter } = await simulate(HOSTS, {
    minDelayMs: 0,
    paceBy: 'host',
    budget: (key) => {
      calls.push(key)
      return { 'two.test': 0, 'a.one.test': 1 }[key]
    },
  })
  const results: string[] = []
  for (const host of ['two.test', 'a.one.test', 'a.one.test', 'b.one.test', 'b.one.test'])
    results.push(await settled(enter('1', host)))
  expect(results).toEqual(['BudgetError', 'started', 'BudgetError', 'started', 'started'])
  expect(calls).toEqual(['two.test', 'a.one.test', 'b.one.test'])
})

test('a function that returns no budget, or throws, rejects the request', async () => {
  const error = new Error('no budget')
  const { enter, gate, site } = await simulate(HOSTS, {
    paceBy: 'host',
    budget: (key) => {
      if (key === 'two.test') throw error
      return -1
    },
  })
  await expect(enter('1', 'two.test')).rejects.toBe(error)
  await expect(gate.when(site.at('two.test'))).rejects.toBe(error)
  await expect(enter('1', 'a.one.test')).rejects.toThrow(
    'budget("a.one.test"): -1 is out of range; expected a whole number from 0, such as 1000',
  )
  expect(gate.queues()).toEqual([])
})

test('counts redirects, and is refused like other refusals', async () => {
  const site = await Site.open()
  site.pages.set('/from', (_, response) => void response.writeHead(302, { location: '/to' }).end())
  const options = { userAgent: 'ExampleBot/1.0', network: 'any', minDelayMs: 0, budget: 2 } as const
  const polite = politely(fetch, { ...options, onDisallowed: 'response' })
  onTestFinished(async () => {
    await polite.close()
    await site.close()
  })
  expect(await (await polite(`${site.origin}/from`)).text()).toBe('page /to')
  const refused = await polite(`${site.origin}/more`)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBeNull()
  expect(refusalOf(refused)).toBeInstanceOf(BudgetError)
  expect(site.lines).toEqual(['GET /from', 'GET /to'])
  const throwing = politely(fetch, { gate: polite.gate })
  await expect(throwing(`${site.origin}/more`)).rejects.toMatchObject({ code: 'ERR_POLITELY_BUDGET' })
})
