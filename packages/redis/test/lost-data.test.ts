// RedisPacer when data is lost, by a clock that the test sets: each key counts as just visited.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import { startClock } from '@politely/testkit/clock'
import { noRedis, noRedisServer, startRedis, useRedis } from '@politely/testkit/servers/redis'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RedisPacer, RedisPacerOptions } from '../src/index.ts'
import { connectIoredis, openPacer } from './clients.ts'
import { connectCluster } from './cluster.ts'
import { epochKeyOf, knowLongAgo } from './epoch.ts'
import { startRedisProxy } from './redis-proxy.ts'

const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

/** A pacer whose keys have been known for long. */
async function startPacer(options: Partial<RedisPacerOptions> = {}) {
  const { url, keyPrefix } = await useRedis()
  const client = await connectIoredis(url)
  await knowLongAgo({ client, keyPrefix }, ['k'])
  const clock = startClock()
  const newPacer = () => openPacer({ client, keyPrefix, now: clock.now, ...options })
  return { client, keyPrefix, clock, newPacer, pacer: newPacer() }
}

/**
 * A pacer that reaches Redis through a proxy, and one of another worker that does not. Their keys
 * have been known for long.
 */
async function startBehindProxy(options: Partial<RedisPacerOptions> = {}) {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const proxy = await startRedisProxy(redis.port)
  const [client, direct] = [await connectIoredis(proxy.url), await connectIoredis(redis.url)]
  await knowLongAgo({ client, keyPrefix: 'p:' }, ['k'])
  const pacer = openPacer({ client, keyPrefix: 'p:', ...options })
  return { proxy, pacer, other: openPacer({ client: direct, keyPrefix: 'p:' }) }
}

const deleteAll = async (client: Redis, keyPrefix: string) => {
  for (const key of await client.keys(`${keyPrefix}*`)) await client.del(key)
}

type Damage = (client: Redis, keyPrefix: string) => Promise<unknown>

const damages: readonly (readonly [string, Damage])[] = [
  ['everything is deleted', deleteAll],
  [
    'the epoch is deleted, and the pace is old',
    async (client, keyPrefix) => {
      await client.del(await epochKeyOf(client, keyPrefix, 'k'))
    },
  ],
  [
    'the epoch is of another run of the server',
    async (client, keyPrefix) => {
      await client.set(await epochKeyOf(client, keyPrefix, 'k'), '0 0123456789abcdef')
    },
  ],
  ...['text', ''].map(
    (text) =>
      [
        `the pace is overwritten with ${JSON.stringify(text)}`,
        async (client: Redis, keyPrefix: string) => {
          const [key = ''] = await client.keys(`${keyPrefix}*:pace:k`)
          await client.set(key, text)
        },
      ] as const,
  ),
  ...[
    ['its time is a text', 2, "'text'"],
    ['its time is infinite', 2, 'math.huge'],
    ['its reason is a number', 3, '5'],
    ['a request under way has no delay', 12, '5'],
  ].map(
    ([name, field, value]) =>
      [
        `in the pace, ${name}`,
        async (client: Redis, keyPrefix: string) => {
          const [key = ''] = await client.keys(`${keyPrefix}*:pace:k`)
          const change = `local pace = cmsgpack.unpack(redis.call('GET', KEYS[1])); pace[${field}] = ${value}`
          await client.eval(`${change}; redis.call('SET', KEYS[1], cmsgpack.pack(pace))`, 1, key)
        },
      ] as const,
  ),
  [
    'the pace is overwritten with a list',
    async (client, keyPrefix) => {
      const [key = ''] = await client.keys(`${keyPrefix}*:pace:k`)
      await client.del(key)
      await client.lpush(key, 'text')
    },
  ],
]

