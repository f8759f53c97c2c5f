// Runs a crawl: starts the servers of its backend, the small web and the workers, and waits until
// every URL is done.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startPostgres } from '@politely/testkit/servers/postgres'
import { startRedis } from '@politely/testkit/servers/redis'
import { type BackendName, type BackendOptions, connectBackend } from './backend.ts'
import { type Chaos, type ChaosReport, type RestartServers, startChaos } from './chaos.ts'
import type { Progress } from './frontier.ts'
import { JobQueues } from './job-queues.ts'
import { urlOf, type WebShape } from './small-web.ts'
import type { WebReport } from './web.ts'
import type { WorkerCounts, WorkerOptions } from './worker.ts'

export interface FleetOptions {
  readonly workers: number
  readonly web: WebShape
  /** Where the jobs, the URLs, the robots.txt files and the pace are. */
  readonly backend: BackendName
  /**
   * Whether each worker crawls its own registrable domains. Otherwise any worker crawls any URL,
   * and the backend keeps the pace.
   */
  readonly partition: boolean
  /** Kills workers and restarts the servers during the crawl. */
  readonly chaos?: Chaos | undefined
  /** A server to use instead of starting one. It cannot be combined with `chaos`. */
  readonly url?: string | undefined
  /** Called four times per second. */
  readonly onProgress?: ((state: FleetState) => void) | undefined
}

export interface WorkerState {
  readonly index: number
  readonly pid: number
  /** Undefined before its first message. */
  readonly counts: WorkerCounts | undefined
}

export interface FleetState extends Progress {
  readonly seconds: number
  /** Origins that wait for their next slot. */
  readonly waiting: number
  readonly workers: readonly WorkerState[]
}

export interface FleetReport extends Progress {
  readonly web: WebReport
  readonly workers: readonly WorkerState[]
  readonly chaos: ChaosReport | undefined
  /** Processes that were killed. */
  readonly killed: readonly number[]
  /**
   * The largest size of robots.txt and the pace that was seen. Bytes. With Redis, its whole memory.
   */
  readonly maxSharedBytes: number
  /** Keys of the store and the pacer at the end. */
  readonly sharedKeys: number
  /** The keys that never expire, without the pacer's epochs, which are at most 64. */
  readonly keysWithoutExpiry: readonly string[]
}

/** A crawl that finishes no URL for so long has failed. */
const MAX_IDLE_MS = 60_000
const TICK_MS = 250
/**
 * BullMQ's default is 30 seconds. With chaos, the jobs of a killed worker must not stay locked for
 * a large part of the crawl.
 */
const LOCK_MS = { calm: 30_000, chaos: 3_000 }

