// Watching a gate: `drain`, `counters`, `queues`, and the messages on its channels.
import { describe, expect, test, vi } from 'vitest'
import type { GateMessages, PoliteGate } from '../src/index.ts'
import { listenTo } from './listen.ts'
import { simulate } from './simulation.ts'

const CHANNELS: readonly (keyof GateMessages)[] = [
  'politely:gate:wait',
  'politely:gate:start',
  'politely:gate:done',
  'politely:gate:refuse',
  'politely:gate:abandon',
  'politely:gate:failure',
]

describe('drain', () => {
  /** Returns whether `drain` resolves at once. */
  async function isDrained(gate: PoliteGate): Promise<boolean> {
    let drained = false
    void gate.drain().then(() => {
      drained = true
    })
    await vi.advanceTimersByTimeAsync(0)
    return drained
  }

  test('resolves at once if nothing waits and nothing is under way', async () => {
    const { gate } = await simulate({})
    expect(await isDrained(gate)).toBe(true)
  })

  test('waits for requests under way, for waiting requests, and for requests that enter meanwhile', async () => {
    const { gate, enter, advance } = await simulate({ 'a.test': '' })
    const first = await enter('a', 'a.test')
    const second = enter('b', 'a.test')
    expect(await isDrained(gate)).toBe(false)
    first.release()
    expect(await isDrained(gate)).toBe(false)
    const third = enter('c', 'a.test') // is admitted
    await advance(1_000)
    ;(await second).release()
    expect(await isDrained(gate)).toBe(false)
    await advance(1_000)
    ;(await third).release()
    expect(await isDrained(gate)).toBe(true)
  })

  test('does not wait for requests that were aborted, refused, or rejected by close', async () => {
    const { gate, enter, advance, site } = await simulate({ 'a.test': 'Disallow: /private' })
    const first = await enter('a', 'a.test')
    const controller = new AbortController()
    const outcomes = Promise.allSettled([
      enter('b', 'a.test', controller.signal),
      gate.enter(site.at('a.test', '/private')),
      enter('c', 'a.test'),
    ])
    await advance(1)
    controller.abort()
    await advance(1)
    expect(await isDrained(gate)).toBe(false)
    first.release()
    gate.close()
    await outcomes
    expect(await isDrained(gate)).toBe(true)
  })

  test('does not wait for a request whose `wait` message made a subscriber close the gate', async () => {
    const { gate, enter } = await simulate({ 'a.test': '' })
    const first = await enter('a', 'a.test')
    const unsubscribe = listenTo('politely:gate:wait', gate, () => gate.close())
    await expect(enter('b', 'a.test')).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    unsubscribe()
    first.release()
    expect(await isDrained(gate)).toBe(true)
  })

  test('asyncDispose closes the gate without waiting', async () => {
    const { gate, enter, advance } = await simulate({ 'a.test': '' })
    await enter('a', 'a.test')
    const second = expect(enter('b', 'a.test')).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    await advance(1)
    await gate[Symbol.asyncDispose]()
    await second
    await gate[Symbol.asyncDispose]()
  })
})

test('counters: counts requests that started, were refused, were abandoned, and waited, by reason', async () => {
  const { gate, enter, advance, site } = await simulate(
    { 'a.test': 'Crawl-delay: 2\nDisallow: /private', 'b.test': '' },
    { maxConcurrent: 2, maxConcurrentPerKey: 2 },
  )
  await expect(gate.enter(site.at('a.test', '/private'))).rejects.toThrow()
  await expect(gate.enter('no URL')).rejects.toThrow()
  ;(await enter('1', 'a.test')).release({ status: 429, headers: { 'retry-after': '10' } })
  const second = enter('2', 'a.test')
  const controller = new AbortController()
  const third = expect(enter('3', 'a.test', controller.signal)).rejects.toThrow()
  await advance(100)
  controller.abort()
  await third
  await advance(9_900)
  ;(await second).release()
  const fourth = enter('4', 'a.test')
  await advance(2_000)
  const held = [await fourth, await enter('5', 'b.test')]
  const sixth = enter('6', 'b.test')
  await advance(1_500)
  for (const one of held) one.release()
  ;(await sixth).release()
  const { waitHistogram, ...counters } = gate.counters
  expect(counters).toEqual({
    started: 5,
    done: 5,
    tooLong: 0,
    queueFull: 0,
    overBudget: 0,
    circuitsOpened: 0,
    circuitRefused: 0,
    disobeyedRules: 0,
    ignoredDelays: 0,
    pushbacks: 1,
    abandoned: 1,
    failures: 0,
    waits: {
      'own-delay': 0,
      'crawl-delay': 1,
      'request-rate': 0,
      'visit-time': 0,
      'retry-after': 1,
      backoff: 0,
      'rate-limit': 0,
      cap: 0,
      'slow-site': 0,
      'pacer-failure': 0,
      circuit: 0,
      concurrency: 1,
    },
    waitedMs: {
      'own-delay': 0,
      'crawl-delay': 2_000,
      'request-rate': 0,
      'visit-time': 0,
      'retry-after': 10_000,
      backoff: 0,
      'rate-limit': 0,
      cap: 0,
      'slow-site': 0,
      'pacer-failure': 0,
      circuit: 0,
      concurrency: 1_500,
    },
    refusals: { rule: 1, 'invalid-url': 1 },
  })
  const before = gate.counters
  void enter('7', 'b.test')
  await advance(1_000)
  expect(gate.counters.started).toBe(6)
  expect(before.started).toBe(5) // a snapshot
})

