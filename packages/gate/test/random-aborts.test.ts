// @module-tag timers
// Thousands of requests at random times, most of which are aborted at random times. Each request
// gets at most one permit, none is forgotten, and no state remains.

import { RobotsClient } from '@politely/fetcher'
import { seededIntegers } from '@politely/testkit/random-robots'
import { firstInShortRun, isFullRun } from '@politely/testkit/scope'
import { afterEach, expect, test, vi } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { lookup, Site } from './site.ts'

const CALLERS = isFullRun ? 10_000 : 800
const ABORTS = 0.7 * CALLERS
/**
 * When the last request is made, in milliseconds. The more requests, the later, so that a constant
 * share of them waits.
 */
const ARRIVALS_WITHIN_MS = 2.4 * CALLERS
/** The crawl-delays of the origins, in milliseconds. */
const DELAYS = [0, 0, 10, 25, 40, 75]
const MAX_CONCURRENT_PER_ORIGIN = 3
const MAX_CONCURRENT = 10

afterEach(() => {
  vi.useRealTimers()
})

const crawls = [
  { seed: 1, minDelayPerAddressMs: 0 },
  { seed: 3, minDelayPerAddressMs: 3 },
  { seed: 2, minDelayPerAddressMs: 0 },
]

test.each(firstInShortRun(crawls))(
  'grants and aborts thousands of requests: %o',
  async ({ seed, minDelayPerAddressMs }) => {
    const random = seededIntegers(seed)
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
      maxConcurrentPerKey: MAX_CONCURRENT_PER_ORIGIN,
      maxConcurrent: MAX_CONCURRENT,
      lookup,
      minDelayPerAddressMs, // all origins have one address
      minDelayPerDomainMs: minDelayPerAddressMs / 3,
    })
    const pause = (ms: number) => new Promise((over) => setTimeout(over, ms))

    const grants = DELAYS.map((): { caller: number; at: number }[] => [])
    const underWay = DELAYS.map(() => 0)
    let peak = 0
    let peakOfOrigin = 0
    const outcomes: string[] = []

    const call = async (caller: number, aborts: boolean) => {
      const origin = random(DELAYS.length)
      const [arrivesAt, abortsAfter, takes] = [
        random(3) * random(ARRIVALS_WITHIN_MS / 2),
        random(1.5 * ARRIVALS_WITHIN_MS),
        random(30),
      ]
      await pause(arrivesAt)
      const controller = new AbortController()
      const reason = new Error(`caller ${caller} aborts`)
      if (aborts) void pause(abortsAfter).then(() => controller.abort(reason))
      try {
        const permit = await gate.enter(urls[origin] ?? '', { signal: controller.signal })
        grants[origin]?.push({ caller, at: Date.now() })
        underWay[origin] = (underWay[origin] ?? 0) + 1
        peakOfOrigin = Math.max(peakOfOrigin, ...underWay)
        peak = Math.max(
          peak,
          underWay.reduce((sum, count) => sum + count),
        )
        await pause(takes)
        underWay[origin] = (underWay[origin] ?? 0) - 1
        permit.release({ status: 200, headers: {} })
        outcomes[caller] = aborts ? 'granted before the abort' : 'granted'
      } catch (error) {
        outcomes[caller] = error === reason ? 'aborted' : String(error)
      }
    }
    const aborting = new Set<number>()
    while (aborting.size < ABORTS) aborting.add(random(CALLERS))
    const calls = Array.from({ length: CALLERS }, (_, caller) => call(caller, aborting.has(caller)))
    await vi.advanceTimersByTimeAsync(400_000)
    await Promise.all(calls)

    const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
    expect(count('granted')).toBe(CALLERS - ABORTS)
    expect(count('granted before the abort') + count('aborted')).toBe(ABORTS)
    // Both outcomes must be common, or the test proves little.
    expect(count('aborted')).toBeGreaterThan(CALLERS / 10)
    expect(count('granted before the abort')).toBeGreaterThan(CALLERS / 10)

    const all = grants.flat().map(({ caller }) => caller)
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBe(count('granted') + count('granted before the abort'))
    for (const [origin, times] of grants.entries()) {
      const gaps = times.slice(1).map(({ at }, n) => at - (times[n]?.at ?? 0))
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAYS[origin] ?? 0)
    }
    const times = grants
      .flat()
      .map(({ at }) => at)
      .sort((one, other) => one - other)
    expect(Math.min(...times.slice(1).map((at, n) => at - (times[n] ?? 0)))).toBeGreaterThanOrEqual(
      minDelayPerAddressMs,
    )
    if (minDelayPerAddressMs === 0) {
      expect({ peak, peakOfOrigin }).toEqual({ peak: MAX_CONCURRENT, peakOfOrigin: MAX_CONCURRENT_PER_ORIGIN })
    }

    // Every permit was released, no timer is left, and the counts add up.
    expect(gate.queues()).toEqual([])
    expect(gate.counters).toMatchObject({ started: all.length, done: all.length, abandoned: count('aborted') })
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(1_000)
    const permits = [...urls.slice(0, 2), ...urls.slice(0, 2), ...urls.slice(0, 2)].map((url) => gate.enter(url))
    await vi.advanceTimersByTimeAsync(permits.length * minDelayPerAddressMs)
    if (minDelayPerAddressMs === 0) for (const permit of permits) expect((await permit).waitedMs).toBe(0)
    await Promise.all(permits)
    await robots.close()
    await site.close()
  },
)