export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const cleanups: (() => unknown)[] = []
  try {
    return await crawl(options, (cleanup) => cleanups.push(cleanup))
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

/** @param defer Calls a function at the end, the last one first. */
async function crawl(options: FleetOptions, defer: (cleanup: () => unknown) => void): Promise<FleetReport> {
  const { workers: count, web: shape, partition, chaos, url, onProgress } = options
  const prefix = `fleet-${randomBytes(4).toString('hex')}:`
  const servers = url === undefined ? await startServers(options.backend, defer) : undefined
  const backendOptions: BackendOptions = {
    backend: options.backend,
    jobsUrl: servers?.jobsUrl ?? url ?? '',
    sharedUrl: servers?.sharedUrl ?? url ?? '',
    prefix,
  }
  if (options.backend === 'postgres') {
    const { migratePostgres } = await import('./postgres-backend.ts')
    await migratePostgres(backendOptions.jobsUrl, prefix)
  }
  const backend = await connectBackend(backendOptions)
  defer(() => backend.close())
  if (url !== undefined) defer(() => backend.delete())

  const web = start('web.ts', shape)
  defer(() => stop(web))
  const { port } = await reply<{ port: number }>(web)

  const { frontier } = backend
  const queues = await JobQueues.open(backend, partition ? count : 1)
  defer(() => queues.close())
  await frontier.start(urlOf(0, 0, port), (idle) => queues.add(idle))

  const lockMs = chaos === undefined ? LOCK_MS.calm : LOCK_MS.chaos
  const workers = new WorkerProcesses(count, (index) => {
    const workerOptions: WorkerOptions = {
      ...backendOptions,
      ...{ partition, lockMs, index },
      ...{ minDelayMs: shape.minDelayMs, domainDelayMs: shape.domainDelayMs, workers: count },
    }
    return start('worker.ts', workerOptions)
  })
  defer(() => workers.stop())
  const running = chaos && servers && startChaos(chaos, { workers, restartServers: servers.restart, shape })
  if (running) defer(() => running.stop())

  const startedAt = performance.now()
  let progress: Progress = { found: 1, done: 0 }
  let advancedAt = startedAt
  let maxSharedBytes = 0
  while (progress.done < progress.found) {
    await setTimeout(TICK_MS)
    const now = (await orUndefined(frontier.progress())) ?? progress
    if (now.done > progress.done) advancedAt = performance.now()
    progress = now
    workers.throwIfEnded()
    if (performance.now() - advancedAt > MAX_IDLE_MS)
      throw new Error(`no URL was finished for ${MAX_IDLE_MS / 1000} s: ${now.done} of ${now.found} are done`)
    const shared = await orUndefined(backend.shared())
    maxSharedBytes = Math.max(maxSharedBytes, shared?.bytes ?? 0)
    if (onProgress) {
      const waiting = (await orUndefined(queues.waiting())) ?? 0
      onProgress({ ...now, waiting, seconds: (performance.now() - startedAt) / 1000, workers: workers.states() })
    }
  }
  await running?.stop()
  await workers.stop()
  web.send('report')
  const { report } = await reply<{ report: WebReport }>(web)
  const shared = await backend.shared()
  return {
    ...progress,
    web: report,
    workers: workers.states(),
    chaos: running?.report(),
    killed: workers.killed,
    maxSharedBytes,
    sharedKeys: shared.keys,
    keysWithoutExpiry: shared.withoutExpiry,
  }
}

/** The worker processes. A killed one is replaced. */
export class WorkerProcesses {
  readonly killed: number[] = []
  readonly #fork: (index: number) => ChildProcess
  readonly #children: ChildProcess[]
  readonly #counts: (WorkerCounts | undefined)[] = []

  constructor(count: number, fork: (index: number) => ChildProcess) {
    this.#fork = fork
    this.#children = Array.from({ length: count }, (_, index) => this.#start(index))
  }

  states(): WorkerState[] {
    return this.#children.map(({ pid = 0 }, index) => ({ index, pid, counts: this.#counts[index] }))
  }

  /** Kills a worker without warning, and starts another one in its place. */
  async kill(index: number): Promise<void> {
    const child = this.#children[index]
    if (child?.pid === undefined) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    this.killed.push(child.pid)
    this.#children[index] = this.#start(index)
  }

  /** @throws if a worker has ended that was not killed. */
  throwIfEnded(): void {
    const ended = this.#children.find(({ exitCode }) => exitCode !== null)
    if (ended) throw new Error(`worker ${ended.pid} ended with status ${ended.exitCode}`)
  }

  /** Lets all workers finish their jobs. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map(stop))
  }

  #start(index: number): ChildProcess {
    const child = this.#fork(index)
    child.on('message', (counts: WorkerCounts) => {
      this.#counts[index] = counts
    })
    return child
  }
}

function start(file: string, argument: object): ChildProcess {
  return fork(join(import.meta.dirname, file), [JSON.stringify(argument)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** Returns the next message of a process. */
async function reply<T>(child: ChildProcess): Promise<T> {
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs[1]} ended`)
  })
  const [message] = await Promise.race([once(child, 'message'), exited])
  return message as T
}

/** How long a process has to finish its work. Milliseconds. */
const MAX_STOP_MS = 45_000

/** Ends a process that this one started. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.spawnargs.some((argument) => argument.endsWith('worker.ts'))) child.send('stop')
  else child.disconnect()
  const timer = globalThis.setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS)
  await exited
  clearTimeout(timer)
}

/** A server may be away while it restarts. */
async function orUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  return await promise.catch(() => undefined)
}

interface Servers {
  readonly jobsUrl: string
  readonly sharedUrl: string
  readonly restart: RestartServers
}

async function startServers(backend: BackendName, defer: (cleanup: () => unknown) => void): Promise<Servers> {
  if (backend === 'postgres') {
    const server = await startPostgres({ settings: { max_connections: 200 } })
    defer(() => server[Symbol.asyncDispose]())
    const restart: RestartServers = async ({ keepData, downMs }) => {
      const how = keepData ? 'fast' : 'immediate'
      await server.stop(how)
      await setTimeout(downMs)
      await server.restart(how)
    }
    return { jobsUrl: server.url, sharedUrl: server.url, restart }
  }
  const startOne = async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes'] })
    defer(server.stop)
    return server
  }
  const [jobs, shared] = [await startOne(), await startOne()]
  const restart: RestartServers = async ({ keepData, downMs }) => {
    const restarted = keepData ? [jobs, shared] : [shared]
    await Promise.all(restarted.map((server) => server.kill()))
    await setTimeout(downMs)
    await Promise.all(restarted.map((server) => server.restart({ keepData })))
  }
  return { jobsUrl: jobs.url, sharedUrl: shared.url, restart }
}
