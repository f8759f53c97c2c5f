// Runs a crawl: starts Redis, the small web and the workers, and waits until every URL is done.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { type Chaos, type ChaosReport, startChaos } from './chaos.ts'
import { Frontier, type Progress } from './frontier.ts'
import { JobQueues } from './job-queues.ts'
import { urlOf, type WebShape } from './small-web.ts'
import type { WebReport } from './web.ts'
import type { WorkerCounts, WorkerOptions } from './worker.ts'

export interface FleetOptions {
  readonly workers: number
  readonly web: WebShape
  /**
   * Whether each worker crawls its own registrable domains. Otherwise any worker crawls any URL,
   * and Redis keeps the pace.
   */
  readonly partition: boolean
  /** Kills workers and restarts Redis during the crawl. */
  readonly chaos?: Chaos | undefined
  /** A Redis to use instead of starting one. It cannot be combined with `chaos`. */
  readonly redisUrl?: string | undefined
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
  /** The largest memory of the shared Redis that was seen. Bytes. */
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
  const { workers: count, web: shape, partition, chaos, redisUrl, onProgress } = options
  const prefix = `fleet-${randomBytes(4).toString('hex')}:`
  const startServer = async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes'] })
    defer(server.stop)
    return server
  }
  const connect = (url: string) => {
    const redis = new Redis(url, { maxRetriesPerRequest: null })
    redis.on('error', () => undefined) // it connects again by itself
    defer(() => redis.disconnect())
    return redis
  }
  const servers = redisUrl === undefined ? { jobs: await startServer(), shared: await startServer() } : undefined
  const jobsUrl = servers?.jobs.url ?? redisUrl ?? ''
  const sharedUrl = servers?.shared.url ?? redisUrl ?? ''
  const jobs = connect(jobsUrl)
  const shared = connect(sharedUrl)
  if (redisUrl !== undefined) defer(() => deleteKeys(jobs, prefix))

  const web = start('web.ts', shape)
  defer(() => stop(web))
  const { port } = await reply<{ port: number }>(web)

  const frontier = new Frontier(jobs, `${prefix}frontier:`)
  const queues = new JobQueues(jobs, { prefix, queues: partition ? count : 1 })
  await frontier.start(urlOf(0, 0, port), (idle) => queues.add(idle))

  const lockMs = chaos === undefined ? LOCK_MS.calm : LOCK_MS.chaos
  const workers = new WorkerProcesses(count, (index) => {
    const workerOptions: WorkerOptions = {
      ...{ jobsUrl, sharedUrl, prefix, partition, lockMs, index },
      ...{ minDelayMs: shape.minDelayMs, domainDelayMs: shape.domainDelayMs, workers: count },
    }
    return start('worker.ts', workerOptions)
  })
  defer(() => workers.stop())
  const running = chaos && servers && startChaos(chaos, { workers, servers, shape })
  if (running) defer(() => running.stop())

  const startedAt = performance.now()
  let progress: Progress = { found: 1, done: 0 }
  let advancedAt = startedAt
  let maxSharedBytes = 0
  while (progress.done < progress.found) {
    await setTimeout(TICK_MS)
    const now = await frontier.progress()
    if (now.done > progress.done) advancedAt = performance.now()
    progress = now
    workers.throwIfEnded()
    if (performance.now() - advancedAt > MAX_IDLE_MS)
      throw new Error(`no URL was finished for ${MAX_IDLE_MS / 1000} s: ${now.done} of ${now.found} are done`)
    void memoryOf(shared).then((bytes) => {
      maxSharedBytes = Math.max(maxSharedBytes, bytes)
    })
    if (onProgress) {
      const waiting = await queues.waiting()
      onProgress({ ...now, waiting, seconds: (performance.now() - startedAt) / 1000, workers: workers.states() })
    }
  }
  await running?.stop()
  await workers.stop()
  web.send('report')
  const { report } = await reply<{ report: WebReport }>(web)
  const keys = await keysOf(shared, `${prefix}{`)
  const lifetimes = await Promise.all(keys.map((key) => shared.pttl(key)))
  return {
    ...progress,
    web: report,
    workers: workers.states(),
    chaos: running?.report(),
    killed: workers.killed,
    maxSharedBytes,
    sharedKeys: keys.length,
    keysWithoutExpiry: keys.filter((key, i) => lifetimes[i] === -1 && !key.endsWith(':epoch')),
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

/** Ends a process that this one started. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.spawnargs.some((argument) => argument.endsWith('worker.ts'))) child.send('stop')
  else child.disconnect()
  await exited
}

async function memoryOf(redis: Redis): Promise<number> {
  const info = await redis.info('memory').catch(() => '')
  return Number(/used_memory:(\d+)/.exec(info)?.[1] ?? 0)
}

async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1000 })) keys.push(...found)
  return keys
}

async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for (const key of await keysOf(redis, prefix)) await redis.unlink(key)
}
