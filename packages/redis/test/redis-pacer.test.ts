// RedisPacer over both client libraries, on a real server, with a clock that the test sets.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Delay, PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { circuitCases, pacerCases } from '@politely/testing/cases'
import { leaseCases } from '@politely/testkit/cases/lease-cases'
import { startClock } from '@politely/testkit/clock'
import { noRedis, noRedisServer } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type RedisClient, RedisPacer, RedisStore } from '../src/index.ts'
import { connectIoredis, connectors, openPacer, redisForAll } from './clients.ts'
import { connectCluster } from './cluster.ts'
import { epochKeyOf, knowLongAgo } from './epoch.ts'

const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

describe.skipIf(noRedis())('with a server', () => {
  const redis = redisForAll()

  describe.for(connectors)('%s', ([, connect]) => {
    test.for(pacerCases)('$name', async ({ run }) => {
      const client = await connect(redis.url)
      const options = { client, keyPrefix: redis.newPrefix() }
      await knowLongAgo(options, ['k', 'one', 'two'])
      let pacer: RedisPacer | undefined
      await run({
        open: (now) => {
          pacer = openPacer({ ...options, now })
          return pacer
        },
      })
      expect(pacer?.counters).toMatchObject({ failures: 0, repeats: 0 })
    })
  })

  test.for(circuitCases)('circuits: $name', async ({ run }) => {
    const client = await connectIoredis(redis.url)
    let pacer: RedisPacer | undefined
    await run({
      open: (now) => {
        pacer = openPacer({ client, keyPrefix: redis.newPrefix(), now })
        return pacer
      },
    })
    expect(pacer?.counters.failures).toBe(0)
  })

  test.for(leaseCases)('leases: $name', async ({ run }) => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, ['k'])
    const pacers: RedisPacer[] = []
    await run({
      open: async (now, leaseMs) => {
        pacers.push(openPacer({ ...options, now, leaseMs }))
        return pacers.at(-1) as RedisPacer
      },
    })
    expect(pacers.map(({ counters }) => counters.failures)).toEqual(pacers.map(() => 0))
  })

  test('calls Redis once for a request that need not wait, and twice for one that waits', async () => {
    const client = await connectIoredis(redis.url)
    const clock = startClock()
    const options = { client, keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, ['k'])
    const pacer = openPacer({ ...options, now: clock.now })
    for (let page = 0; page < 10; page++) {
      const { calls } = pacer.counters
      const first = await pacer.reserve('k', limits)
      if (first.kind === 'wait') clock.advance(first.waitMs)
      const slot = first.kind === 'slot' ? first : await pacer.reserve('k', limits)
      if (slot.kind !== 'slot') throw new Error('the slot is free after the wait')
      await pacer.report('k', slot.ticket, { status: 200, retryAfter: undefined })
      await pacer.end('k', slot.ticket, limits, 50)
      expect(pacer.counters.calls - calls).toBe(first.kind === 'slot' ? 1 : 2)
      if (page === 5) clock.advance(5_000)
    }
    expect(pacer.counters).toMatchObject({ calls: 18, failures: 0 })
  })

  test('a request that waits elsewhere has a turn, and calls Redis once more at its turn', async () => {
    const client = await connectIoredis(redis.url)
    const clock = startClock()
    const options = { client, keyPrefix: redis.newPrefix(), now: clock.now }
    await knowLongAgo(options, ['k'])
    const [pacer, other] = [openPacer(options), openPacer(options)]
    expect(await other.reserve('k', limits)).toMatchObject({ kind: 'slot' })
    expect(await pacer.estimate('k', limits, 0, true)).toEqual({ waitMs: 1_000, because: 'own-delay' })
    const ofOther = await other.reserve('k', limits)
    expect(ofOther).toMatchObject({ kind: 'wait', waitMs: 2_000 })
    clock.advance(990)
    const early = await pacer.reserve('k', limits)
    expect(early).toMatchObject({ kind: 'wait', waitMs: 10, because: 'own-delay' })
    expect(pacer.counters.calls).toBe(1)
    clock.advance(10)
    expect(await pacer.reserve('k', limits, early.ticket)).toMatchObject({ kind: 'slot' })
    expect(pacer.counters.calls).toBe(2)
  })

  test('waits until a request was sent, unless the last 50 of the worker were late by at most a tenth of the delay', async () => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    const keys = ['a', 'b', 'c', 'd']
    await knowLongAgo(options, keys)
    const pacer = openPacer(options)
    const slots = await Promise.all(keys.map((key) => pacer.reserve(key, limits, undefined, 0, true)))
    expect(slots).toMatchObject(slots.map(() => ({ kind: 'slot', awaitsSent: true })))
    const delay: Delay = { delayMs: 1_000, because: 'own-delay' }
    const inTime = '1@1e99'
    const isAwaited = async () => {
      const key = `${pacer.counters.calls}`
      await knowLongAgo(options, [key])
      const reply = await pacer.reserve(key, limits, undefined, 0, true)
      return reply.kind === 'slot' && reply.awaitsSent
    }
    for (let n = 0; n < 49; n++) await pacer.sent('a', inTime, delay)
    expect(await isAwaited()).toBe(true)
    await pacer.sent('a', inTime, delay)
    expect(await isAwaited()).toBe(false)
    const late = (ms: number) => `1~${performance.now() - ms}`
    await pacer.sent('a', late(50), delay)
    expect(await isAwaited()).toBe(false)
    await pacer.sent('a', late(101), delay)
    expect(await isAwaited()).toBe(true)
    for (let n = 0; n < 99; n++) await pacer.sent('a', inTime, delay)
    expect(await isAwaited()).toBe(false)
  })

  test('an epoch that another program has replaced with a list counts as lost', async () => {
    const client = await connectIoredis(redis.url)
    const clock = startClock()
    const options = { client, keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, ['k'])
    const pacer = openPacer({ ...options, now: clock.now })
    const epoch = await epochKeyOf(client, options.keyPrefix, 'k')
    await client.del(epoch)
    await client.rpush(epoch, 'x')
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    clock.advance(1_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
    expect(pacer.counters.failures).toBe(0)
  })

  test('a caller that only estimates sees the wait for an unknown key end', async () => {
    const client = await connectIoredis(redis.url)
    const clock = startClock()
    const pacer = openPacer({ client, keyPrefix: redis.newPrefix(), now: clock.now })
    expect(await pacer.estimate('k', limits, 0)).toEqual({ waitMs: 1_000, because: 'own-delay' })
    clock.advance(1_000)
    expect(await pacer.estimate('k', limits, 0)).toEqual({ waitMs: 0, because: 'none' })
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot' })
  })

  test('maxWaitMs of a gate: starts what need not wait, and rejects the others at once', async () => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, ['https://example.com'])
    const fetch = async () => new Response('')
    await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch })
    const pacer = openPacer(options)
    await pacer.probe() // the first reply may be slow
    await using gate = new PoliteGate({ robots, pacer, minDelayMs: 600_000, maxWaitMs: 900_000 })
    const enter = (maxWaitMs?: number) => gate.enter('https://example.com/', { maxWaitMs }).catch((error) => error)
    const patient = [enter(0), enter()] as const
    const [first, ...refused] = await Promise.all([patient[0], enter(300_000), enter(900_000)])
    first.release()
    expect(refused).toMatchObject([
      { code: 'ERR_POLITELY_WAIT', because: 'own-delay' },
      { code: 'ERR_POLITELY_WAIT', because: 'own-delay' },
    ])
    expect(gate.queues()).toMatchObject([{ waiting: 1 }])
    gate.close()
    expect(await patient[1]).toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  })

  test('the allowance covers the replies to the slots that follow', async () => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, ['k'])
    const slot = await openPacer(options).reserve('k', limits, undefined, 2)
    // A first reply may take 20 ms, and the start of the request 2 ms more.
    expect(slot.kind === 'slot' && slot.startWithinMs).toBeGreaterThanOrEqual(2 * 20 + 2)
  })

  test('every key expires, except the epochs, of which there are at most 64', async () => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    const keys = Array.from({ length: 500 }, (_, i) => `https://n${i}.test`)
    await knowLongAgo(options, keys)
    const pacer = openPacer(options)
    for (const [i, key] of keys.entries()) {
      const slot = await pacer.reserve(key, { ...limits, pauseFrom: i % 3 === 0 ? 'end' : 'start' })
      if (slot.kind !== 'slot') throw new Error('the first slot is free')
      if (i % 2 === 0) await pacer.report(key, slot.ticket, { status: 429, retryAfter: undefined })
      if (i % 5 === 0) await pacer.cancel(key, slot.ticket)
    }
    const stored = await client.keys(`${options.keyPrefix}*`)
    const epochs = stored.filter((key) => key.endsWith(':epoch'))
    expect(epochs.length).toBeLessThanOrEqual(64)
    const paces = stored.filter((key) => !epochs.includes(key))
    // Paces after a pushback and without a cancellation are kept for minutes; other paces may have
    // expired already.
    expect(paces.length).toBeGreaterThan(keys.length / 3)
    const expiry = await Promise.all(paces.map((key) => client.pttl(key)))
    const NO_EXPIRY = -1
    expect(expiry).not.toContain(NO_EXPIRY)
    expect(Math.max(...expiry)).toBeLessThanOrEqual(5_000 + 300_000 + 1_000)
  })

  test('the keys of a pace key have one hash tag, whatever the pace key is', async () => {
    const client = await connectIoredis(redis.url)
    const options = { client, keyPrefix: redis.newPrefix() }
    const key = 'http://{a}.test{}'
    await knowLongAgo(options, [key])
    await client.del(await epochKeyOf(client, options.keyPrefix, key))
    expect(await openPacer(options).reserve(key, limits)).toMatchObject({ kind: 'wait' })
    const tags = (await client.keys(`${options.keyPrefix}*`)).map((key) => /\{(.*?)\}/.exec(key)?.[1])
    expect(new Set(tags).size).toBe(64)
  })
})

