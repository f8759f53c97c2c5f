// @module-tag slow
// What a worker sees when Redis fails, for each policy of RedisPacer. docs/fleet.md shows the
// table.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import { startClock } from '@politely/testkit/clock'
import { expectTables } from '@politely/testkit/doc-page'
import { expectAsDescribed, type SeenFailure, watchFailure } from '@politely/testkit/pacer-failure'
import { isFullRun } from '@politely/testkit/scope'
import { noRedisServer, type RedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPacer } from './clients.ts'
import { type RedisProxy, startRedisProxy } from './redis-proxy.ts'

const DELAY_MS = 40
const FLEET_SIZE = 3
const limits: PaceLimits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }

interface Rig {
  readonly redis: RedisServer
  readonly proxy: RedisProxy
  /** A client that does not pass through the proxy. */
  readonly admin: Redis
}

/**
 * Far more than a call takes on a busy machine while Redis is slow, and less than Redis needs to
 * load its data.
 */
const TIMEOUT_MS = 3_500

/** A failure, and its end. */
interface FailureCase {
  readonly name: string
  readonly args?: readonly string[]
  /** How long the failure lasts at least. */
  readonly forMs?: number
  fail(rig: Rig): unknown
  heal(rig: Rig): unknown
}

const cases: readonly FailureCase[] = [
  {
    name: 'slow: 200 ms per call',
    fail: ({ proxy }) => (proxy.delayMs = () => 200),
    heal: ({ proxy }) => (proxy.delayMs = () => 0),
  },
  {
    name: 'slower than `timeoutMs`',
    fail: ({ proxy }) => (proxy.delayMs = () => 2 * TIMEOUT_MS),
    heal: ({ proxy }) => (proxy.delayMs = () => 0),
  },
  {
    name: 'full (`maxmemory` with `noeviction`)',
    fail: ({ admin }) => admin.config('SET', 'maxmemory', '1'),
    heal: ({ admin }) => admin.config('SET', 'maxmemory', '0'),
  },
  {
    name: 'loading its data',
    args: ['--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024'],
    fail: async ({ admin, redis }) => {
      await admin.call('DEBUG', 'POPULATE', '12000') // six seconds
      void redis.restart({ keepData: true }).catch(() => undefined)
      await sleep(600)
    },
    heal: ({ admin }) => admin.ping(),
  },
  {
    name: 'a read-only replica',
    fail: ({ admin }) => admin.replicaof('127.0.0.1', 1),
    heal: ({ admin }) => admin.replicaof('NO', 'ONE'),
  },
  {
    name: 'cut off',
    forMs: isFullRun ? 30_000 : 300,
    fail: ({ proxy }) => (proxy.isCut = true),
    heal: ({ proxy }) => (proxy.isCut = false),
  },
  {
    name: 'replies with garbage',
    fail: ({ proxy }) => (proxy.garbage = '*2\r\n$4\r\nslot\r\n$3\r\nNaN\r\n'),
    heal: ({ proxy }) => (proxy.garbage = undefined),
  },
  {
    name: 'replies in another protocol',
    fail: ({ proxy }) => (proxy.garbage = 'HTTP/1.1 400 Bad Request\r\n\r\n'),
    heal: ({ proxy }) => (proxy.garbage = undefined),
  },
  {
    name: 'ended, and started again without its data',
    fail: ({ redis }) => redis.kill(),
    heal: ({ redis }) => redis.restart({ keepData: false }),
  },
]

type Policy = 'wait' | 'local'

