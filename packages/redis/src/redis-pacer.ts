// RedisPacer: keeps one pace for all workers of a fleet, in Redis. A script in Redis decides when
// each request may start (pace-script.ts). FleetPacer in @politely/gate turns the gate's calls into
// calls of the script, which this package makes (redis-transport.ts).
import { assertOptions } from '@politely/fetcher/internal'
import { FleetPacer } from '@politely/fleet'
import { commandsOf, type RedisClient } from './client.ts'
import { checkedKeyPrefix, DEFAULT_KEY_PREFIX } from './keys.ts'
import { redisTransport } from './redis-transport.ts'

/** Options of a `RedisPacer`. Only `client` is required. */
export interface RedisPacerOptions {
  /** A client of ioredis or node-redis, for Redis 7 or later, or Valkey. The caller closes it. */
  readonly client: RedisClient
  /**
   * The beginning of all keys. Workers that share a pace use the same one.
   * @default 'politely:'
   */
  readonly keyPrefix?: string | undefined
  /**
   * What happens while Redis is away. `wait`: requests wait until it is back, with the reason
   * `pacer-failure`. `local`: the worker paces its requests itself, with delays that are
   * `fleetSize` times as long.
   * @default 'wait'
   */
  readonly onFailure?: 'wait' | 'local' | undefined
  /**
   * How many `RedisPacer` objects share the pace in all processes, at most. Required for
   * `onFailure: 'local'`.
   * @default none
   */
  readonly fleetSize?: number | undefined
  /**
   * How long to wait for a reply of Redis. A longer wait is a failure. After a loss of data, and with
   * an empty Redis, the first slot of each key comes later by this time; of a domain or address, by
   * three times as much. All workers use the same value. Milliseconds.
   * @default 2000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Counts the requests under way of all workers against `maxConcurrentPerKey`, by leases: a request
   * counts until its end, or until its worker has been dead for so long. A worker renews the leases
   * of longer requests. All workers that count use it; a worker without it is not counted.
   * Milliseconds.
   * @default none; each worker counts its own requests
   */
  readonly leaseMs?: number | undefined
  /**
   * @internal The clock of the pace instead of the clock of Redis, in milliseconds since 1970. It
   * must not advance during a call. For tests and simulations.
   */
  readonly now?: (() => number) | undefined
}

const KNOWN: Readonly<Record<keyof RedisPacerOptions, true>> = {
  client: true,
  keyPrefix: true,
  onFailure: true,
  fleetSize: true,
  timeoutMs: true,
  leaseMs: true,
  now: true,
}

const EXAMPLE = '{ client: new Redis("redis://localhost:6379") }'

/**
 * Keeps one pace for all workers of a fleet, in Redis or Valkey and by its clock. Pass it to the
 * gates of all workers: `new PoliteGate({ robots, pacer })`. `reserve` is one call of Redis.
 *
 * If Redis loses data, each key counts as just visited by the slowest worker, so no delay is
 * shorter than asked. Redis must run with `maxmemory-policy noeviction`. The caller closes the
 * Redis client, after `close`.
 */
export class RedisPacer extends FleetPacer {
  /**
   * @throws {OptionError} for an invalid option, such as a `client` of neither library, or
   * `onFailure: 'local'` without `fleetSize`.
   */
  constructor(options: RedisPacerOptions) {
    assertOptions(options, EXAMPLE, KNOWN)
    const { client, keyPrefix = DEFAULT_KEY_PREFIX, leaseMs } = options
    super(redisTransport(commandsOf(client), checkedKeyPrefix(keyPrefix), leaseMs !== undefined), options)
  }
}
