// One task of Crawlee's pool: from taking a request out of the queue to having handled it. Whatever is awaited on the way knows its task.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Inside } from './inside.ts'

export class Task {
  readonly #ending = new AbortController()

  /** Aborted when the crawl is torn down: nobody waits any longer. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  end(reason: Error): void {
    this.#ending.abort(reason)
  }
}

/** Where the caller is. */
interface Whereabouts {
  readonly task: Task | undefined
  readonly isAdding: boolean
}

const whereabouts = new AsyncLocalStorage<Whereabouts>()

/** The task that the caller is a part of; undefined outside of the pool. */
export function currentTask(): Task | undefined {
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
export class Tasks {
  readonly #underWay = new Set<Task>()

  constructor(inside: Inside, over: (task: Task) => void) {
    const { runTaskFunction: run, ...others } = inside.autoscaledPoolOptions
    if (run === undefined) return
    const runTaskFunction = async () => {
      const task = new Task()
      this.#underWay.add(task)
      try {
        await whereabouts.run({ task, isAdding: false }, run)
      } finally {
        this.#underWay.delete(task)
        over(task)
      }
    }
    // Each run of the crawler makes its pool of these.
    inside.autoscaledPoolOptions = { ...others, runTaskFunction }
  }

  /** Who waits at the gate waits no longer. */
  end(): void {
    const reason = new DOMException('the crawl was torn down while this request waited', 'AbortError')
    for (const task of this.#underWay) task.end(reason)
  }
}