const delays: readonly (readonly [string, Partial<PaceLimits>, number, string])[] = [
  ['one delay', {}, 1_000, 'own-delay'],
  ['the crawl-delay', { crawlDelayMs: 7_000 }, 7_000, 'crawl-delay'],
  ['the longest delay that delayFactor causes', { delayFactor: 2 }, 30_000, 'slow-site'],
  ['maxDelayMs with delayFactor', { delayFactor: 2, maxDelayMs: 5_000 }, 5_000, 'slow-site'],
]

describe.skipIf(noRedis())('lost data', () => {
  test.for(damages.flatMap(([name, damage]) => delays.map((delay) => [name, delay[0], damage, delay] as const)))(
    'when %s, the next slot comes after %s',
    async ([, , damage, [, more, delayMs, because]]) => {
      const { client, keyPrefix, clock, pacer } = await startPacer()
      const asked = { ...limits, ...more }
      expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'slot' })
      await damage(client, keyPrefix)
      const wait = await pacer.reserve('k', asked)
      expect(wait).toMatchObject({ kind: 'wait', waitMs: delayMs, because })
      clock.advance(delayMs - 1)
      expect(await pacer.reserve('k', asked, wait.ticket)).toMatchObject({ kind: 'wait', waitMs: 1 })
      clock.advance(1)
      expect(await pacer.reserve('k', asked, wait.ticket)).toMatchObject({ kind: 'slot' })
    },
  )

  test('all keys wait at the same time, and only the worker that finds the loss makes more calls', async () => {
    const { client, keyPrefix, clock, pacer, newPacer } = await startPacer()
    const keys = Array.from({ length: 300 }, (_, i) => `http://n${i}.test`)
    const epochs = async () => (await client.keys(`${keyPrefix}*:epoch`)).length
    for (let loss = 1; loss <= 2; loss++) {
      await deleteAll(client, keyPrefix)
      expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
      await expect.poll(epochs).toBe(64)
      expect(pacer.counters.calls).toBe(loss * (1 + 64))
      clock.advance(1_000)
      const other = newPacer()
      for (const key of keys) expect(await other.reserve(key, limits)).toMatchObject({ kind: 'slot' })
      expect(other.counters.calls).toBe(keys.length)
    }
  })

  test('a hash tag that still has its data keeps its epoch', async () => {
    const { client, keyPrefix, clock, pacer, newPacer } = await startPacer()
    const lost = await epochKeyOf(client, keyPrefix, 'k')
    const valuesOf = async () => {
      const keys = (await client.keys(`${keyPrefix}*:epoch`)).filter((key) => key !== lost)
      return Promise.all(keys.sort().map((key) => client.get(key)))
    }
    const before = await valuesOf()
    expect(before).toHaveLength(63)
    await client.del(lost)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    await expect.poll(() => pacer.counters.calls).toBe(1 + 64)
    await newPacer().estimate('k', limits, 0) // its reply comes after the other ones
    expect(await valuesOf()).toEqual(before)
    clock.advance(1_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
    expect(pacer.counters.calls).toBe(2 + 64)

    const [pace = ''] = await client.keys(`${keyPrefix}*:pace:k`)
    await client.set(pace, 'of another program') // the epochs of other hash tags cannot be lost
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    await newPacer().estimate('k', limits, 0)
    expect(pacer.counters.calls).toBe(3 + 64)
  })

  test.for([
    [0, 1],
    [1, 3],
    [2, 3],
  ] as const)('with %d further slots, the next slot also comes after up to %d replies', async ([further, replies]) => {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    const client = await connectIoredis(redis.url)
    await knowLongAgo({ client, keyPrefix: 'p:' }, ['k'])
    const pacer = openPacer({ client, keyPrefix: 'p:', timeoutMs: 5_000 })
    const slot = await pacer.reserve('k', limits, undefined, further)
    await client.flushall() // as if the reply with the slot were still under way
    const waits = [await pacer.reserve('k', limits, undefined, further)]
    if (further === 0) waits.push((await pacer.estimate('k', limits, 0)) as never)
    const longestMs = replies * 5_000 + 2
    for (const wait of waits) {
      expect(wait).toMatchObject({ because: 'own-delay' })
      expect('waitMs' in wait && wait.waitMs).toBeGreaterThan(longestMs)
      expect('waitMs' in wait && wait.waitMs).toBeLessThanOrEqual(longestMs + 1_001)
    }
    expect(slot.kind === 'slot' && slot.startWithinMs).toBeLessThanOrEqual(longestMs)
  })

  test('with pauseFrom end, a request may be under way, so the next slot comes after two minutes', async () => {
    const { client, keyPrefix, clock, pacer } = await startPacer()
    const asked: PaceLimits = { ...limits, pauseFrom: 'end' }
    await deleteAll(client, keyPrefix)
    expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    clock.advance(119_999)
    expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'wait' })
    clock.advance(1)
    expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'slot' })
  })

  test('a late call with the ticket of a lost slot does not affect later slots', async () => {
    const { client, keyPrefix, clock, pacer } = await startPacer()
    const lost = await pacer.reserve('k', limits)
    await deleteAll(client, keyPrefix)
    await pacer.cancel('other', '1')
    clock.advance(1_000)
    await pacer.reserve('k', limits)
    clock.advance(1_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
    await pacer.cancel('k', lost.ticket ?? '')
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
  })

  test('the worker that got a Retry-After passes it on with its next call', async () => {
    const { client, keyPrefix, clock, pacer, newPacer } = await startPacer()
    const slot = await pacer.reserve('k', limits)
    await pacer.report('k', slot.ticket ?? '', { status: 429, retryAfter: '60' })
    await deleteAll(client, keyPrefix)
    clock.advance(10_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 50_000, because: 'retry-after' })
    expect(await newPacer().estimate('k', limits, 0)).toEqual({ waitMs: 50_000, because: 'retry-after' })
  })

  test('the worker that told Redis of a pause passes it on with its next call', async () => {
    const { client, keyPrefix, clock, pacer, newPacer } = await startPacer()
    await pacer.pause('k', 60_000, 'rate-limit')
    expect(await newPacer().estimate('k', limits, 0)).toEqual({ waitMs: 60_000, because: 'rate-limit' })
    await deleteAll(client, keyPrefix)
    clock.advance(10_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 50_000, because: 'rate-limit' })
    expect(await newPacer().estimate('k', limits, 0)).toEqual({ waitMs: 50_000, because: 'rate-limit' })
  })

  test('the worker that told Redis of a pause passes it on when another key shows the loss', async () => {
    const { client, keyPrefix, clock, pacer, newPacer } = await startPacer()
    await pacer.pause('k', 60_000, 'rate-limit')
    await deleteAll(client, keyPrefix)
    clock.advance(10_000)
    await pacer.reserve('other', limits)
    await expect.poll(() => newPacer().estimate('k', limits, 0)).toEqual({ waitMs: 50_000, because: 'rate-limit' })
  })

  test('a shorter Retry-After does not replace a longer one that Redis has lost', async () => {
    const { client, keyPrefix, clock, pacer } = await startPacer()
    const first = await pacer.reserve('k', limits)
    clock.advance(1_000)
    const second = await pacer.reserve('k', limits)
    await pacer.report('k', first.ticket ?? '', { status: 429, retryAfter: '100' })
    await deleteAll(client, keyPrefix)
    await pacer.report('k', second.ticket ?? '', { status: 429, retryAfter: '10' })
    await deleteAll(client, keyPrefix)
    clock.advance(1_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 99_000, because: 'retry-after' })
  })
})

