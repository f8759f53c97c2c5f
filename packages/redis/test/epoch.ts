// The age of the data in Redis, for tests of RedisPacer.
import type { Redis } from 'ioredis'
import { type RedisClient, RedisPacer } from '../src/index.ts'

/**
 * Makes Redis know these keys for long: the epoch of all hash tags is 1970, so that first visits
 * need not wait.
 */
export async function knowLongAgo(
  options: { readonly client: RedisClient; readonly keyPrefix: string },
  keys: readonly string[],
): Promise<void> {
  const pacer = new RedisPacer({ ...options, timeoutMs: 30_000, now: () => 0 })
  await Promise.all(keys.map((key) => pacer.cancel(key, '1')))
  if (pacer.counters.failures > 0) throw new Error(`Redis failed for ${options.keyPrefix}`)
}

/** Returns the key of the epoch that applies to a pace key, whose pace exists. */
export async function epochKeyOf(client: Redis, keyPrefix: string, key: string): Promise<string> {
  const [pace = ''] = await client.keys(`${keyPrefix}*:pace:${key}`)
  return pace.replace(`pace:${key}`, 'epoch')
}
