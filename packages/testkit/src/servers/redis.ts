// A real Redis server for tests: on loopback, in a temporary folder, ended with the process that
// started it.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findRedis, isMissing } from '../parts.ts'

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
/**
 * Ports below the range that the system gives to clients, so that the port stays free during a
 * restart.
 */
const [MIN_PORT, MAX_PORT] = [20_000, 32_000]
const MAX_PORT_ATTEMPTS = 10
const START_TIMEOUT_MS = 30_000

/** Starts a server on a free port of 127.0.0.1. Resolves when it answers PING. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'politely-redis-'))
  let port = 0
  let running: Running | undefined
  for (let attempt = 1; running === undefined; attempt++) {
    port = randomInt(MIN_PORT, MAX_PORT)
    running = await run(folder, port, options).catch((error: unknown) => {
      if (attempt < MAX_PORT_ATTEMPTS && String(error).includes('Address already in use')) return undefined
      throw error
    })
  }
  let current: Running = running
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

interface Running {
  readonly pid: number
  end(options: { readonly keepFolder: boolean }): Promise<void>
}

/**
 * Runs a server, and ends it when a line or the end of the input arrives. The input ends with the
 * process that holds its other end, whatever ends that process: signals of a terminal that closes
 * do not end this shell first. An empty line deletes the folder.
 */
const SUPERVISOR = `
"$@" >"$0/redis.log" 2>&1 &
echo $!
trap '' HUP INT TERM
exec >&-
read -r keep
kill -9 $! 2>/dev/null
wait
[ "$keep" ] || rm -rf "$0"
`

async function run(folder: string, port: number, { args = [], config }: RedisServerOptions): Promise<Running> {
  const redis = findRedis()
  if (redis === undefined) throw new Error('no Redis was found; get one with: npm run parts redis')
  mkdirSync(folder, { recursive: true })
  const log = join(folder, 'redis.log')
  writeFileSync(log, '')
  const configFile = config === undefined ? [] : [join(folder, 'redis.conf')]
  for (const file of configFile) writeFileSync(file, config ?? '')
  const place = ['--bind', HOST, '--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'no']
  const child = spawn('sh', ['-c', SUPERVISOR, folder, redis.command, ...configFile, ...place, ...args], {
    env: { ...process.env, ...redis.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  exited.catch(() => undefined)
  const pid = Number(await firstLine(child))
  // A test that forgets the server must not keep its process alive; the supervisor then ends the
  // server.
  child.unref()
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?(): void }).unref?.()

  const end = async ({ keepFolder }: { readonly keepFolder: boolean }) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    child.stdin?.end(keepFolder ? 'keep\n' : '\n')
    await exited
  }
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
    if (!reply.includes(`process_id:${pid}\r`)) throw new Error(`port ${port}: Address already in use`)
  } catch (error) {
    await end({ keepFolder: false })
    throw error
  }
  return { pid, end }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of stdout ?? []) {
    text += chunk
    if (text.includes('\n')) break
  }
  return text.trim()
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
