// RedisPacer and LocalPacer give the same replies to the same random calls, by the same clock.
import { randomUUID } from 'node:crypto'
import type { DayRange, RequestRate } from '@politely/core'
import type { Delay, PaceLimits, PaceResponse, PauseReason } from '@politely/core/engine'
import { LocalPacer, type Pacer, type Ticket } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { isFullRun } from '@politely/testkit/scope'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import { RedisPacer } from '../src/index.ts'
import { connectIoredis } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

type Random = () => number

/** 125,000 calls in the full run. */
const SEQUENCES = isFullRun ? 250 : 12
const CALLS = 500

const STATUSES = [200, 200, 200, 404, 429, 429, 503, 403, 430, 529, 0]
const PAUSE_REASONS: readonly PauseReason[] = [
  'retry-after',
  'backoff',
  'rate-limit',
  'own-delay',
  'crawl-delay',
  'cap',
]
const RETRY_AFTER = [
  '0',
  '1',
  '7',
  '120',
  '99999999',
  'Thu, 01 Jan 2026 00:05:00 GMT',
  'Wed, 31 Dec 2025 00:00:00 GMT',
  '64.57',
  '1m30s',
  '2026-01-01T00:05:00.25Z',
  'soon',
  undefined,
  undefined,
]

function hours(random: Random): DayRange {
  if (random() < 0.2) return { from: 0, to: 0 } // all day
  return { from: Math.floor(random() * 1440), to: Math.floor(random() * 1440) }
}

function some<T>(random: Random, max: number, one: () => T): T[] {
  return Array.from({ length: Math.floor(random() * (max + 1)) }, one)
}

function randomLimits(random: Random): PaceLimits {
  const rate = (): RequestRate => ({
    requests: pick(random, [1, 3, 7]),
    periodMs: pick(random, [1_000, 10_000, 3_600_000, 40 * 3_600_000, 90 * 3_600_000]),
    between: random() < 0.3 ? undefined : hours(random),
  })
  return {
    ownDelayMs: pick(random, [0, 0.1, 1_000, 1_000 * random()]),
    maxDelayMs: pick(random, [undefined, undefined, 0, 3_000, 100_000]),
    crawlDelayMs: pick(random, [undefined, undefined, 700, 10_000 * random()]),
    requestRates: random() < 0.5 ? undefined : some(random, random() < 0.1 ? 30 : 4, rate),
    visitTimes: random() < 0.8 ? undefined : some(random, 3, () => hours(random)),
    pauseFrom: pick(random, [undefined, 'start', 'end']),
    delayFactor: pick(random, [undefined, 0, 3, 10 * random()]),
  }
}

function randomResponse(random: Random): PaceResponse {
  const times = [0.1, 1_000, 5_000 * random(), 400_000, 7_200_000, Number.POSITIVE_INFINITY]
  return {
    status: pick(random, STATUSES),
    retryAfter: pick(random, RETRY_AFTER),
    isPushback: pick(random, [undefined, undefined, undefined, true, false]),
    requestedMs: random() < 0.7 ? undefined : pick(random, [0, -1, ...times]),
    backoff:
      random() < 0.5
        ? undefined
        : {
            firstMs: pick(random, times),
            maxMs: pick(random, times),
            factor: pick(random, [1, 1.3, 2, 10 * random(), 100]),
          },
  }
}

/**
 * Makes random calls of both pacers, as one gate does. Returns the first pair of replies that
 * differ, or how many slots there were.
 */
async function compare(seed: number, redis: Pacer, local: Pacer, advance: (ms: number) => void) {
  const random = seededRandom(seed)
  let limits = randomLimits(random)
  let lastWaitMs = 0
  let taken = 0
  let waiting: Ticket | undefined
  const slots: (readonly [redis: Ticket, local: Ticket, delay: Delay])[] = []
  for (let n = 0; n < CALLS; n++) {
    if (random() < 0.05) limits = randomLimits(random)
    const roll = random()
    const [ticket, localTicket, delay] = slots.length > 0 ? pick(random, slots) : []
    if (roll < 0.4) {
      const [one, other] = await Promise.all([redis.reserve('k', limits, waiting), local.reserve('k', limits)])
      waiting = one.kind === 'wait' ? one.ticket : undefined
      lastWaitMs = one.kind === 'wait' ? one.waitMs : 0
      if (one.kind === 'slot' && other.kind === 'slot') {
        slots.push([one.ticket, other.ticket, other.delay])
        taken++
      }
      const replies = [one, other].map((reply) => ({ ...reply, ticket: undefined }))
      if (!isSame(replies)) return { seed, n, limits, replies }
      if (slots.length > 5) slots.shift()
    } else if (roll < 0.6) {
      advance(pick(random, [lastWaitMs, lastWaitMs * random(), 1_000 * random(), 0.25, 3_600_000 * random()]))
    } else if (roll < 0.7) {
      const ahead = pick(random, [0, 1, 5, 120])
      const replies = await Promise.all([redis.estimate('k', limits, ahead), local.estimate('k', limits, ahead)])
      if (!isSame(replies)) return { seed, n, limits, ahead, replies }
    } else if (roll < 0.72) {
      const pauseMs = pick(random, [0, -1, 0.3, 3_000 * random(), 600_000 * random(), Number.POSITIVE_INFINITY])
      const because = pick(random, PAUSE_REASONS)
      await Promise.all([redis.pause?.('k', pauseMs, because), local.pause?.('k', pauseMs, because)])
    } else if (ticket !== undefined && localTicket !== undefined && delay !== undefined) {
      const response = randomResponse(random)
      const tookMs = 20_000 * random() ** 3
      for (const [pacer, own] of [
        [redis, ticket],
        [local, localTicket],
      ] as const) {
        if (roll < 0.74) await pacer.sent?.('k', own, delay)
        else if (roll < 0.82) await pacer.report('k', own, response)
        else if (roll < 0.9) await pacer.end('k', own, limits, tookMs)
        else await pacer.cancel('k', own)
      }
    }
  }
  return { taken }
}

function isSame([one, other]: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

describe.skipIf(noRedis())('RedisPacer', () => {
  test('replies like LocalPacer to random calls', async () => {
    const redis = await useRedis()
    const client = await connectIoredis(redis.url)
    const run = async (seed: number) => {
      const clock = startClock()
      const options = { client, keyPrefix: `${redis.keyPrefix}${randomUUID()}:` }
      await knowLongAgo(options, ['k'])
      const pacer = new RedisPacer({ ...options, now: clock.now, timeoutMs: 60_000 })
      return compare(seed, pacer, new LocalPacer(clock.now), clock.advance)
    }
    // Sequences run at the same time, so that they do not wait for one another's replies.
    const results = await Promise.all(Array.from({ length: SEQUENCES }, (_, seed) => run(seed)))
    expect(results.filter((result) => result.taken === undefined)).toEqual([])
    expect(results.reduce((sum, { taken = 0 }) => sum + taken, 0)).toBeGreaterThan((SEQUENCES * CALLS) / 25)
  })
})
