// @module-tag timers
// `maxWaitMs` and `maxQueuedPerKey`: requests that would wait too long are refused at once.
import { expect, test, vi } from 'vitest'
import { LocalPacer, type Pacer, QueueFullError, WaitTooLongError } from '../src/index.ts'
import { simulate } from './simulation.ts'

/** Replies with promises, `replyMs` later. */
function slowPacer(now: () => number, replyMs: number): Pacer {
  const local = new LocalPacer(now)
  const later = async <T>(value: T): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, replyMs))
    return value
  }
  return {
    reserve: (...args) => later(local.reserve(args[0], args[1])),
    started: (...args) => local.started(...args),
    sent: (...args) => local.sent(...args),
    cancel: (...args) => local.cancel(...args),
    report: (...args) => local.report(...args),
    end: (...args) => local.end(...args),
    estimate: (...args) => later(local.estimate(...args)),
  }
}

const pacers: readonly [name: string, replyMs: number | undefined][] = [
  ['a local pacer', undefined],
  ['a pacer that replies later', 5],
]

/** Settles to the permit, or to the error. */
const outcomeOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error)

test.each(pacers)('with %s, refuses at once what would wait longer, and the order stays', async (_, replyMs) => {
  const pacer = replyMs === undefined ? undefined : slowPacer(() => Date.now(), replyMs)
  const { gate, site, advance, start } = await simulate({ 'a.test': 'Crawl-delay: 10' }, { maxWaitMs: 25_000, pacer })
  const url = (name: string) => site.at('a.test', `/${name}`)
  const ended: [name: string, atMs: number, result: string][] = []
  const enter = async (name: string, maxWaitMs?: number) => {
    const result = await outcomeOf(gate.enter(url(name), { maxWaitMs }))
    ended.push([name, Math.floor((Date.now() - start) / 100), result instanceof Error ? result.name : 'started'])
    if (!(result instanceof Error)) (result as Disposable)[Symbol.dispose]()
    return result
  }
  const all = [
    enter('1'),
    enter('2'),
    enter('3'),
    enter('refused'),
    enter('patient', Number.POSITIVE_INFINITY),
    enter('at once', 0),
  ]
  await advance(100)
  expect(ended).toEqual([
    ['1', 0, 'started'],
    ['refused', 0, 'WaitTooLongError'],
    ['at once', 0, 'WaitTooLongError'],
  ])
  await advance(60_000)
  await Promise.all(all)
  expect(ended.slice(3).map(([name, , result]) => [name, result])).toEqual([
    ['2', 'started'],
    ['3', 'started'],
    ['patient', 'started'],
  ])
  expect(gate.counters).toMatchObject({ started: 4, tooLong: 2, abandoned: 0 })
  expect(gate.queues()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('the error says how long, why, and what to do', async () => {
  const { gate, site, start } = await simulate({ 'a.test': 'Crawl-delay: 3600' })
  ;(await gate.enter(site.at('a.test', '/1'))).release()
  const url = site.at('a.test', '/2')
  const error = await outcomeOf(gate.enter(url.replace('//', '//user:password@'), { maxWaitMs: 5_000 }))
  expect(error).toBeInstanceOf(WaitTooLongError)
  expect(error).toMatchObject({
    code: 'ERR_POLITELY_WAIT',
    message: `${url} would have to wait 60 min (crawl-delay, origin), and maxWaitMs is 5000; try again in 60 min, or raise maxWaitMs`,
    waitMs: 3_600_000,
    waitedMs: 0,
    retryAt: start + 3_600_000,
    because: 'crawl-delay',
    level: 'origin',
    verdict: { allowed: true, url },
  })
})

test('a refused request uses no slot and no capacity', async () => {
  const { gate, site, starts, enter, advance } = await simulate({ 'a.test': '' }, { minDelayMs: 1_000 })
  ;(await enter('1', 'a.test')).release()
  for (let n = 0; n < 5; n++) await outcomeOf(gate.enter(site.at('a.test', '/no'), { maxWaitMs: 10 }))
  expect(gate.queues()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  const second = enter('2', 'a.test')
  await advance(1_000)
  ;(await second).release()
  expect(starts).toEqual([
    ['1', 0],
    ['2', 1_000],
  ])
})

test('a request may wait exactly as long as maxWaitMs', async () => {
  const { enter, advance, starts } = await simulate({ 'a.test': '' }, { minDelayMs: 1_000, maxWaitMs: 1_000 })
  const all = [enter('1', 'a.test'), enter('2', 'a.test')]
  await advance(1_001)
  for (const permit of await Promise.all(all)) permit.release()
  expect(starts).toHaveLength(2)
})

test('a wait for the delay of a domain counts', async () => {
  const { gate, site } = await simulate(
    { 'a.one.test': '', 'b.one.test': '' },
    { minDelayMs: 0, minDelayPerDomainMs: 9_000, maxWaitMs: 1_000 },
  )
  ;(await gate.enter(site.at('a.one.test'))).release()
  const error = await outcomeOf(gate.enter(site.at('b.one.test')))
  expect(error).toMatchObject({ name: 'WaitTooLongError', because: 'own-delay', level: 'domain', waitMs: 9_000 })
})

test('a request that waits for a concurrency limit is rejected when it has waited too long', async () => {
  const { gate, site, advance, enter, starts } = await simulate({ 'a.test': '' }, { minDelayMs: 0, maxConcurrent: 1 })
  const first = await enter('1', 'a.test')
  const waiting = outcomeOf(gate.enter(site.at('a.test', '/2'), { maxWaitMs: 2_000 }))
  const third = enter('3', 'a.test')
  await advance(2_100)
  expect(await waiting).toMatchObject({
    name: 'WaitTooLongError',
    message: expect.stringMatching(/ has waited 3 s \(concurrency, gate\), and maxWaitMs is 2000; raise maxWaitMs$/),
    because: 'concurrency',
    level: 'gate',
    waitMs: 0,
    retryAt: undefined,
    waitedMs: 2_100,
  })
  first.release()
  ;(await third).release()
  expect(starts).toHaveLength(2)
  expect(gate.counters).toMatchObject({ started: 2, tooLong: 1 })
})

test('a request whose wait becomes longer is rejected when it has waited too long', async () => {
  const { gate, site, advance, enter } = await simulate({ 'a.test': '' }, { minDelayMs: 1_000 })
  const first = await enter('1', 'a.test')
  const waiting = outcomeOf(gate.enter(site.at('a.test', '/2'), { maxWaitMs: 2_000 }))
  await advance()
  first.release({ status: 429, headers: { 'retry-after': '60' } })
  await advance(2_100)
  expect(await waiting).toMatchObject({ because: 'retry-after', waitedMs: 2_100, waitMs: 57_900 })
  expect(gate.queues()).toEqual([])
})

test('maxWaitMs may be longer than the longest timer', async () => {
  const { gate, site, advance, enter } = await simulate({ 'a.test': '' }, { minDelayMs: 0, maxConcurrentPerKey: 1 })
  const first = await enter('1', 'a.test')
  const waiting = outcomeOf(gate.enter(site.at('a.test', '/2'), { maxWaitMs: 9_000_000 }))
  await advance(9_000_000)
  expect(gate.queues()[0]?.waiting).toBe(1)
  await advance(100)
  expect(await waiting).toMatchObject({ name: 'WaitTooLongError', waitedMs: 9_000_100 })
  first.release()
  expect(vi.getTimerCount()).toBe(0)
})

test('a pacer whose estimate fails rejects the request', async () => {
  const local = slowPacer(() => Date.now(), 1)
  const estimate = () => Promise.reject(new Error('no estimate'))
  const { gate, site, advance } = await simulate({ 'a.test': '' }, { pacer: { ...local, estimate } })
  const first = gate.enter(site.at('a.test', '/1'))
  const outcome = outcomeOf(gate.enter(site.at('a.test', '/2'), { maxWaitMs: 5_000 }))
  await advance(100)
  ;(await first).release()
  expect(await outcome).toMatchObject({ message: 'no estimate' })
  expect(gate.queues()).toEqual([])
})

test('maxQueuedPerKey: a further request is refused before it waits', async () => {
  const { gate, site, advance, enter } = await simulate({ 'a.test': '', 'b.test': '' }, { maxQueuedPerKey: 2 })
  const all = ['1', '2', '3'].map(async (name) => (await enter(name, 'a.test')).release())
  await advance()
  const error = await outcomeOf(gate.enter(site.at('a.test', '/4')))
  const key = site.at('a.test', '')
  expect(error).toBeInstanceOf(QueueFullError)
  expect(error).toMatchObject({
    code: 'ERR_POLITELY_QUEUE_FULL',
    message: `${key}/4 cannot wait: the queue of ${key} is full (2 waiting); make fewer requests at a time, or raise maxQueuedPerKey`,
    waiting: 2,
    key,
    verdict: { allowed: true },
  })
  ;(await gate.enter(site.at('b.test'))).release()
  await advance(10_000)
  await Promise.all(all)
  expect(gate.counters).toMatchObject({ started: 4, queueFull: 1, abandoned: 0 })
})

test('an abort of a request with maxWaitMs leaves no timer', async () => {
  const { gate, site, enter, advance } = await simulate({ 'a.test': '' })
  ;(await enter('1', 'a.test')).release()
  const controller = new AbortController()
  const outcome = outcomeOf(gate.enter(site.at('a.test'), { signal: controller.signal, maxWaitMs: 2_000 }))
  await advance(1)
  controller.abort(new Error('enough'))
  expect(await outcome).toMatchObject({ message: 'enough' })
  expect(vi.getTimerCount()).toBe(0)
})
