// What a worker sees when Redis fails, for each policy of RedisPacer. docs/fleet.md shows the
// table.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import type { Reservation } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import { expectTables } from '@politely/testkit/doc-page'
import { isFullRun } from '@politely/testkit/scope'
import { noRedisServer, type RedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RedisPacerMessages } from '../src/index.ts'
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

/** What the worker sees, as one row of the table. */
interface Seen {
  readonly during: string
  readonly after: string
  readonly error: string
  readonly starts: readonly number[]
}

async function run({ args = [], forMs = 0, fail, heal }: FailureCase, onFailure: Policy): Promise<Seen> {
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
  const errors: unknown[] = []
  let recoveries = 0
  listen('politely:redis:failure', ({ pacer: from, error }) => void (from === pacer && errors.push(error)))
  listen('politely:redis:recovered', ({ pacer: from }) => void (from === pacer && recoveries++))
  const starts: number[] = []
  const reserve = async (): Promise<Reservation> => {
    const reply = await pacer.reserve('k', limits)
    if (reply.kind === 'slot') starts.push(performance.now())
    return reply
  }
  /** Reserves until `isDone`, and waits as long as each reply says. */
  const until = async (isDone: (reply: Reservation) => boolean) => {
    for (;;) {
      const reply = await reserve()
      if (isDone(reply)) return reply
      await sleep(Math.ceil(reply.kind === 'slot' ? reply.delay.delayMs : reply.waitMs))
    }
  }
  const isOfRedis = (reply: Reservation) => reply.kind === 'slot' && !`${reply.ticket}`.startsWith('local')

  await until(isOfRedis)
  const rig = { redis, proxy, admin }
  await fail(rig)
  const startsBefore = starts.length
  const during = describeReply(await until((reply) => reply.kind === 'slot' || reply.because === 'pacer-failure'))
  if (forMs > 0) {
    const ends = performance.now() + forMs
    await until(() => performance.now() > ends)
  }
  const firstLocal = starts[startsBefore]
  if (pacer.counters.localSlots > 0 && firstLocal !== undefined) {
    // Another worker may have visited just before.
    expect(firstLocal - (starts[startsBefore - 1] as number)).toBeGreaterThanOrEqual(FLEET_SIZE * DELAY_MS)
  }
  await heal(rig)
  const after = describeReply(await until(isOfRedis))
  expect(recoveries > 0).toBe(errors.length > 0)
  expect(pacer.counters.failures).toBe(errors.length)
  return { during, after, error: describeError(errors[0]), starts }
}

function listen<N extends keyof RedisPacerMessages>(name: N, listener: (message: RedisPacerMessages[N]) => void): void {
  const onMessage = (message: unknown) => listener(message as RedisPacerMessages[N])
  subscribe(name, onMessage)
  onTestFinished(() => void unsubscribe(name, onMessage))
}

function describeReply(reply: Reservation): string {
  if (reply.kind === 'wait') return `a wait, \`${reply.because}\``
  const times = reply.delay.delayMs / DELAY_MS
  return times === 1 ? 'a slot' : `a slot with ${times === FLEET_SIZE ? '`fleetSize`' : times} times the delay`
}

/** The code of an error, or the first word of Redis's message. */
function describeError(error: unknown): string {
  if (error === undefined) return 'none'
  const { code, message } = error as { code?: string; message: string }
  return `\`${code?.startsWith('ERR_POLITELY') ? code : message.split(' ')[0]}\``
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

describe.skipIf(!isFullRun || noRedisServer())('when Redis fails', () => {
  test('a worker waits or paces locally, as the page says, and continues when Redis is back', async () => {
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
    const rows = results.map(
      ([name, [wait, local]]) => [name, wait?.during, local?.during, wait?.after, wait?.error] as string[],
    )
    const head = ['Redis is', 'a request gets with `wait`', 'with `local`', 'when it is back', 'error']
    await expectTables('docs/fleet.md', { head, rows })
  })
})