test.skipIf(noRedisServer())('works in a cluster of three servers, with both libraries', { tags: 'full' }, async () => {
  const { servers, clients } = await connectCluster()
  const longer = { ...limits, ownDelayMs: 300_000 }
  for (const [i, client] of clients.entries()) {
    const options = { client, keyPrefix: `x${i}:` }
    const keys = Array.from({ length: 100 }, (_, n) => `http://n${n}.test`)
    await knowLongAgo(options, keys)
    const pacer = openPacer(options)
    for (const key of keys) expect(await pacer.reserve(key, longer)).toMatchObject({ kind: 'slot' })
    for (const key of keys) expect(await pacer.reserve(key, longer)).toMatchObject({ kind: 'wait' })
  }
  for (const { url } of servers) expect(await (await connectIoredis(url)).dbsize()).toBeGreaterThan(20)
})

test.for<[string, (url: string) => RedisClient]>([
  [
    'ioredis',
    (url) => {
      const client = new Redis(url)
      client.on('error', () => undefined)
      onTestFinished(() => client.disconnect())
      return client
    },
  ],
  [
    'node-redis',
    (url) => {
      const client = createClient({ url })
      client.on('error', () => undefined)
      client.connect().catch(() => undefined)
      onTestFinished(() => client.destroy())
      return client
    },
  ],
])('with a wrong address, says which one: %s', async ([, connect]) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const client = connect(`redis://127.0.0.1:${port}`)
  const emit = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => emit.mockRestore())
  const log: string[] = []
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch: async () => new Response('') })
  const pacer = openPacer({ client, timeoutMs: 50 })
  const gate = new PoliteGate({ robots, pacer, logger: { warn: (line) => log.push(line) } })
  const entered = gate.enter('https://example.com/').catch((error) => error.code)
  const line = `RedisPacer fails: Redis did not reply within 50 ms: no connection to 127.0.0.1:${port}; expected a reply sooner, or a larger timeoutMs; requests wait until it answers`
  await expect.poll(() => log, { timeout: 10_000 }).toEqual([line])
  expect(emit.mock.calls).toEqual([
    [expect.stringContaining(line), { type: 'PolitelyWarning', code: 'POLITELY_PACER' }],
  ])
  gate.close()
  expect(await entered).toBe('ERR_POLITELY_GATE_CLOSED')
  await robots.close()
})