test.skipIf(noRedisServer())(
  'when one node of a cluster loses its data, only its keys wait, and at the same time',
  { tags: 'full' },
  async () => {
    const { servers, clients } = await connectCluster()
    const lossy = await connectIoredis(servers[1]?.url ?? '')
    const keys = Array.from({ length: 100 }, (_, i) => `http://n${i}.test`)
    for (const [i, client] of clients.entries()) {
      const keyPrefix = `x${i}:`
      await knowLongAgo({ client, keyPrefix }, keys)
      const clock = startClock()
      const pacer = openPacer({ client, keyPrefix, now: clock.now })
      for (const key of keys) expect(await pacer.reserve(key, limits)).toMatchObject({ kind: 'slot' })
      clock.advance(1_000)
      const epochs = async () => (await lossy.keys(`${keyPrefix}*:epoch`)).length
      const [lost, paces] = [await epochs(), await lossy.keys(`${keyPrefix}*:pace:http*`)]
      await lossy.flushall()
      const ofNode = keys.filter((key) => paces.some((pace) => pace.endsWith(key)))
      expect(ofNode.length).toBeGreaterThan(10)
      expect(await pacer.reserve(ofNode[0] ?? '', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
      await expect.poll(epochs).toBe(lost)
      clock.advance(999)
      for (const key of keys) {
        const { waitMs } = await pacer.estimate(key, limits, 0)
        expect(waitMs).toBe(ofNode.includes(key) ? 1 : 0)
      }
      clock.advance(1)
      for (const key of ofNode) expect(await pacer.reserve(key, limits)).toMatchObject({ kind: 'slot' })
    }
  },
)

describe.skipIf(noRedis())('turns', () => {
  test('workers that wait for one key come one after another', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    await pacer.reserve('k', limits)
    const workers = [newPacer(), newPacer(), newPacer()]
    const waits = []
    for (const worker of workers) waits.push(await worker.reserve('k', limits))
    expect(waits.map((wait) => wait.kind === 'wait' && wait.waitMs)).toEqual([1_000, 2_000, 3_000])
    for (const [i, worker] of workers.entries()) {
      clock.advance(1_000)
      expect(await worker.reserve('k', limits, waits[i]?.ticket)).toMatchObject({ kind: 'slot' })
    }
  })

  test('a turn that is given up goes to the next worker', async () => {
    const { newPacer, pacer } = await startPacer()
    await pacer.reserve('k', limits)
    const first = await newPacer().reserve('k', limits)
    const second = await newPacer().reserve('k', limits)
    expect([first, second]).toMatchObject([{ waitMs: 1_000 }, { waitMs: 2_000 }])
    await pacer.cancel('k', second.ticket ?? '')
    expect(await newPacer().reserve('k', limits)).toMatchObject({ waitMs: 2_000 })
  })

  test('workers that give up their turns and ask again do not push the last turn away', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    const long = { ...limits, ownDelayMs: 10_000 }
    await pacer.reserve('k', long)
    const workers = [newPacer(), newPacer(), newPacer()]
    const waits = []
    for (const worker of workers) waits.push(await worker.reserve('k', long))
    for (let n = 0; n < 60; n++) {
      clock.advance(100)
      const i = n % workers.length
      await workers[i]?.cancel('k', waits[i]?.ticket ?? '')
      waits[i] = await (workers[i] as RedisPacer).reserve('k', long)
      expect(waits[i]).toMatchObject({ kind: 'wait' })
    }
    const longest = Math.max(...waits.map((wait) => (wait.kind === 'wait' ? wait.waitMs : 0)))
    expect(longest).toBeLessThanOrEqual(workers.length * 10_000)
    for (const [i, worker] of workers.entries()) await worker.cancel('k', waits[i]?.ticket ?? '')
    expect(await newPacer().reserve('k', long)).toMatchObject({ waitMs: 4_000 })
  })

  test('a turn that has passed moves no other turn forward when it is given up', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    await pacer.reserve('k', limits)
    const first = await newPacer().reserve('k', limits)
    for (let n = 0; n < 2; n++) await newPacer().reserve('k', limits)
    clock.advance(1_500)
    await pacer.cancel('k', first.ticket ?? '')
    expect(await newPacer().reserve('k', limits)).toMatchObject({ waitMs: 2_500 }) // the last turn is 1.5 s away
  })

  test('a worker without a turn does not take the slot that another worker has waited for', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    await pacer.reserve('k', limits)
    const other = newPacer()
    const first = await other.reserve('k', limits)
    const second = await newPacer().reserve('k', limits)
    clock.advance(1_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 2_000, because: 'own-delay' })
    expect(await other.reserve('k', limits, first.ticket)).toMatchObject({ kind: 'slot' })
    clock.advance(1_000)
    expect(await newPacer().reserve('k', limits, second.ticket)).toMatchObject({ kind: 'slot' })
  })

  test('a worker that does not come for its turn delays the others by one delay', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    await pacer.reserve('k', limits)
    await newPacer().reserve('k', limits) // this worker dies
    const next = await newPacer().reserve('k', limits)
    expect(next).toMatchObject({ waitMs: 2_000 })
    clock.advance(2_000)
    expect(await pacer.reserve('k', limits, next.ticket)).toMatchObject({ kind: 'slot' })
  })

  test('after a pause that is longer than the turns, the workers get new turns', async () => {
    const { clock, newPacer, pacer } = await startPacer()
    const slot = await pacer.reserve('k', limits)
    const workers = [newPacer(), newPacer()]
    const waits = []
    for (const worker of workers) waits.push(await worker.reserve('k', limits))
    await pacer.report('k', slot.ticket ?? '', { status: 429, retryAfter: '60' })
    const later = []
    for (const [i, worker] of workers.entries()) {
      clock.advance(1_000)
      later.push(await worker.reserve('k', limits, waits[i]?.ticket))
    }
    expect(later).toMatchObject([{ waitMs: 59_000 }, { waitMs: 59_000 }]) // at 60 and 61 seconds
  })
})

