// Two processes of `politely serve` with one key over one Redis or Postgres, behind a balancer, with
// a site and clients, and what disturbs them. Everything runs on loopback.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '@politely/postgres'
import { startPostgres } from '@politely/testkit/servers/postgres'
import { startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import type { ClientSettings } from './client.ts'
import { clock, type RunEvent } from './events.ts'
import { startProxy, type Upstream } from './proxy.ts'

export type BackendName = 'redis' | 'postgres'

/**
 * What disturbs the servers:
 *
 *   calm          nothing
 *   restart       SIGTERM to one server after the other, which starts again when it has ended
 *   kill          SIGKILL to one server after the other
 *   stall         one server is stopped for 1.2 s again and again, and the processors are busy
 *   backend-lost  the backend is killed, and starts again after 3 s without its data
 *   backend-kept  the same, with its data
 */
export type Disturbance = 'calm' | 'restart' | 'kill' | 'stall' | 'backend-lost' | 'backend-kept'

export interface Phase {
  readonly name: Disturbance
  readonly seconds: number
  /** How often it happens. */
  readonly everySeconds: number
}

export interface RunOptions {
  readonly backend: BackendName
  readonly origins: number
  readonly leaseMs: number
  readonly phases: readonly Phase[]
  /** How many processes keep the processors busy while a server stalls. Default: two for each processor. */
  readonly burners?: number | undefined
}

export interface Run {
  readonly events: readonly RunEvent[]
  readonly origins: readonly string[]
  readonly phases: readonly { readonly name: Disturbance; readonly from: number; readonly to: number }[]
  /** When the backend did not run. */
  readonly withoutBackend: readonly { readonly from: number; readonly to: number }[]
  /** Reports that a server has answered with 503. */
  readonly refusedReports: readonly { readonly server: string; readonly body: string }[]
}

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const CLIENT_PROCESSES = 2
const CLIENTS = { holding: 3, ticketing: 2 }
const STALL_MS = 1_200
const BACKEND_AWAY_MS = 3_000
/** How long a script may go on after `stop`. A client repeats its last reports for a minute. */
const STOP_MS = 90_000

interface Backend extends AsyncDisposable {
  readonly flags: readonly string[]
  kill(): Promise<void>
  startAgain(keepsData: boolean): Promise<void>
}

async function openRedis(): Promise<Backend> {
  const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const client = new Redis(redis.url)
  const [, folder = ''] = (await client.config('GET', 'dir')) as string[]
  client.disconnect()
  return {
    flags: ['--pacer', 'redis', '--redis', redis.url],
    kill: redis.kill,
    startAgain: async (keepsData) => {
      if (!keepsData) rmSync(join(folder, 'appendonlydir'), { recursive: true })
      await redis.restart({ keepData: true })
    },
    [Symbol.asyncDispose]: redis.stop,
  }
}

async function openPostgres(): Promise<Backend> {
  const postgres = await startPostgres()
  const pool = new Pool({ connectionString: postgres.url })
  await migrate(pool)
  await pool.end()
  return {
    flags: ['--pacer', 'postgres', '--postgres', postgres.url],
    // A crash empties the tables of paces.
    kill: () => postgres.stop('immediate'),
    startAgain: async (keepsData) => {
      await postgres.restart('immediate')
      if (keepsData) await postgres.restart('fast')
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** One of the two servers. Its port stays the same over restarts. */
class Server implements Upstream {
  port = 0
  isReady = false
  readonly #letter: string
  readonly #args: readonly string[]
  readonly #note: (text: string) => void
  #child: ChildProcess | undefined
  #starts = 0

  constructor(letter: string, args: readonly string[], note: (text: string) => void) {
    this.#letter = letter
    this.#args = args
    this.#note = note
  }

  /** The letter of the server, and how often it was started. */
  get name(): string {
    return `${this.#letter}${this.#starts}`
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [MAIN, '--port', `${this.port}`, ...this.#args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    this.#starts++
    const { name } = this
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    child.on('exit', (code, signal) => reject(new Error(`the server ended: ${code ?? signal}`)))
    createInterface(child.stderr as NodeJS.ReadableStream).on('line', (line) => {
      this.#note(`${name}: ${line}`)
      const address = /listens at (\S+)/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
    })
    this.port = Number(new URL(await promise).port)
    this.isReady = true
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.end(signal)
    await this.start()
  }

  /** Stops the process for a while. */
  async stall(): Promise<void> {
    this.#signal('SIGSTOP')
    await sleep(STALL_MS)
    this.#signal('SIGCONT')
  }

  /** Ends the server. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    this.#signal(signal)
    await exited
  }

  #signal(signal: NodeJS.Signals): void {
    this.#note(`${signal} to ${this.name}`)
    this.#child?.kill(signal)
  }
}

/** Starts a script of this folder. It sends lists of events. */
function startScript(script: string, arg: string, events: RunEvent[]) {
  const child = fork(join(import.meta.dirname, script), [arg])
  const started = Promise.withResolvers<readonly string[]>()
  const done = Promise.withResolvers<void>()
  child.on('message', (message: { events?: RunEvent[]; origins?: string[]; isDone?: true }) => {
    for (const event of message.events ?? []) events.push(event)
    if (message.origins !== undefined) started.resolve(message.origins)
    if (message.isDone) done.resolve()
  })
  child.on('exit', () => {
    const error = new Error(`${script} ended`)
    started.reject(error)
    done.reject(error)
  })
  done.promise.catch(() => undefined)
  started.promise.catch(() => undefined)
  /** Lets the script end, and resolves when all its events are there. */
  const stop = async () => {
    child.send('stop')
    const tooLong = sleep(STOP_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${script} goes on after ${STOP_MS} ms`)
    })
    await Promise.race([done.promise, tooLong])
  }
  return { origins: started.promise, stop, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

/** Runs all phases, one after the other. */
export async function runServers(options: RunOptions): Promise<Run> {
  await using resources = new Resources()
  return await runPhases(options, resources)
}

/** What ends with a run, in reverse order. */
class Resources implements AsyncDisposable {
  readonly #ends: (() => unknown)[] = []

  defer(end: () => unknown): void {
    this.#ends.push(end)
  }

  use<R extends AsyncDisposable | Disposable>(resource: R): R {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()))
    return resource
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }
}

async function runPhases(options: RunOptions, resources: Resources): Promise<Run> {
  const { backend: name, origins: count, leaseMs, phases, burners = 2 * availableParallelism() } = options
  const events: RunEvent[] = []
  const note = (text: string) => void events.push({ kind: 'note', at: clock(), text })
  const folder = mkdtempSync(join(tmpdir(), 'politely-several-'))
  resources.defer(() => rmSync(folder, { recursive: true, force: true }))
  const backend = resources.use(await (name === 'redis' ? openRedis() : openPostgres()))
  const site = resources.use(startScript('site.ts', `${count}`, events))
  const origins = await site.origins
  const flags = ['--user-agent', 'ExampleBot/1.0', '--allow-private', '--key', join(folder, 'permits.key')]
  const servers = ['a', 'b'].map((letter) => new Server(letter, [...flags, ...backend.flags], note))
  for (const server of servers) {
    resources.defer(() => server.end('SIGKILL'))
    await server.start()
  }
  let current: Disturbance = 'calm'
  // A killed server is to be found by its refused connections.
  const proxy = resources.use(await startProxy(servers, () => current !== 'kill'))
  const clients = Array.from({ length: CLIENT_PROCESSES }, (_, n) => {
    const settings: ClientSettings = { name: `c${n}`, proxy: proxy.url, origins, leaseMs, ...CLIENTS }
    return resources.use(startScript('client.ts', JSON.stringify(settings), events))
  })
  const withoutBackend: { from: number; to: number }[] = []
  const restartBackend = async (keepsData: boolean) => {
    const away = { from: clock(), to: Number.POSITIVE_INFINITY }
    withoutBackend.push(away)
    note('the backend is killed')
    await backend.kill()
    await sleep(BACKEND_AWAY_MS)
    await backend.startAgain(keepsData)
    away.to = clock()
    note('the backend runs again')
  }
  const steps: Readonly<Record<Disturbance, (server: Server) => unknown>> = {
    calm: () => undefined,
    restart: (server) => server.restart('SIGTERM'),
    kill: (server) => server.restart('SIGKILL'),
    stall: () => servers[0]?.stall(),
    'backend-lost': () => restartBackend(false),
    'backend-kept': () => restartBackend(true),
  }
  const done: { name: Disturbance; from: number; to: number }[] = []
  for (const { name, seconds, everySeconds } of phases) {
    current = name
    note(`phase ${name}`)
    const from = clock()
    using _burning = startBurners(name === 'stall' ? burners : 0)
    for (let step = 0; clock() - from < seconds * 1_000; step++) {
      await steps[name](servers[step % servers.length] as Server)
      const untilMs = Math.min((step + 1) * everySeconds, seconds) * 1_000
      await sleep(Math.max(0, untilMs - (clock() - from)))
    }
    done.push({ name, from, to: clock() })
  }
  await Promise.all(clients.map(({ stop }) => stop()))
  await site.stop()
  return { events, origins, phases: done, withoutBackend, refusedReports: [...proxy.refusedReports] }
}

/** Keeps the processors busy. */
function startBurners(count: number): Disposable {
  const burners = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  return { [Symbol.dispose]: () => void burners.map((burner) => burner.kill('SIGKILL')) }
}