test.for<[string, unknown, string]>([
  ['no options', undefined, 'options'],
  ['no client', {}, 'client'],
  ['an unknown option', { client: { callBuffer() {} }, prefix: 'x' }, 'prefix'],
  ['braces in the prefix', { client: { callBuffer() {} }, keyPrefix: '{x}' }, 'keyPrefix'],
  ['an unknown policy', { client: { callBuffer() {} }, onFailure: 'ignore' }, 'onFailure'],
  ['a local policy without the size of the fleet', { client: { callBuffer() {} }, onFailure: 'local' }, 'fleetSize'],
  ['a fleet of no workers', { client: { callBuffer() {} }, onFailure: 'local', fleetSize: 0 }, 'fleetSize'],
  ['no time for a reply', { client: { callBuffer() {} }, timeoutMs: 0 }, 'timeoutMs'],
  ['a clock that is not a function', { client: { callBuffer() {} }, now: 5 }, 'now'],
])('rejects %s', ([, options, option]) => {
  expect(() => new RedisPacer(options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
  )
})

test.for<[string, (client: never) => unknown]>([
  ['RedisPacer', (client) => new RedisPacer(client)],
  ['RedisStore', (client) => new RedisStore(client)],
])('%s: says what to write for a client instead of options', ([, create]) => {
  for (const client of [new Redis({ lazyConnect: true }), createClient()])
    expect(() => create(client as never)).toThrow(
      'options: an object of another class was given instead of options; write { client }',
    )
})
