// @module-tag full
// RedisPacer and LocalPacer give the same replies to the same random calls, by the same clock.
import { randomUUID } from 'node:crypto'
import { LocalPacer } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import { comparePacers } from '@politely/testkit/random-pacer-calls'
import { deepSampled } from '@politely/testkit/scope'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import { RedisPacer } from '../src/index.ts'
import { connectIoredis } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

/** 125,000 calls in the deep run. */
const SEQUENCES = deepSampled(250, 12)
const CALLS = 500

describe.skipIf(noRedis())('RedisPacer', () => {
  test('replies like LocalPacer to random calls', async () => {
    const redis = await useRedis()
    const client = await connectIoredis(redis.url)
    const run = async (seed: number) => {
      const clock = startClock()
      const options = { client, keyPrefix: `${redis.keyPrefix}${randomUUID()}:` }
      await knowLongAgo(options, ['k'])
      const pacer = new RedisPacer({ ...options, now: clock.now, timeoutMs: 60_000 })
      const local = new LocalPacer(clock.now)
      return comparePacers({ seed, calls: CALLS, key: 'k', pacer, local, advance: clock.advance })
    }
    // Sequences run at the same time, so that they do not wait for one another's replies.
    const results = await Promise.all(Array.from({ length: SEQUENCES }, (_, seed) => run(seed)))
    expect(results.filter((result) => result.taken === undefined)).toEqual([])
    expect(results.reduce((sum, { taken = 0 }) => sum + taken, 0)).toBeGreaterThan((SEQUENCES * CALLS) / 25)
  })
})