test('queues: lists how many requests wait and are under way, and what the first waits for', async () => {
  const { gate, enter, advance, site } = await simulate(
    { 'a.test': 'Crawl-delay: 2', 'b.test': '' },
    { maxConcurrentPerKey: 1 },
  )
  const [first, second] = [await enter('1', 'a.test'), await enter('2', 'b.test')]
  for (const host of ['a.test', 'a.test', 'b.test']) void enter('', host).then((one) => one.release())
  await advance(1)
  const [a, b] = [site.at('a.test', ''), site.at('b.test', '')]
  expect(gate.queues()).toEqual([
    { key: a, waiting: 2, underWay: 1, heldBy: 'concurrency', level: 'origin', oldestMs: 1 },
    { key: b, waiting: 1, underWay: 1, heldBy: 'concurrency', level: 'origin', oldestMs: 1 },
  ])
  first.release()
  second.release()
  expect(gate.queues()).toEqual([
    { key: a, waiting: 2, underWay: 0, heldBy: 'crawl-delay', level: 'origin' },
    { key: b, waiting: 1, underWay: 0, heldBy: 'own-delay', level: 'origin' },
  ])
  await advance(2_000)
  expect(gate.queues()).toEqual([{ key: a, waiting: 1, underWay: 0, heldBy: 'crawl-delay', level: 'origin' }])
  await advance(2_000)
  expect(gate.queues()).toEqual([])
})

test('publishes the steps of a crawl on the channels', async () => {
  const { gate, enter, advance, site, start } = await simulate({ 'a.test': 'Disallow: /private' })
  const published: unknown[] = []
  const waits: Promise<unknown>[] = []
  const stops = CHANNELS.map((name) =>
    listenTo(name, gate, ({ gate: _, counters, ...message }) => {
      expect(counters.snapshot()).toEqual(gate.counters)
      const { verdict, ended, ...others } = message as { verdict?: { because: string }; ended?: Promise<unknown> }
      if (ended !== undefined) waits.push(ended)
      published.push([name.replace('politely:gate:', ''), { ...others, ...(verdict && { verdict: verdict.because }) }])
    }),
  )
  const origin = site.at('a.test', '')
  const of = (path: string) => ({ url: `${origin}/${path}`, origin, key: origin })
  const first = await enter('1', 'a.test')
  const second = enter('2', 'a.test')
  const reason = new Error('enough')
  const controller = new AbortController()
  const third = expect(enter('3', 'a.test', controller.signal)).rejects.toBe(reason)
  await advance(100)
  first.release({ status: 503, headers: {} })
  controller.abort(reason)
  await third
  await expect(gate.enter(`${origin}/private`)).rejects.toThrow()
  await advance(5_000)
  ;(await second).release()
  const delay = { delayMs: 1_000, because: 'own-delay' }
  expect(published).toEqual([
    ['start', { ...of('1'), at: start, waitedMs: 0, waitedFor: 'none', waitedLevel: undefined, delay }],
    ['wait', { ...of('2'), at: start, because: 'own-delay', level: 'origin', ahead: 0 }],
    ['wait', { ...of('3'), at: start, because: 'own-delay', level: 'origin', ahead: 1 }],
    ['done', { ...of('1'), at: start + 100, tookMs: 100, status: 503 }],
    ['abandon', { ...of('3'), at: start + 100, waitedMs: 100, reason }],
    ['refuse', { url: `${origin}/private`, at: start + 100, verdict: 'rule' }],
    ['start', { ...of('2'), at: start + 5_100, waitedMs: 5_100, waitedFor: 'backoff', waitedLevel: 'origin', delay }],
    ['done', { ...of('2'), at: start + 5_100, tookMs: 0, status: undefined }],
  ])
  expect(await Promise.allSettled(waits)).toMatchObject([
    { value: { waitedMs: 5_100, waitedFor: 'backoff', waitedLevel: 'origin' } },
    { reason },
  ])
  for (const stop of stops) stop()
  const many = published.length
  ;(await enter('4', 'other.test').catch(() => undefined))?.release()
  expect(published.length).toBe(many)
})
