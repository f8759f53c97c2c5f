// Keeps deferred requests locked in Crawlee's queue, and returns requests to that queue.
//
// Crawlee's queue locks each request it delivers. When the lock expires, the queue delivers the
// request again, perhaps to another process. Crawlee's own locks are long: after a crash, no
// process would get the request for minutes. So a deferred request gets a shorter lock of
// `LOCK_SECS`, which is renewed while the request is deferred.
//
// A lock may still expire, say while the process is suspended. So a deferred request is read again
// before a task gets it, and before it returns to the queue. Another crawler may have handled it.
//
// Example: a request is deferred for a minute.
//
//    0 s   `shorten`: the lock ends at 45 s
//   20 s   renewed: the lock ends at 65 s
//   40 s   renewed: the lock ends at 85 s
//   60 s   `reload`: the request has not been handled, so a task gets it, with a lock of the usual
//          length
import type { Request } from '@crawlee/basic'
import { withoutCredentials } from '@politely/fetcher'
import { type CrawleeInternals, changeLock } from './crawlee-internals.ts'
import { isDeferred, type TrackedRequest } from './origin-queues.ts'

/**
 * Lock of a deferred request. After a crash another process gets the request when the lock expires.
 * Our choice: the documentation promises a minute.
 */
const LOCK_SECS = 45
const RENEW_LOCKS_EVERY_MS = 20_000

export class QueueLocks {
  readonly #internals: CrawleeInternals
  readonly #requests: ReadonlyMap<string, TrackedRequest>
  #renewal: NodeJS.Timeout | undefined

  /** @param requests All tracked requests. The locks of the deferred ones are renewed. */
  constructor(internals: CrawleeInternals, requests: ReadonlyMap<string, TrackedRequest>) {
    this.#internals = internals
    this.#requests = requests
  }

  /** Shortens the lock of a request that is deferred from now on. */
  shorten(tracked: TrackedRequest): void {
    tracked.locked = changeLock(this.#internals, tracked.request, LOCK_SECS)
    this.#renewal ??= setInterval(() => void this.#renew(), RENEW_LOCKS_EVERY_MS).unref()
  }

  /** Stops renewing locks, until a request is deferred again. */
  close(): void {
    clearInterval(this.#renewal)
    this.#renewal = undefined
  }

  /**
   * Returns a deferred request as it is now. Undefined if another crawler has handled it after its
   * lock expired.
   */
  reload(tracked: TrackedRequest): Promise<Request | undefined> {
    return currentRequest(tracked).catch(() => tracked.request) // the task's own use of the storage will report the error
  }

  /** Returns a request to the front of Crawlee's queue. */
  async reclaim(tracked: TrackedRequest): Promise<void> {
    try {
      const current = await currentRequest(tracked)
      if (current !== undefined) await tracked.source.reclaimRequest(current, { forefront: true })
    } catch (error) {
      this.#internals.log.exception(
        error as Error,
        `${withoutCredentials(tracked.request.url)} was deferred, and could not be put back in the queue; it stays locked until its lock expires`,
      )
    }
  }

  /** Renews the locks one after another: a storage on disk writes a file for each. */
  async #renew(): Promise<void> {
    for (const tracked of [...this.#requests.values()]) {
      if (!isDeferred(tracked)) continue
      tracked.locked = tracked.locked.then(() => changeLock(this.#internals, tracked.request, LOCK_SECS))
      await tracked.locked
    }
  }
}

/**
 * Returns a request as it is now, since its lock may have expired. If another crawler has handled
 * it, returns undefined. If another crawler has counted retries, returns the stored request, which
 * has these retries.
 */
async function currentRequest({ request, source, locked }: TrackedRequest): Promise<Request | undefined> {
  await locked
  const stored = request.id === undefined ? undefined : await source.getRequest?.(request.id)
  if (stored?.handledAt) return undefined
  return stored && stored.retryCount > request.retryCount ? stored : request
}
