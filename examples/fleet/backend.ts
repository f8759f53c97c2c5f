// Where a crawl keeps its jobs, its URLs, its robots.txt files and its pace: in Redis or in
// Postgres. This process and all workers connect to it.
import type { Store } from '@politely/fetcher'
import type { Pacer } from '@politely/gate'
import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq'
import type { Frontier, OriginJob, Progress } from './frontier.ts'

export type BackendName = 'redis' | 'postgres'

export interface BackendOptions {
  readonly backend: BackendName
  /** The server of the jobs and URLs. It must keep its data. */
  readonly jobsUrl: string
  /** The server of robots.txt and of the pace. It may lose its data. The same one with Postgres. */
  readonly sharedUrl: string
  /** The beginning of all names of this crawl. */
  readonly prefix: string
}

export interface Backend {
  readonly frontier: Frontier
  readonly store: Store
  readonly pacer: Pacer & { close(): void }
  /** Resolves when the server answers. */
  queue(name: string): Promise<Queue<OriginJob>>
  /** Takes the first job when the server answers. */
  worker(
    name: string,
    run: Processor<OriginJob>,
    options: Omit<WorkerOptions, 'connection'>,
  ): Promise<Worker<OriginJob>>
  sent(): Sent
  /** What the store and the pacer keep. */
  shared(): Promise<Shared>
  /** Deletes what the crawl has kept, on a server that it has not started. */
  delete(): Promise<void>
  close(): Promise<void>
}

/** Commands that were sent. */
export interface Sent {
  readonly jobs: number
  readonly store: number
  /** Calls of the pacer. */
  readonly pacer: number
  /**
   * Statements or commands of these calls: calls that come together are one statement in Postgres.
   */
  readonly pacerTrips: number
}

interface Shared {
  readonly bytes: number
  readonly keys: number
  /** The keys that never expire, without the pacer's epochs. */
  readonly withoutExpiry: readonly string[]
}

/** How a backend keeps the frontier. Each call is atomic. */
export interface FrontierCalls {
  /**
   * Returns the entry of the next URL of an origin, or undefined, and then the origin is not
   * active.
   */
  take(origin: string, generation: number): Promise<string | undefined>
  /**
   * Adds links that were never added before. Then marks the entry as done, unless the reply names
   * origins that have URLs and no job.
   */
  finish(finished: FinishedUrl | undefined, links: readonly FoundLink[]): Promise<readonly OriginJob[]>
  progress(): Promise<Progress>
}

export interface FinishedUrl {
  readonly origin: string
  readonly entry: string
}

export interface FoundLink extends FinishedUrl {
  /** 16 bytes of the hash of the URL. */
  readonly hash: Buffer
}

/** Whether an error means that the server is away for a moment. */
export function isConnectionLost({ code = '', message }: NodeJS.ErrnoException): boolean {
  return /^(ECONN|57P0|XX000)/.test(code) || /[Cc]onnection (is closed|terminated)|not queryable/.test(message)
}

export async function connectBackend(options: BackendOptions): Promise<Backend> {
  // A crawl with one of them need not have the other's packages.
  if (options.backend === 'postgres') return (await import('./postgres-backend.ts')).connectPostgres(options)
  return (await import('./redis-backend.ts')).connectRedis(options)
}
