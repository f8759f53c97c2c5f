// The BullMQ queues of a crawl: one for the fleet, or one for each worker if the origins are
// partitioned.
import { createHash } from 'node:crypto'
import { registrableDomainOf } from '@politely/fetcher'
import type { Queue } from 'bullmq'
import type { Backend } from './backend.ts'
import type { OriginJob } from './frontier.ts'

/**
 * A job fails if the server is away when it is delayed. It did nothing wrong, so it is run again.
 */
const RETRIES = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } }

export class JobQueues {
  readonly #queues: readonly Queue<OriginJob>[]

  private constructor(queues: readonly Queue<OriginJob>[]) {
    this.#queues = queues
    for (const queue of queues) queue.on('error', () => undefined) // a lost connection, which is opened again
  }

  static async open(backend: Backend, count: number): Promise<JobQueues> {
    const names = Array.from({ length: count }, (_, index) => JobQueues.nameOf(index))
    return new JobQueues(await Promise.all(names.map((name) => backend.queue(name))))
  }

  static nameOf(index: number): string {
    return `crawl-${index}`
  }

  /** Adds the jobs of these origins. A job that exists already is not added again. */
  async add(origins: readonly OriginJob[]): Promise<void> {
    await Promise.all(
      origins.map((data) => {
        const { origin, generation } = data
        const jobId = `${encodeURIComponent(origin)}-${generation}`
        return this.#queueOf(origin).add('crawl', data, { jobId, removeOnComplete: true, ...RETRIES })
      }),
    )
  }

  /** How many jobs wait for the slot of their origin. */
  async waiting(): Promise<number> {
    const counts = await Promise.all(this.#queues.map((queue) => queue.getDelayedCount()))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close()))
  }

  /** All origins of a registrable domain are in one queue. */
  #queueOf(origin: string): Queue<OriginJob> {
    const hash = createHash('md5').update(registrableDomainOf(origin)).digest().readUInt32BE()
    const queue = this.#queues[hash % this.#queues.length]
    if (queue === undefined) throw new Error('there are no queues')
    return queue
  }
}
