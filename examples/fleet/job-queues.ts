// The BullMQ queues of a crawl: one for the fleet, or one for each worker if the origins are
// partitioned.
import { createHash } from 'node:crypto'
import { registrableDomainOf } from '@politely/fetcher'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { OriginJob } from './frontier.ts'

export class JobQueues {
  readonly prefix: string
  readonly #queues: readonly Queue<OriginJob>[]

  constructor(connection: Redis, { prefix, queues }: { readonly prefix: string; readonly queues: number }) {
    this.prefix = `${prefix}jobs`
    this.#queues = Array.from(
      { length: queues },
      (_, index) => new Queue(this.nameOf(index), { connection, prefix: this.prefix, skipVersionCheck: true }),
    )
    for (const queue of this.#queues) queue.on('error', () => undefined) // a lost connection, which is opened again
  }

  nameOf(index: number): string {
    return `crawl-${index}`
  }

  /** Adds the jobs of these origins. A job that exists already is not added again. */
  async add(origins: readonly OriginJob[]): Promise<void> {
    await Promise.all(
      origins.map((data) => {
        const { origin, generation } = data
        const jobId = `${encodeURIComponent(origin)}-${generation}`
        return this.#queueOf(origin).add('crawl', data, { jobId, removeOnComplete: true })
      }),
    )
  }

  /** How many jobs wait for the slot of their origin. */
  async waiting(): Promise<number> {
    const counts = await Promise.all(this.#queues.map((queue) => queue.getDelayedCount()))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** All origins of a registrable domain are in one queue. */
  #queueOf(origin: string): Queue<OriginJob> {
    const hash = createHash('md5').update(registrableDomainOf(origin)).digest().readUInt32BE()
    const queue = this.#queues[hash % this.#queues.length]
    if (queue === undefined) throw new Error('there are no queues')
    return queue
  }
}
