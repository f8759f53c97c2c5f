// A real Redis server for tests: on loopback, in a temporary folder, ended with the process that
// started it.
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findRedis, isMissing } from '../parts.ts'
import { onFreePort, type Supervised, supervise } from './supervised.ts'

export interface RedisServerOptions {
  /**
   * Arguments of redis-server, such as `['--maxmemory', '2mb']`. Default: it saves nothing to disk.
   */
  readonly args?: readonly string[]
  /** The text of a configuration file. A sentinel needs one. Default: none. */
  readonly config?: string
}

export interface RedisServer {
  readonly url: string
  readonly host: string
  /** Stays the same over restarts. */
  readonly port: number
  /** The process id of the server; another one after a restart. */
  readonly pid: number
  /** Ends the server and deletes its folder. */
  stop(): Promise<void>
  /** Ends the server with SIGKILL. The folder remains, for `restart`. */
  kill(): Promise<void>
  /**
   * Starts the server again on the same port. With `keepData`, a running server saves its data
   * first. After `kill`, only the data on disk is left.
   */
  restart(options: { readonly keepData: boolean }): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A server that tests share with others: they use only keys with this prefix. */
export interface SharedRedis {
  readonly url: string
  readonly keyPrefix: string
}

/**
 * Returns whether the program for `startRedis` is missing, to skip its tests:
 * `describe.skipIf(noRedisServer())`.
 */
export function noRedisServer(): boolean {
  return isMissing('redis', findRedis())
}

/** Like `noRedisServer`, for tests that use `useRedis`. */
export function noRedis(): boolean {
  return !process.env.REDIS_URL && noRedisServer()
}

/** The server of this process. It ends with the process. */
let sharedServer: Promise<RedisServer> | undefined

/**
 * Returns the server of REDIS_URL if it is set, otherwise one that all tests of this process share.
 * For tests that neither restart nor configure the server.
 */
export async function useRedis(): Promise<SharedRedis> {
  const keyPrefix = `politely-test:${randomUUID()}:`
  const { REDIS_URL } = process.env
  if (REDIS_URL) return { url: REDIS_URL, keyPrefix }
  sharedServer ??= startRedis()
  const { url } = await sharedServer
  return { url, keyPrefix }
}

const HOST = '127.0.0.1'
const START_TIMEOUT_MS = 30_000

/** Starts a server on a free port of 127.0.0.1. Resolves when it answers PING. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'politely-redis-'))
  const { port, ...first } = await onFreePort(async (port) => ({ port, server: await run(folder, port, options) }))
  let current = first.server
  const stop = () => current.end({ keepFolder: false })
  return {
    url: `redis://${HOST}:${port}`,
    host: HOST,
    port,
    get pid() {
      return current.pid
    },
    stop,
    kill: () => current.end({ keepFolder: true }),
    restart: async ({ keepData }) => {
      if (keepData) await sendLine(port, 'SHUTDOWN SAVE')
      await current.end({ keepFolder: keepData })
      current = await run(folder, port, options)
    },
    [Symbol.asyncDispose]: stop,
  }
}

async function run(folder: string, port: number, { args = [], config }: RedisServerOptions): Promise<Supervised> {
  const redis = findRedis()
  if (redis === undefined) throw new Error('no Redis was found; get one with: npm run parts redis')
  mkdirSync(folder, { recursive: true })
  const log = join(folder, 'server.log')
  writeFileSync(log, '')
  const configFile = config === undefined ? [] : [join(folder, 'redis.conf')]
  for (const file of configFile) writeFileSync(file, config ?? '')
  const place = ['--bind', HOST, '--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'no']
  const command = [redis.command, ...configFile, ...place, ...args]
  const server = await supervise({ folder, command, env: redis.env })
  try {
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!(await sendLine(port, 'PING')).startsWith('+PONG')) {
      const output = readFileSync(log, 'utf8').trim()
      const hasFailed = /FATAL|Failed/.test(output) || performance.now() > deadline
      if (hasFailed) throw new Error(`redis-server did not start: ${output}`)
      await setTimeout(5)
    }
    // Another server may have answered on this port, just before ours failed to bind it.
    const reply = await sendLine(port, 'INFO server')
    if (!reply.includes(`process_id:${server.pid}\r`)) throw new Error(`port ${port}: Address already in use`)
  } catch (error) {
    await server.end({ keepFolder: false })
    throw error
  }
  return server
}

/**
 * Sends one command and returns the reply, until the server closes the connection; an empty text if
 * it refuses the connection.
 */
function sendLine(port: number, line: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => socket.end(`${line}\r\n`))
    let reply = ''
    socket.on('data', (chunk) => {
      reply += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(reply))
  })
}
