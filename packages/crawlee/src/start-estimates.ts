// Estimates when a request could start, by the gate's `forecast`, which is like `gate.when`. This may
// take long, because the gate may have to fetch robots.txt first. After the first request of a site,
// the gate knows the delay, and asks no pacer.
//
// Meanwhile the request shouldn't occupy a task of the pool. But if each such request were
// deferred, a long queue of new sites would land in memory at once. So `of` has two answers for an
// arriving request. While few robots.txt files are being fetched, it returns an endless wait, and
// the request is deferred. While many are, it returns the estimate itself, and the task waits for it.
//
// Example: the first request of https://example.com arrives, and its robots.txt is not known.
// `of` returns an endless wait, so the request is deferred. Then `of` returns the estimate that is
// still pending. It settles when robots.txt has been fetched.
import type { GatePort } from '@politely/gate/internal'
import { linkSourcesOf } from './link-sources.ts'
import { attach, type TrackedRequest } from './origin-queues.ts'

/**
 * While the robots.txt files of this number of registrable domains are being fetched, a request of
 * another domain waits for its robots.txt in the pool. Our choice.
 */
const MAX_FETCHING_DOMAINS = 32

/** How often a request looks whether the circuit of its origin has closed. Our choice. */
const LOOK_MS = 1_000

export class StartEstimates {
  readonly #port: GatePort
  /** How many domains have a pending estimate. */
  #fetchingDomains = 0

  constructor(port: GatePort) {
    this.#port = port
  }

  /**
   * Returns how long a request would wait. Returns the pending estimate if there is one. For an
   * arriving request, it may return an endless wait if robots.txt must be fetched first.
   */
  of(tracked: TrackedRequest): Promise<number> {
    const isFetching = tracked.queue.domain.pendingEstimates > 0
    tracked.estimate ??= this.#new(tracked)
    const isAwaited = !isFetching && this.#fetchingDomains > MAX_FETCHING_DOMAINS
    if (isAwaited || tracked.state !== 'arriving') return tracked.estimate
    return Promise.race([
      tracked.estimate,
      new Promise<number>((resolve) => setImmediate(resolve, Number.POSITIVE_INFINITY)),
    ])
  }

  /** A request that the gate refuses or fails need not wait. */
  async #new(tracked: TrackedRequest): Promise<number> {
    const { queue, request } = tracked
    const { domain } = queue
    if (domain.pendingEstimates++ === 0) this.#fetchingDomains++
    try {
      const forecast = await this.#port.forecast(request.url, linkSourcesOf(request), (lane) => attach(queue, lane))
      if (!forecast.allowed) {
        if (forecast.circuit === undefined) return 0
        // The gate would reject the request until the site may get the next one.
        const { waitMs } = this.#port.circuitOf(queue.origin)
        queue.restsUntil = performance.now() + waitMs
        return waitMs
      }
      const { waitMs, because, level } = forecast
      tracked.isDomainFull = because === 'concurrency' && (level === 'domain' || level === 'address')
      return because === 'circuit' ? Math.min(waitMs, LOOK_MS) : waitMs
    } catch {
      return 0
    } finally {
      tracked.estimate = undefined
      if (--domain.pendingEstimates === 0) this.#fetchingDomains--
    }
  }
}
