// What the server keeps outside of its process: the pace, and the copies of robots.txt. A pacer and
// a store in the same Redis or Postgres share one client.

import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadOptional } from '@politely/core/flags'
import { textWithoutCredentials } from '@politely/core/internal'
import type { Store } from '@politely/fetcher'
import { messageOf, PROBED_ORIGIN, withTimeout } from '@politely/fetcher/internal'
import { LocalPacer, type Pacer } from '@politely/gate'
import type { PostgresPacer } from '@politely/postgres'
import type { RedisPacer } from '@politely/redis'
import { CommandLineError } from './command-line.ts'
import { MAX_START_WITHIN_MS } from './schemas.ts'

type Service = 'redis' | 'postgres'

/** What the command line says, checked. */
export interface BackendSettings {
  readonly pacer: 'local' | Service
  readonly store: 'none' | Service | { readonly file: string }
  /** The addresses. A service has one if the pacer or the store is there. */
  readonly urls: Readonly<Record<Service, string | undefined>>
}

/** A client of Redis or Postgres, and what it can keep. */
interface Backend {
  /** Such as `Redis at 127.0.0.1:6379`. */
  readonly name: string
  readonly newPacer: () => RedisPacer | PostgresPacer
  readonly newStore: () => Store
  /** Returns whether every attempt ends with this error, until the operator corrects something. */
  readonly isMistake: (error: unknown) => boolean
  readonly close: () => unknown
}

export interface Backends extends AsyncDisposable {
  readonly pacer: Pacer
  /** What the log calls the pacer. Undefined for one of this process. */
  readonly pacerName: string | undefined
  readonly store: Store | undefined
  /**
   * Calls the pacer and the store once. Returns whether both have answered.
   * @throws {CommandLineError} for a mistake, such as a wrong password or a missing schema.
   */
  answer(): Promise<boolean>
  /** Resolves when both have answered. @throws {CommandLineError} for a mistake. */
  contact(signal: AbortSignal): Promise<void>
}

/** How long to wait for the store. Milliseconds. The pacer has its own limit. */
const TIMEOUT_MS = 2_000
/** A statement that takes longer is on a dead connection. Milliseconds. Our choice. */
const DEAD_MS = 5_000
/** The pacer has two statements under way at most. The other connections are for the store. */
const MAX_CONNECTIONS = 4
const CONTACT_MS = 1_000
/** How long a dead server's request counts as under way if its lease does not say. Milliseconds. */
const LEASE_MS = 60_000
/** A refused login, and a role or database that does not exist. */
const POSTGRES_MISTAKES = ['28P01', '28000', '3D000', 'ERR_POLITELY_POSTGRES_SCHEMA']
const REDIS_MISTAKE =
  /^(?:WRONGPASS|NOAUTH|NOPERM|ERR (?:AUTH|invalid password|DB index|Client sent AUTH|ACL failure|The user executing))/

