// RedisStore over both client libraries, on a real server.
import { deflateRawSync } from 'node:zlib'
import { entryFrom, entryText, settle } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import { storeCasesFor } from '@politely/testing/cases'
import { storeAbilities } from '@politely/testkit/cases/store-abilities'
import { startClock } from '@politely/testkit/clock'
import { randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { noRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import { type RedisClient, RedisStore } from '../src/index.ts'
import { connectIoredis, connectors, redisForAll } from './clients.ts'

const A = 'https://a.test'
const HOUR = 3_600_000

describe.skipIf(noRedis())('with a server', () => {
  const redis = redisForAll()

  describe.for(connectors)('%s', ([, connect]) => {
    test.for(storeCasesFor(storeAbilities.RedisStore))('store contract, $name', async ({ run }) => {
      const client = await connect(redis.url)
      const keyPrefix = redis.newPrefix()
      await run({ open: (now) => new RedisStore({ client, keyPrefix, now }) })
    })
  })

  /** Opens a store with one text, and its client. */
  async function filled(text: string) {
    const client = await connectIoredis(redis.url)
    const keyPrefix = redis.newPrefix()
    const clock = startClock()
    const store = new RedisStore({ client, keyPrefix, now: clock.now })
    await store.set(A, text, clock.now() + HOUR)
    const [key = ''] = await client.keys(`${keyPrefix}*`)
    return { client, store, clock, key }
  }

  test('every key expires by the clock of Redis, after the time that is left by the clock of the writer', async () => {
    const { client, store, clock, key } = await filled('a text')
    const leftMs = await client.pttl(key)
    expect(leftMs).toBeGreaterThan(HOUR - 60_000)
    expect(leftMs).toBeLessThanOrEqual(HOUR)
    await store.lease(A, HOUR)
    const [lease = ''] = await client.keys(key.replace('robots', 'lease'))
    expect(await client.pttl(lease)).toBeGreaterThan(HOUR - 60_000)
    await store.set(A, 'too late', clock.now())
    expect(await client.exists(key)).toBe(0)
  })

  test('a text is compressed if that saves space', async () => {
    const long = 'Disallow: /a/b\n'.repeat(1_000)
    const { client, key } = await filled(long)
    expect(await client.strlen(key)).toBeLessThan(long.length / 20)
    const { client: other, key: short } = await filled('short')
    expect(await other.strlen(short)).toBe('short'.length + 9)
  })

  test('a text of more than 16 MiB is not saved, and deletes the one before it', { tags: 'full' }, async () => {
    const { store, clock } = await filled('before')
    const long = 'x'.repeat(16 * 1024 * 1024)
    await store.set(A, long, clock.now() + HOUR)
    expect((await store.get(A)) === long).toBe(true)
    await store.set(A, `${long}x`, clock.now() + HOUR)
    expect(await store.get(A)).toBeUndefined()
  })

  const encoded = (format: number, expiry: readonly number[], content: Uint8Array) =>
    Buffer.concat([Buffer.from([format, ...expiry]), content])
  const never = [0x7f, 0xe0, 0, 0, 0, 0, 0, 0] // as a double: 9e307 milliseconds
  const notANumber = Array(8).fill(0xff)
  /** Changes one bit. */
  const damagedAt = (value: Buffer, at: number) => Buffer.from(value.map((byte, i) => (i === at ? byte ^ 1 : byte)))

  test.for<[string, (value: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['a header alone, cut off', (value) => value.subarray(0, 8)],
    ['cut off', (value) => value.subarray(0, -20)],
    ['with a wrong bit in the format', (value) => damagedAt(value, 0)],
    ['of an unknown format', () => encoded(9, never, Buffer.from('text'))],
    ['without a number as its expiry time', () => encoded(1, notANumber, Buffer.from('text'))],
    ['not compressed, unlike its format', () => encoded(2, never, Buffer.from('text'))],
    ['text of another program', () => Buffer.from('{"robots":"User-agent: *"}')],
    ['longer than any value of ours', () => encoded(1, never, Buffer.alloc(16 * 1024 * 1024 + 1))],
    ['a compressed text of 64 MiB', () => encoded(2, never, deflateRawSync(Buffer.alloc(2 ** 26), { level: 1 }))],
  ])('a value that cannot be decoded is a miss: %s', { tags: 'full' }, async ([, damage]) => {
    const { client, store, key } = await filled(
      'User-agent: *\nDisallow: /a/b/c\n'.repeat(20) + randomRobots(seededRandom(1)),
    )
    const value = await client.getBuffer(key)
    expect(await store.get(A)).toBeDefined()
    await client.set(key, damage(value as Buffer), 'PX', HOUR)
    expect(await store.get(A)).toBeUndefined()
  })

  test('a value with a known format and an expiry time in the future is a text', async () => {
    const { client, store, key } = await filled('before')
    await client.set(key, encoded(2, never, deflateRawSync('after')), 'PX', HOUR)
    expect(await store.get(A)).toBe('after')
  })

  test('a value with one wrong bit gives the client the same entry or none', async () => {
    const url = `${A}/robots.txt`
    const body = { bytes: randomRobots(seededRandom(1)).repeat(3), truncated: false }
    const outcome = { kind: 'success', url, hops: [], status: 200, headers: {}, body } as const
    const entry = settle(undefined, A, outcome, startClock().now(), defaultAccessPolicy)
    const { client, store, key } = await filled(entryText(entry))
    const value = (await client.getBuffer(key)) as Buffer
    let texts = 0
    for (let at = 0; at < value.length; at += at < 20 ? 1 : 7) {
      await client.set(key, damagedAt(value, at), 'PX', HOUR)
      const text = await store.get(A)
      if (text === undefined) continue
      texts++
      expect([entry, undefined]).toContainEqual(entryFrom(text, A))
    }
    expect(texts).toBeGreaterThan(10)
  })

  test('a lease that a client requests again after a lost reply is held by it', async () => {
    const client = await connectIoredis(redis.url)
    // Sends each command twice, as a client does that lost the connection before the first reply.
    const twice = {
      callBuffer: async (command: string, args: string[]) => {
        await client.callBuffer(command, args)
        return client.callBuffer(command, args)
      },
    }
    const store = new RedisStore({ client: twice as RedisClient, keyPrefix: redis.newPrefix() })
    const lease = await store.lease(A, HOUR)
    expect(lease).toBeDefined()
    expect(await store.lease(A, HOUR)).toBeUndefined()
    await lease?.release()
    expect(await store.lease(A, HOUR)).toBeDefined()
  })
})

test.for<[string, unknown, string]>([
  ['no options', undefined, 'options'],
  ['no client', {}, 'client'],
  ['a URL as the client', { client: 'redis://localhost' }, 'client'],
  ['an unknown option', { client: { callBuffer() {} }, prefix: 'x' }, 'prefix'],
  ['braces in the prefix', { client: { callBuffer() {} }, keyPrefix: '{x}' }, 'keyPrefix'],
  ['a clock that is not a function', { client: { callBuffer() {} }, now: 5 }, 'now'],
])('rejects %s', ([, options, option]) => {
  expect(() => new RedisStore(options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
  )
})