async function run({ args = [], forMs = 0, fail, heal }: FailureCase, onFailure: Policy): Promise<SeenFailure> {
  const redis = await startRedis({ args: ['--enable-debug-command', 'yes', ...args] })
  onTestFinished(redis.stop)
  const proxy = await startRedisProxy(redis.port)
  const [client, admin] = [proxy.url, redis.url].map((url) => {
    const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null })
    client.on('error', () => undefined)
    onTestFinished(() => client.disconnect())
    return client
  }) as [Redis, Redis]
  const policy = onFailure === 'local' ? { onFailure, fleetSize: FLEET_SIZE } : {}
  const pacer = openPacer({ client, timeoutMs: TIMEOUT_MS, ...policy })
  const rig = { redis, proxy, admin }
  return await watchFailure({
    ...{ pacer, channels: 'politely:redis', delayMs: DELAY_MS, fleetSize: FLEET_SIZE, forMs },
    fail: () => fail(rig),
    heal: () => heal(rig),
  })
}

test('calls that fail together count as one failure, and the next attempt comes after 250 ms', async () => {
  let calls = 0
  const client = {
    callBuffer: async () => {
      calls++
      await new Promise((turn) => setImmediate(turn))
      throw new Error('away')
    },
  }
  const clock = startClock()
  const pacer = openPacer({ client, now: clock.now })
  const replies = await Promise.all(Array.from({ length: 10 }, () => pacer.reserve('k', limits)))
  expect(calls).toBe(10)
  expect(pacer.counters.failures).toBe(10)
  expect(replies).toEqual(
    replies.map(() => ({ kind: 'wait', ticket: undefined, waitMs: 250, because: 'pacer-failure' })),
  )
  clock.advance(250)
  expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 500, because: 'pacer-failure' })
  expect(calls).toBe(11)
})

test('an outage lasts until a call succeeds and the other buckets work, or have no requests', async () => {
  let isAway = (_: string) => false
  const slot = ['slot', '1', '0', '1', '40', 'own-delay', '0']
  const wait = ['done', '1', '0']
  const client = {
    callBuffer: async (_command: string, args: readonly string[]) => {
      const [, , paceKey = '', , request = ''] = args
      await new Promise((turn) => setImmediate(turn))
      if (isAway(paceKey)) throw new Error('away')
      return JSON.parse(request).op === 'reserve' ? slot : wait
    },
  }
  const clock = startClock()
  const pacer = openPacer({ client, now: clock.now, timeoutMs: 1_000 })
  await pacer.probe()
  expect(pacer.outage).toBe(undefined)
  const since = clock.now()
  isAway = () => true
  await Promise.all([pacer.reserve('k', limits), pacer.reserve('other', limits), pacer.probe()])
  clock.advance(250)
  await pacer.reserve('k', limits)
  expect(pacer.outage).toEqual({ since, failures: 4, error: new Error('away'), grants: false })
  isAway = (key) => key.includes('pace:other')
  clock.advance(500)
  await Promise.all([pacer.reserve('k', limits), pacer.reserve('other', limits), pacer.probe()])
  expect(pacer.outage).toMatchObject({ since, failures: 5 })
  clock.advance(5_000)
  await pacer.probe()
  expect(pacer.outage).toMatchObject({ since })
  clock.advance(5_000) // requests of this bucket would have tried again
  await pacer.probe()
  expect(pacer.outage).toBe(undefined)
})

describe.skipIf(noRedisServer())('when Redis fails', { tags: 'full' }, () => {
  test('a worker waits or paces locally, as the page says, and continues when Redis is back', {
    tags: 'page',
  }, async () => {
    const policies = ['wait', 'local'] as const
    const results = await Promise.all(
      cases.map(async (one) => [one.name, await Promise.all(policies.map((policy) => run(one, policy)))] as const),
    )
    for (const [name, seen] of results) {
      for (const { starts } of seen) {
        const gaps = starts.slice(1).map((at, i) => at - (starts[i] as number))
        expect(Math.min(...gaps), name).toBeGreaterThanOrEqual(DELAY_MS)
      }
    }
    const rows = results.map(([name, [wait, local]]) => {
      expectAsDescribed(name, wait as SeenFailure, local as SeenFailure)
      return [name, (wait as SeenFailure).error]
    })
    await expectTables('docs/fleet.md', { head: ['Redis is', 'error'], rows })
  })
})
