// Ten thousand callers, seven thousand of whom give up at some moment: nobody is granted twice, nobody is lost, and nothing is left of them.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { RobotsClient } from '@politely/fetcher'
import { isFullRun } from '@politely/testkit/scope'
import { afterEach, expect, test, vi } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { lookup, Site } from './site.ts'

const CALLERS = 10_000
const ABORTS = 7_000
/** Pauses of the origins, in milliseconds. */
const DELAYS = [0, 0, 10, 25, 40, 75]
const MOST_OF_ONE = 3
const MOST = 10

/** mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below)
  }
}

afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 2])('seed %i', { timeout: 60_000 }, async (seed) => {
  const random = randomFrom(seed)
  const site = await Site.open(
    Object.fromEntries(DELAYS.map((ms, n) => [`o${n}.test`, `User-agent: *\nCrawl-delay: ${ms / 1000}\n`])),
  )
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  const urls = DELAYS.map((_, n) => site.at(`o${n}.test`, '/page'))
  for (const url of urls) await robots.check(url)

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const gate = new PoliteGate({
    robots,
    now: () => Date.now(),
    minDelayMs: 0,
    maxConcurrentPerOrigin: MOST_OF_ONE,
    maxConcurrent: MOST,
  })
  const pause = (ms: number) => new Promise((over) => setTimeout(over, ms))

  const grants = DELAYS.map((): { caller: number; at: number }[] => [])
  const underWay = DELAYS.map(() => 0)
  let most = 0
  let mostOfOne = 0
  const fates: string[] = []

  const call = async (caller: number, aborts: boolean) => {
    const origin = random(DELAYS.length)
    const [comesAt, patience, takes] = [random(3) * random(12_000), random(36_000), random(30)]
    await pause(comesAt)
    const controller = new AbortController()
    const reason = new Error(`caller ${caller} had enough`)
    if (aborts) void pause(patience).then(() => controller.abort(reason))
    try {
      const permit = await gate.enter(urls[origin] ?? '', { signal: controller.signal })
      grants[origin]?.push({ caller, at: Date.now() })
      underWay[origin] = (underWay[origin] ?? 0) + 1
      mostOfOne = Math.max(mostOfOne, ...underWay)
      most = Math.max(
        most,
        underWay.reduce((sum, count) => sum + count),
      )
      await pause(takes)
      underWay[origin] = (underWay[origin] ?? 0) - 1
      permit.release({ status: 200, headers: {} })
      fates[caller] = aborts ? 'granted before it gave up' : 'granted'
    } catch (error) {
      fates[caller] = error === reason ? 'gave up' : String(error)
    }
  }
  const aborting = new Set<number>()
  while (aborting.size < ABORTS) aborting.add(random(CALLERS))
  const calls = Array.from({ length: CALLERS }, (_, caller) => call(caller, aborting.has(caller)))
  await vi.advanceTimersByTimeAsync(400_000)
  await Promise.all(calls)

  const count = (fate: string) => fates.filter((each) => each === fate).length
  expect(count('granted')).toBe(CALLERS - ABORTS)
  expect(count('granted before it gave up') + count('gave up')).toBe(ABORTS)
  // Not vacuous: many gave up while they waited, and many were granted before.
  expect(count('gave up')).toBeGreaterThan(1_000)
  expect(count('granted before it gave up')).toBeGreaterThan(1_000)

  const all = grants.flat().map(({ caller }) => caller)
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBe(count('granted') + count('granted before it gave up'))
  for (const [origin, times] of grants.entries()) {
    const gaps = times.slice(1).map(({ at }, n) => at - (times[n]?.at ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAYS[origin] ?? 0)
  }
  expect({ most, mostOfOne }).toEqual({ most: MOST, mostOfOne: MOST_OF_ONE })

  // Every place came back, nothing ticks, and what is counted adds up.
  expect(gate.queues()).toEqual([])
  expect(gate.counters).toMatchObject({ started: all.length, done: all.length, abandoned: count('gave up') })
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(1_000)
  const permits = [...urls.slice(0, 2), ...urls.slice(0, 2), ...urls.slice(0, 2)].map((url) => gate.enter(url))
  for (const permit of permits) expect((await permit).waitedMs).toBe(0)
  await robots.close()
  await site.close()
})

test.runIf(isFullRun)('of ten thousand who waited and gave up no memory stays', async () => {
  const site = await Site.open({ '*': 'User-agent: *\nCrawl-delay: 3600\n' })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
  const gate = new PoliteGate({ robots })
  const url = site.at('a.test', '/page')
  ;(await gate.enter(url)).release() // now everyone waits for an hour
  const crowd = async () => {
    const random = randomFrom(1)
    const controllers = Array.from({ length: CALLERS }, () => new AbortController())
    const outcomes = Promise.allSettled(controllers.map(({ signal }) => gate.enter(url, { signal })))
    await gate.when(url)
    expect(gate.queues()).toMatchObject([{ waiting: CALLERS }])
    while (controllers.length > 0) controllers.splice(random(controllers.length), 1)[0]?.abort()
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true)
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldBytes = async () => {
    for (let turns = 0; turns < 4; turns++) {
      collect()
      await new Promise((turn) => setImmediate(turn))
    }
    return process.memoryUsage().heapUsed
  }
  for (let times = 0; times < 4; times++) await crowd() // what is compiled, and grows once, is there now
  const before = await heldBytes()
  for (let times = 0; times < 3; times++) await crowd()
  const perCaller = ((await heldBytes()) - before) / (3 * CALLERS)
  expect(perCaller).toBeLessThan(30) // one pass alone has more
  expect(gate.queues()).toEqual([])
  gate.close()
  await robots.close()
  await site.close()
})
