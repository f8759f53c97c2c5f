// The Redis client that the user brings: one interface over ioredis and node-redis.
import { createHash } from 'node:crypto'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'

/**
 * A connected client: `Redis` or `Cluster` of ioredis 5.3 or later, or a client, a pool or a
 * cluster of node-redis (`redis`) 5.7 or later. Older versions of ioredis have no export `Redis`.
 * In older versions of node-redis, an error in a pool ends the process.
 */
export type RedisClient = IoredisClient | NodeRedisClient

/**
 * What this package uses of `Redis` and `Cluster` of ioredis.
 * @inline
 */
export type IoredisClient = {
  callBuffer(...args: never): unknown
}

/**
 * What this package uses of `createClient`, `createClientPool` and `createCluster` of node-redis.
 * @inline
 */
interface NodeRedisClient {
  sendCommand(...args: never): unknown
  withTypeMapping(...args: never): unknown
}

/** An argument of a command. */
type Argument = string | Buffer

/** Sends commands. In replies, bulk strings are Buffers, and integers are numbers. */
export interface Commands {
  /**
   * @param key The key by which a cluster chooses the node; also one of `args`.
   * @param args The command and its arguments.
   */
  call(key: string, args: readonly Argument[]): Promise<unknown>
  /** Runs a script. All keys must be in one hash slot. */
  evalScript(script: Script, keys: readonly [string, ...string[]], args?: readonly Argument[]): Promise<unknown>
  /** Where the client finds no Redis, such as `localhost:6379`. Undefined while it is connected. */
  readonly missingAt: string | undefined
}

/** A Lua script and the SHA-1 by which Redis knows it. */
export interface Script {
  readonly source: string
  readonly sha: string
}

export function scriptOf(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/** @throws {OptionError} if `client` is a client of neither library. */
export function commandsOf(client: RedisClient): Commands {
  const call = callOf(client)
  return {
    call,
    get missingAt() {
      const { status = 'ready', isReady = true, options = {} } = client as ClientState
      if (status === 'ready' && isReady) return undefined
      const { host, port } = options.socket ?? options
      return host === undefined ? 'its address' : `${host}:${port}`
    },
    evalScript: async ({ source, sha }, keys, args = []) => {
      const rest = [`${keys.length}`, ...keys, ...args]
      try {
        return await call(keys[0], ['EVALSHA', sha, ...rest])
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return call(keys[0], ['EVAL', source, ...rest])
      }
    },
  }
}

const EXPECTED =
  'expected one of ioredis 5.3 or later, such as new Redis(url), or of node-redis 5.7 or later, such as createClient({ url })'
/** Makes node-redis return bulk strings, which are type `$` in the protocol, as Buffers. */
const BUFFER_REPLIES = { typeMapping: { ['$'.charCodeAt(0)]: Buffer } }

/** The state of a client: `status` of ioredis, `isReady` of node-redis. Not all kinds of clients have it. */
interface ClientState {
  readonly status?: string
  readonly isReady?: boolean
  readonly options?: Address & { readonly socket?: Address }
}

interface Address {
  readonly host?: string
  readonly port?: number
}

/** The methods by which the kinds of clients are recognised, and those that are called. */
interface AnyClient {
  readonly callBuffer?: (command: Argument, args: readonly Argument[]) => Promise<unknown>
  readonly withTypeMapping?: unknown
  readonly getSentinelNode?: unknown
  readonly getSlotMaster?: unknown
  // A cluster of node-redis takes two more arguments than its other clients.
  sendCommand?(args: readonly Argument[], options: object): Promise<unknown>
  sendCommand?(key: string, isReadonly: boolean, args: readonly Argument[], options: object): Promise<unknown>
}

function callOf(client: RedisClient): Commands['call'] {
  const any = (client ?? {}) as unknown as AnyClient
  if (typeof any.callBuffer === 'function') {
    return async (_key, [command = '', ...args]) => any.callBuffer?.(command, args) // finds the keys itself
  }
  if (typeof any.sendCommand !== 'function' || typeof any.withTypeMapping !== 'function') {
    const problem = client === undefined ? 'is missing' : `${describeValue(client)} is not a client of Redis`
    throw new OptionError('client', `${problem}; ${EXPECTED}`)
  }
  if (typeof any.getSentinelNode === 'function') {
    throw new OptionError('client', `a sentinel of node-redis is not supported; ${EXPECTED}`)
  }
  if (typeof any.getSlotMaster === 'function') {
    return async (key, args) => any.sendCommand?.(key, false, args, BUFFER_REPLIES) // false: a replica may be behind
  }
  return async (_key, args) => any.sendCommand?.(args, BUFFER_REPLIES)
}