/** @throws {CommandLineError} for a package that is not installed. */
export async function openBackends(settings: BackendSettings): Promise<Backends> {
  const opened = new Map<Service, Backend>()
  try {
    return await openAll(settings, opened)
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

async function openAll({ pacer: kept, store, urls }: BackendSettings, opened: Map<Service, Backend>) {
  const backendOf = async (service: Service, flag: string) => {
    const open = service === 'redis' ? openRedis : openPostgres
    const backend = opened.get(service) ?? (await open(urls[service] ?? '', flag))
    opened.set(service, backend)
    return backend
  }
  const keeper = kept === 'local' ? undefined : await backendOf(kept, `--pacer ${kept}`)
  const shared = keeper?.newPacer()
  const file = typeof store === 'object' ? await openFile(store.file) : undefined
  const stored = typeof store === 'object' || store === 'none' ? undefined : await backendOf(store, `--store ${store}`)
  const robots = stored?.newStore()
  const answer = async () => {
    try {
      await shared?.probe()
      if (shared?.outage !== undefined) throw shared.outage.error
      const timedOut = () => {
        throw new Error(`no answer within ${TIMEOUT_MS} ms`)
      }
      if (robots !== undefined) await withTimeout(robots.get(PROBED_ORIGIN), TIMEOUT_MS, timedOut)
      return true
    } catch (error) {
      for (const [service, { name, isMistake }] of opened)
        if (isMistake(error))
          throw new CommandLineError(`--${service}: ${name}: ${textWithoutCredentials(messageOf(error))}`)
      return false
    }
  }
  return {
    // A server before this one may have granted slots until just now, and their requests may be sent
    // a moment later.
    pacer: shared ?? new LocalPacer(undefined, performance.now() + MAX_START_WITHIN_MS),
    pacerName: keeper?.name,
    store: robots ?? file,
    answer,
    contact: async (signal: AbortSignal) => {
      while (!signal.aborted && !(await answer())) await sleep(CONTACT_MS, undefined, { ref: false })
    },
    [Symbol.asyncDispose]: async () => {
      shared?.close()
      await file?.close()
      await closeAll(opened)
    },
  }
}

async function closeAll(opened: ReadonlyMap<Service, Backend>): Promise<void> {
  for (const { close } of opened.values()) await close()
}

async function openFile(path: string) {
  const { SqliteStore } = await optional('--store', '@politely/sqlite', () => import('@politely/sqlite'))
  return new SqliteStore({ path })
}

async function openRedis(url: string, flag: string): Promise<Backend> {
  const { RedisPacer, RedisStore } = await optional(flag, '@politely/redis', () => import('@politely/redis'))
  const { Redis } = await optional(flag, 'ioredis', () => import('ioredis'))
  const redis = new Redis(url, { maxRetriesPerRequest: 1, disconnectTimeout: 100 }) // the latter delays the exit
  /** Why the client has no connection, or only to another database. */
  let failure: Error | undefined
  redis.on('error', (error: Error) => {
    failure = error
  })
  redis.on('connect', () => {
    failure = undefined
  })
  const isMistake = (error: unknown) => REDIS_MISTAKE.test(messageOf(error))
  // Without a connection, a call fails at once, with the error of the connection.
  const client = {
    callBuffer: async (command: string, args: (string | Buffer)[]) => {
      if (failure !== undefined) throw failure
      const reply = await redis.callBuffer(command, args).catch((error: unknown) => {
        throw failure ?? error
      })
      if (isMistake(failure)) throw failure // without its database, Redis answers from another one
      return reply
    },
    get status() {
      return redis.status
    },
    options: redis.options,
  }
  return {
    name: `Redis at ${placeOf(url)}`,
    newPacer: () => new RedisPacer({ client, leaseMs: LEASE_MS }),
    newStore: () => new RedisStore({ client }),
    isMistake,
    close: () => redis.disconnect(),
  }
}

async function openPostgres(connectionString: string, flag: string): Promise<Backend> {
  const { PostgresPacer, PostgresStore } = await optional(
    flag,
    '@politely/postgres',
    () => import('@politely/postgres'),
  )
  const { Pool } = await optional(flag, 'pg', () => import('pg'))
  const limits = { max: MAX_CONNECTIONS, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: DEAD_MS }
  const sockets = new Set<Socket>()
  const stream = () => {
    const socket = new Socket()
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
  const pool = new Pool({ connectionString, ...limits, stream })
  pool.on('error', () => undefined) // a lost connection: the next call says whether another one can be made
  return {
    name: `Postgres at ${placeOf(connectionString)}`,
    newPacer: () => new PostgresPacer({ client: pool, leaseMs: LEASE_MS }),
    newStore: () => new PostgresStore({ client: pool }),
    isMistake: (error) =>
      POSTGRES_MISTAKES.includes(`${(error as { readonly code?: unknown } | undefined)?.code}`) ||
      messageOf(error).startsWith('SASL: '), // the password is missing
    close: async () => {
      await pool.end()
      for (const socket of sockets) socket.destroy() // the pool leaves the sockets of failed logins open
    },
  }
}

/** The host and port of an address. It may be a path, of a UNIX socket. */
function placeOf(url: string): string {
  return (URL.canParse(url) && new URL(url).host) || textWithoutCredentials(url)
}

/** @throws {CommandLineError} if the package that a flag needs is not installed. */
function optional<M>(flag: string, name: string, load: () => Promise<M>): Promise<M> {
  return loadOptional(
    name,
    load,
    () => new CommandLineError(`${flag} needs the package ${name}; write npm install ${name}`),
  )
}
