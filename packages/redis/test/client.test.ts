// Commands over both client libraries, to a real server.
import { setTimeout } from 'node:timers/promises'
import { noRedis, noRedisServer, startRedis, useRedis } from '@politely/testkit/servers/redis'
import { createClientPool } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandsOf, type RedisClient, scriptOf } from '../src/client.ts'
import { RedisStore } from '../src/index.ts'
import { checkedKeyPrefix, redisKeyOf } from '../src/keys.ts'
import { connectIoredis, connectors, openPacer } from './clients.ts'
import { connectCluster } from './cluster.ts'
import { knowLongAgo } from './epoch.ts'

const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

async function assertCommandsWork(client: RedisClient, prefix: string): Promise<void> {
  const { call, evalScript } = commandsOf(client)
  const [a, b] = ['a', 'b'].map((origin) => redisKeyOf(prefix, origin, 'test')) as [string, string]
  expect(await call(a, ['GET', a])).toBeNull()
  await call(a, ['SET', a, bytes])
  expect(await call(a, ['GET', a])).toEqual(bytes)
  expect(await call(a, ['DEL', a])).toBe(1)
  // A comment makes the script new to the server, so the first call is EVAL and the second EVALSHA.
  const script = scriptOf(`--${prefix}\nredis.call('SET', KEYS[1], ARGV[1]); return {redis.call('GET', KEYS[1]), 7}`)
  expect(await evalScript(script, [b], [bytes])).toEqual([bytes, 7])
  expect(await evalScript(script, [b], ['text'])).toEqual([Buffer.from('text'), 7])
  await expect(evalScript(scriptOf('return redis.error_reply("MINE no")'), [b])).rejects.toThrow('MINE no')
  await call(b, ['DEL', b])
}

describe.skipIf(noRedis()).for(connectors)('%s', ([, connect]) => {
  test('commands and scripts take and return bytes', async () => {
    const { url, keyPrefix } = await useRedis()
    await assertCommandsWork(await connect(url), keyPrefix)
  })
})

describe.skipIf(noRedisServer())('other kinds of clients', () => {
  test('a pool of node-redis', async () => {
    const server = await startRedis()
    onTestFinished(server.stop)
    const pool = createClientPool({ url: server.url })
    onTestFinished(() => pool.destroy())
    await pool.connect()
    await assertCommandsWork(pool, 'x:')
  })

  test('clusters send each key to the node of its hash slot', { tags: 'full' }, async () => {
    const { clients } = await connectCluster()
    for (const [i, client] of clients.entries()) {
      await assertCommandsWork(client, `x${i}:`)
      const { call } = commandsOf(client)
      const keys = Array.from({ length: 20 }, (_, n) => redisKeyOf('x:', `http://n${n}.test`, 'test'))
      for (const key of keys) await call(key, ['SET', key, key])
      for (const key of keys) expect(String(await call(key, ['GET', key]))).toBe(key)
    }
  })
})

test.for([
  ['undefined', undefined],
  ['null', null],
  ['a URL', 'redis://localhost'],
  ['a class', class {}],
  ['a client of node-redis 4', { sendCommand() {} }],
  ['a sentinel', { sendCommand() {}, withTypeMapping() {}, getSentinelNode() {} }],
])('rejects %s as a client, and says what to write', ([, client]) => {
  expect(() => commandsOf(client as RedisClient)).toThrow(
    expect.objectContaining({ option: 'client', message: expect.stringContaining('new Redis(url)') }),
  )
})

test.for([1, null, '{a}:', 'a}'])('rejects the key prefix %s', (prefix) => {
  expect(() => checkedKeyPrefix(prefix)).toThrow(expect.objectContaining({ option: 'keyPrefix' }))
})

describe.skipIf(noRedisServer())('with an access control list', { tags: 'full' }, () => {
  // docs/fleet.md names these commands.
  test.for(connectors)('the documented commands are enough: %s', async ([, connect]) => {
    await using server = await startRedis()
    const admin = await connectIoredis(server.url)
    const userUrl = async (name: string, commands: string) => {
      const rights = ['on', '>secret', '~*', '-@all', ...commands.split(' ').map((command) => `+${command}`)]
      await admin.call('ACL', 'SETUSER', name, ...rights)
      return server.url.replace('//', `//${name}:secret@`)
    }
    const client = await connect(await userUrl('pacer', 'eval evalsha get set time info'))
    const pacer = openPacer({ client, timeoutMs: 1_000 })
    await knowLongAgo({ client: admin, keyPrefix: 'politely:' }, ['k'])
    const store = new RedisStore({ client: await connect(await userUrl('store', 'getrange set del get eval evalsha')) })

    const limits = { ownDelayMs: 10, maxDelayMs: undefined, crawlDelayMs: undefined }
    const takeSlot = async () => {
      for (let attempt = 0; attempt < 20; attempt++) {
        const reservation = await pacer.reserve('k', limits)
        if (reservation.kind === 'slot') return reservation
        await setTimeout(reservation.waitMs)
      }
      throw new Error('no slot after 20 waits')
    }
    await takeSlot()
    for (const key of await admin.keys('politely:*:pace:k')) await admin.set(key, 'of another program')
    const slot = await takeSlot()
    await pacer.report('k', slot.ticket, { status: 503, retryAfter: undefined })
    await pacer.cancel('k', slot.ticket)
    expect(pacer.counters.failures).toBe(0)

    const forLeases = 'zadd zrem zcard zrange zscore zmscore zremrangebyscore pttl pexpire'
    await userUrl('pacer', `eval evalsha get set time info ${forLeases}`)
    const counting = openPacer({ client, timeoutMs: 1_000, leaseMs: 60_000 })
    const counted = async (kind: string): Promise<string> => {
      const lease = { max: 1, leaseMs: undefined, open: ['1'] }
      const reply = await counting.reserve('k', limits, undefined, 0, false, 0, lease)
      expect(counting.counters.failures).toBe(0)
      return kind === (reply.kind === 'slot' ? 'slot' : reply.because) ? `${reply.ticket}` : counted(kind)
    }
    const leased = await counted('slot')
    expect(await counting.renew('k', leased, 60_000)).toBe(true)
    await counted('concurrency')
    await counting.report('k', leased, { status: 429, retryAfter: undefined }, 60_000)
    await counting.release('k', leased)
    expect(counting.counters.failures).toBe(0)

    await store.set('https://example.com', 'text', Date.now() + 60_000)
    expect(await store.get('https://example.com')).toBe('text')
    await store.delete('https://example.com')
    const lease = await store.lease('https://example.com', 60_000)
    await lease?.release()
    expect(await admin.keys('*lease*')).toEqual([])
  })
})

test('the keys of two origins differ, and each has one hash tag', () => {
  const origins = ['', 'a', 'http://a{b}.test', 'http://a%7Bb%7D.test', 'http://}.test', '%', '%25', '{', '}']
  const keys = origins.map((origin) => redisKeyOf('x:', origin, 'robots'))
  expect(new Set(keys).size).toBe(origins.length)
  for (const key of keys) expect(key).toMatch(/^x:\{[^{}]*\}:robots$/)
})