describe.skipIf(noRedisServer())('calls that fail', () => {
  test('a report is sent again until Redis has it', async () => {
    const { pacer, other, proxy } = await startBehindProxy({ timeoutMs: 100 })
    const slot = await other.reserve('k', limits) // not through `pacer`, whose time limit is too short for a busy machine
    expect(slot).toMatchObject({ kind: 'slot' })
    proxy.isCut = true
    await pacer.report('k', slot.ticket ?? '', { status: 503, retryAfter: undefined })
    expect(pacer.counters.failures).toBe(1)
    proxy.isCut = false
    const because = async () => (await other.estimate('k', limits, 0)).because
    await expect.poll(because).toBe('backoff')
  })

  test('of several pauses that Redis did not get, the longest is sent again, once', async () => {
    const { pacer, other, proxy } = await startBehindProxy({ timeoutMs: 100 })
    proxy.isCut = true
    for (let n = 0; n < 100; n++) await pacer.pause('k', 1_000 * n, 'rate-limit')
    await pacer.pause('k', 1, 'rate-limit')
    proxy.isCut = false
    const calls = pacer.counters.calls
    await expect.poll(() => pacer.reserve('k', limits)).toMatchObject({ because: 'rate-limit' })
    expect(pacer.counters.calls - calls).toBeLessThan(20)
    expect((await other.estimate('k', limits, 0)).waitMs).toBeGreaterThan(60_000)
  })

  test('a call that the script rejects is not made again, and does not hold up others', async () => {
    const { pacer, other, proxy } = await startBehindProxy({ timeoutMs: 100 })
    const slow = { ...limits, delayFactor: 2 }
    const slot = await other.reserve('k', slow)
    await pacer.end('k', slot.ticket ?? '', slow, Number.NaN)
    expect(pacer.counters.failures).toBe(1)
    await pacer.report('k', slot.ticket ?? '', { status: 429, retryAfter: '60' })
    const because = async () => (await other.estimate('k', limits, 0)).because
    await expect.poll(because).toBe('retry-after') // a busy machine may need a second call
    // The same while Redis is away: both calls are made again, and the first one is given up.
    proxy.isCut = true
    await pacer.end('k', slot.ticket ?? '', slow, Number.NaN)
    await pacer.report('k', slot.ticket ?? '', { status: 429, retryAfter: '3600' })
    proxy.isCut = false
    const waitMs = async () => (await other.estimate('k', limits, 0)).waitMs
    await expect.poll(waitMs).toBeGreaterThan(3_000_000)
  })

  test('a slot that the script refuses is an error of the request, not a failure of Redis', async () => {
    const { pacer } = await startBehindProxy()
    const invalid = { ...limits, ownDelayMs: Number.NaN }
    await expect(pacer.reserve('k', invalid)).rejects.toThrow(/^ERR user_script/)
    await expect(pacer.estimate('k', invalid, 1)).rejects.toThrow(/^ERR user_script/)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
  })

  test('a slot whose reply comes too late is given back', async () => {
    const { pacer, other, proxy } = await startBehindProxy({ timeoutMs: 100 })
    const long = { ...limits, ownDelayMs: 3_600_000 }
    proxy.delayMs = () => 1_000
    expect(await pacer.reserve('k', long)).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    proxy.delayMs = () => 0
    expect((await other.estimate('k', long, 0)).because).toBe('own-delay')
    const because = async () => (await other.estimate('k', long, 0)).because
    await expect.poll(because).toBe('none')
  })

  test('a turn whose reply comes too late is given back', async () => {
    const { pacer, other, proxy } = await startBehindProxy({ timeoutMs: 100 })
    const long = { ...limits, ownDelayMs: 3_600_000 }
    expect(await other.reserve('k', long)).toMatchObject({ kind: 'slot' })
    proxy.delayMs = () => 1_500
    expect(await pacer.reserve('k', long)).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    proxy.delayMs = () => 0
    const waitMs = async () => {
      const wait = await other.reserve('k', long)
      await other.cancel('k', wait.ticket ?? '')
      return wait.kind === 'wait' && wait.waitMs
    }
    await expect.poll(waitMs).toBeLessThan(3_700_000)
  })

  test('a slot whose reply takes longer than the allowance is reserved again', async () => {
    const { pacer, other, proxy } = await startBehindProxy()
    proxy.delayMs = () => 300
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot', delay: { delayMs: 1_000 } })
    expect(pacer.counters).toMatchObject({ failures: 0, repeats: 1, calls: 2 })
    // The next slot of the fleet is later than the delay, by the time that the reply may have
    // taken.
    expect((await other.estimate('k', limits, 0)).waitMs).toBeGreaterThan(1_000)
  })

  test.for([
    ['publishes a message if Redis may evict keys', 'volatile-lru', '100mb', ['volatile-lru']],
    ['publishes none with noeviction', 'noeviction', '100mb', []],
    ['publishes none without a limit', 'volatile-lru', '0', []],
  ] as const)('%s', async ([, policy, limit, expected]) => {
    const redis = await startRedis({ args: ['--maxmemory', limit, '--maxmemory-policy', policy] })
    onTestFinished(redis.stop)
    const pacer = openPacer({ client: await connectIoredis(redis.url) })
    const policies: string[] = []
    const listener = (message: unknown) => {
      const { pacer: from, policy } = message as { pacer: RedisPacer; policy: string }
      if (from === pacer) policies.push(policy)
    }
    subscribe('politely:redis:eviction', listener)
    onTestFinished(() => void unsubscribe('politely:redis:eviction', listener))
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    onTestFinished(() => warn.mockRestore())
    for (let n = 0; n < 3; n++) await pacer.reserve('k', limits)
    await sleep(50)
    expect(policies).toEqual(expected)
    expect(warn.mock.calls.map(([, options]) => (options as { code: string }).code)).toEqual(
      expected.map(() => 'POLITELY_REDIS_EVICTION'),
    )
  })
})
