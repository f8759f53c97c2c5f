// A store in Redis: one key for each origin.
import { randomUUID } from 'node:crypto'
import type { Lease, Store } from '@politely/fetcher'
import { assertOptions, callable, MAX_TIME_MS } from '@politely/fetcher/internal'
import { type Commands, commandsOf, type RedisClient, scriptOf } from './client.ts'
import { checkedKeyPrefix, DEFAULT_KEY_PREFIX, redisKeyOf } from './keys.ts'
import { decodeValue, encodeValue, MAX_VALUE_BYTES } from './value.ts'

/** Options of a `RedisStore`. Only `client` is required. */
export interface RedisStoreOptions {
  /** A client of ioredis or node-redis, for Redis 7 or later, or Valkey. The caller closes it. */
  readonly client: RedisClient
  /**
   * The beginning of all keys. Workers that share a store use the same one.
   * @default 'politely:'
   */
  readonly keyPrefix?: string | undefined
  /**
   * The clock, in milliseconds since 1970. For tests and simulations.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

const KNOWN: Readonly<Record<keyof RedisStoreOptions, true>> = { client: true, keyPrefix: true, now: true }
const EXAMPLE = '{ client: new Redis("redis://localhost:6379") }'

/** Deletes a lease if the caller still holds it. */
const RELEASE = scriptOf(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

/**
 * Keeps texts in Redis or Valkey, for all workers of a fleet. It has leases, so that each
 * robots.txt is fetched by one worker at a time.
 *
 * Every key expires. Redis counts the time that is left, so its clock may differ from the clocks of
 * the workers. A value that cannot be decoded is a miss; the client detects damage inside a text.
 * Methods reject with the error of the Redis client. There is no `close`: the caller closes the
 * Redis client.
 */
export class RedisStore implements Store {
  readonly #commands: Commands
  readonly #keyPrefix: string
  readonly #now: () => number

  /** @throws {OptionError} for an invalid option, such as a `client` of neither library. */
  constructor(options: RedisStoreOptions) {
    assertOptions(options, EXAMPLE, KNOWN)
    const { client, keyPrefix = DEFAULT_KEY_PREFIX, now = Date.now } = options
    this.#commands = commandsOf(client)
    this.#keyPrefix = checkedKeyPrefix(keyPrefix)
    this.#now = callable('now', now, 'a function that returns milliseconds')
  }

  async get(origin: string): Promise<string | undefined> {
    const key = this.#keyOf(origin, 'robots')
    // Unlike GET, it returns no more bytes than asked for. A missing key is an empty string.
    const value = await this.#commands.call(key, ['GETRANGE', key, '0', `${MAX_VALUE_BYTES}`])
    return decodeValue(value, this.#now())
  }

  /**
   * Saves a text. A text of more than 16 MiB is not saved, and the text that it would replace is
   * deleted.
   */
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    const leftMs = Math.min(Math.ceil(keepUntil - this.#now()), MAX_TIME_MS) // Redis adds it to its clock
    const value = leftMs > 0 ? await encodeValue(text, keepUntil) : undefined
    if (value === undefined) return this.delete(origin)
    const key = this.#keyOf(origin, 'robots')
    await this.#commands.call(key, ['SET', key, value, 'PX', `${leftMs}`])
  }

  async delete(origin: string): Promise<void> {
    const key = this.#keyOf(origin, 'robots')
    await this.#commands.call(key, ['DEL', key])
  }

  async lease(origin: string, leaseMs: number): Promise<Lease | undefined> {
    const key = this.#keyOf(origin, 'lease')
    const token = randomUUID()
    // A Redis client may send a command again after a lost connection. Then the holder that GET
    // returns is this call itself.
    const holder = await this.#commands.call(key, ['SET', key, token, 'NX', 'GET', 'PX', `${Math.ceil(leaseMs)}`])
    if (holder !== null && String(holder) !== token) return undefined
    return { release: async () => void (await this.#commands.evalScript(RELEASE, [key], [token])) }
  }

  #keyOf(origin: string, kind: 'robots' | 'lease'): string {
    return redisKeyOf(this.#keyPrefix, origin, kind)
  }
}
