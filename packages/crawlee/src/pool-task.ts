// One task of Crawlee's pool: from taking a request out of the queue to having handled it. Whatever is awaited on the way knows its task.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CrawleeInternals } from './crawlee-internals.ts'

export class PoolTask {
  readonly #ending = new AbortController()
  #waits = 0
  #isTurnedAway = false

  /** Aborted when the crawl is torn down: nobody waits any longer. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Whether its end came while it waited at the gate, or before it did: what then fails is no fault of the request. */
  get isTurnedAway(): boolean {
    return this.#isTurnedAway
  }

  /** Does what is waiting at the gate. */
  async waiting<T>(work: () => Promise<T>): Promise<T> {
    this.#waits++
    if (this.signal.aborted) this.#isTurnedAway = true
    try {
      return await work()
    } finally {
      this.#waits--
    }
  }

  end(reason: unknown): void {
    if (this.#waits > 0) this.#isTurnedAway = true
    this.#ending.abort(reason)
  }
}

/** Where the caller is. */
interface Whereabouts {
  readonly task: PoolTask | undefined
  readonly isAdding: boolean
}

const whereabouts = new AsyncLocalStorage<Whereabouts>()

/** The task that the caller is a part of; undefined outside of the pool. */
export function currentTask(): PoolTask | undefined {
  return whereabouts.getStore()?.task
}

/** Whether the caller adds requests, and does not handle one. */
export function isAdding(): boolean {
  return whereabouts.getStore()?.isAdding ?? false
}

export function whileAdding<T>(work: () => T): T {
  return whereabouts.run({ task: currentTask(), isAdding: true }, work)
}

/** The tasks of one crawler that are under way. */
export class PoolTasks {
  readonly #underWay = new Map<PoolTask, Promise<unknown>>()

  constructor(internals: CrawleeInternals, over: (task: PoolTask) => Promise<void>) {
    const { runTaskFunction: run, ...others } = internals.autoscaledPoolOptions
    if (run === undefined) return
    const runTaskFunction = async () => {
      const task = new PoolTask()
      const work = whereabouts.run({ task, isAdding: false }, run).finally(() => over(task))
      this.#underWay.set(task, work)
      try {
        await work
      } finally {
        this.#underWay.delete(task)
      }
    }
    // Each run of the crawler makes its pool of these.
    internals.autoscaledPoolOptions = { ...others, runTaskFunction }
  }

  /** Ends every wait at the gate. */
  end(reason: unknown): void {
    for (const task of this.#underWay.keys()) task.end(reason)
  }

  /** Settles when all who were turned away are over. */
  async turnedAway(): Promise<void> {
    const turnedAway = [...this.#underWay].filter(([task]) => task.isTurnedAway)
    await Promise.allSettled(turnedAway.map(([, work]) => work))
  }
}
