// Keeps deferred requests locked in Crawlee's queue, and returns requests to it.
//
// Crawlee's queue locks a request that it delivers. Another process gets the request when the lock
// expires. Crawlee's own locks are up to twice as long as its timeouts, so after a crash a deferred
// request would stay locked for long. So the lock of a deferred request is shortened to `LOCK_SECS`,
// and renewed while the request is deferred.
//
// A lock may expire all the same, for example while the process is suspended. So before a request is
// used again, `current` reads it from the queue: another crawler may have handled it.
//
// Example: a request is deferred for a minute.
//
//    0 s   shorten: the lock ends at 45 s
//   20 s   renewed: the lock ends at 65 s
//   40 s   renewed: the lock ends at 85 s
//   60 s   a task takes the request, and `restoreLock` sets a lock of the usual length
import type { Request } from '@crawlee/basic'
import { withoutCredentials } from '@politely/fetcher'
import { type CrawleeInternals, shortenLock } from './crawlee-internals.ts'
import { isDeferred, type TrackedRequest } from './origin-queues.ts'

/**
 * Lock of a deferred request. After a crash another process gets the request when the lock expires.
 * Our choice: the documentation promises a minute.
 */
const LOCK_SECS = 45
const RENEW_LOCKS_EVERY_MS = 20_000

export class QueueLocks {
  readonly #log: CrawleeInternals['log']
  readonly #requests: ReadonlyMap<string, TrackedRequest>
  #renewal: NodeJS.Timeout | undefined

  /** @param requests Those that are deferred have their locks renewed. */
  constructor(log: CrawleeInternals['log'], requests: ReadonlyMap<string, TrackedRequest>) {
    this.#log = log
    this.#requests = requests
  }

  /** Shortens the lock of a request that is deferred from now on. */
  shorten(tracked: TrackedRequest): void {
    tracked.locked = shortenLock(tracked.source, tracked.request, LOCK_SECS)
    this.#renewal ??= setInterval(() => void this.#renew(), RENEW_LOCKS_EVERY_MS).unref()
  }

  /** Renews no locks until another request is deferred. */
  close(): void {
    clearInterval(this.#renewal)
    this.#renewal = undefined
  }

  /**
   * Returns the current state of a deferred request. Undefined if another crawler has handled it
   * after its lock expired.
   */
  async reload(tracked: TrackedRequest): Promise<Request | undefined> {
    await tracked.locked
    return currentRequest(tracked).catch(() => tracked.request) // the task's own use of the storage will report the error
  }

  /** Returns a request to the front of Crawlee's queue. */
  async reclaim(tracked: TrackedRequest): Promise<void> {
    try {
      const current = await currentRequest(tracked)
      if (current !== undefined) await tracked.source.reclaimRequest(current, { forefront: true })
    } catch (error) {
      this.#log.exception(
        error as Error,
        `${withoutCredentials(tracked.request.url)} was deferred, and could not be put back in the queue; it stays locked until its lock expires`,
      )
    }
  }

  /** Renews the locks one after another: a storage on disk writes a file for each. */
  async #renew(): Promise<void> {
    for (const tracked of [...this.#requests.values()]) {
      if (!isDeferred(tracked)) continue
      tracked.locked = tracked.locked.then(() => shortenLock(tracked.source, tracked.request, LOCK_SECS))
      await tracked.locked
    }
  }
}

/**
 * Returns the current state of a request. Its lock may have expired: if another crawler has handled
 * it meanwhile, the result is undefined; if another crawler has counted retries, the result is the
 * stored request with those retries.
 */
async function currentRequest({ request, source }: TrackedRequest): Promise<Request | undefined> {
  const stored = request.id === undefined ? undefined : await source.getRequest?.(request.id)
  if (stored?.handledAt) return undefined
  return stored && stored.retryCount > request.retryCount ? stored : request
}
