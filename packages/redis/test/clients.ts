// Servers, clients of both libraries, and pacers. They end with their tests.
import { randomUUID } from 'node:crypto'
import { type SharedRedis, useRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, onTestFinished } from 'vitest'
import { type RedisClient, RedisPacer, type RedisPacerOptions } from '../src/index.ts'

/** Connects a client of each library to a server. */
export const connectors: readonly (readonly [name: string, connect: (url: string) => Promise<RedisClient>])[] = [
  ['ioredis', connectIoredis],
  ['node-redis', connectNodeRedis],
]

/**
 * Provides the shared server to the tests of a `describe` block. Each test takes a key prefix of
 * its own.
 */
export function redisForAll(): { readonly url: string; newPrefix(): string } {
  let redis: SharedRedis
  beforeAll(async () => {
    redis = await useRedis()
  })
  return {
    get url() {
      return redis.url
    },
    newPrefix: () => `${redis.keyPrefix}${randomUUID()}:`,
  }
}

export async function connectIoredis(url: string): Promise<Redis> {
  const client = new Redis(url)
  client.on('error', () => undefined) // a test may stop the server
  onTestFinished(() => client.disconnect())
  return client
}

async function connectNodeRedis(url: string): Promise<RedisClient> {
  const client = createClient({ url })
  client.on('error', () => undefined)
  onTestFinished(() => client.destroy())
  await client.connect()
  return client
}

export function openPacer(options: RedisPacerOptions): RedisPacer {
  const pacer = new RedisPacer({ timeoutMs: 30_000, ...options })
  onTestFinished(() => pacer.close())
  return pacer
}
