// One task of Crawlee's pool: from taking a request out of the queue to having handled it. Whatever is awaited on the way knows its task.
import { AsyncLocalStorage } from 'node:async_hooks'

export class Task {
  /** The key of its request, as soon as it has one. */
  key: string | undefined
  readonly #ending = new AbortController()

  /** Aborted when the crawl is torn down: nobody waits any longer. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  end(reason: Error): void {
    this.#ending.abort(reason)
  }
}

export const currentTask: AsyncLocalStorage<Task> = new AsyncLocalStorage()
