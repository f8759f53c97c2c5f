// Limits how many requests are under way at once: in all, to each site, and to each platform with many sites. Without the last two limits, one owner
// with many hosts and slow pages could occupy all of `maxConcurrent`.
//
// Several owners with slow pages could still do that: eight sites with eight requests each, whose bodies never end. So a request that is under way
// for longer than `slowAfterMs` is exempted while another request waits only because of the limit for all or for a platform. An exempt request
// goes on, and counts towards the limit of its site, but no longer towards the other two. A timer looks for such requests. It runs
// only while it is needed.
import { DomainTurns } from '@politely/fetcher/domain-turns'
import type { Site } from '@politely/fetcher/host-name'
import { MAX_TIMER_MS } from './queue.ts'

interface Limits {
  readonly maxConcurrent: number
  readonly maxConcurrentPerDomain: number
  /** Infinity if no request is ever exempted. */
  readonly slowAfterMs: number
}

/** A queue that waits until one more of its requests may be under way. */
export interface WaitingQueue {
  /** The limit may have capacity now: acquire it, or stop waiting. */
  advance(): void
}

/** A request that has started. */
export interface StartedRequest {
  readonly site: Site
  /** By the gate's clock. */
  readonly startedAt: number
}

/** After this share of `slowAfterMs` the timer looks again at slow requests that it could not exempt. */
const RECHECK_SHARE = 1 / 8

export class ConcurrencyLimit {
  readonly #turns: DomainTurns<WaitingQueue>
  readonly #slowAfterMs: number
  readonly #now: () => number
  /** The site of the request that each queue waits with. */
  readonly #waitingFor = new Map<WaitingQueue, Site>()
  /** The requests that have started and are not exempt, in the order in which they started. */
  readonly #started = new Set<StartedRequest>()
  readonly #exempt = new Set<StartedRequest>()
  /** Set while a request waits only because of the limit for all or for a platform. */
  #timer: NodeJS.Timeout | undefined
  #isWaking = false

  constructor({ maxConcurrent, maxConcurrentPerDomain, slowAfterMs }: Limits, now: () => number) {
    this.#turns = new DomainTurns(maxConcurrent, maxConcurrentPerDomain)
    this.#slowAfterMs = slowAfterMs
    this.#now = now
  }

  /** Returns the level whose limit a request to this site would have to wait for; undefined if it could start now. */
  fullLevel(site: Site): 'domain' | 'gate' | undefined {
    const limit = this.#turns.fullLimit(site)
    return limit === 'all' ? 'gate' : limit
  }

  /**
   * Counts a request to this site as under way, and returns true. If that would exceed a limit, returns false and calls the queue's `advance` once
   * there is capacity. A queue that tries again for the same site keeps its position among the waiting queues.
   */
  tryAcquire(queue: WaitingQueue, site: Site): boolean {
    const isFull = this.#turns.fullLimit(site) !== undefined
    if (isFull && this.#waitingFor.get(queue)?.name === site.name) return false
    this.forget(queue)
    if (isFull) {
      this.#turns.add(site, queue)
      this.#waitingFor.set(queue, site)
      this.#updateTimer()
    } else this.#turns.start(site)
    return !isFull
  }

  /** To be called when a request starts, after `tryAcquire`. From now on it may become exempt. */
  start(request: StartedRequest): void {
    this.#started.add(request)
  }

  /** Counts a request that has started as ended. Then calls waiting queues, as `release` does. */
  end(request: StartedRequest): void {
    this.#started.delete(request)
    this.#turns.end(request.site, this.#exempt.delete(request) ? 'exempt' : 'in-time')
    this.#wake()
  }

  /**
   * Releases what `tryAcquire` acquired for a request that does not start. Then calls one waiting queue after the other, until one of them acquires
   * what was released.
   */
  release(site: Site): void {
    this.#turns.end(site)
    this.#wake()
  }

  /** Removes a queue from those that wait. */
  forget(queue: WaitingQueue): void {
    const site = this.#waitingFor.get(queue)
    if (site === undefined) return
    this.#waitingFor.delete(queue)
    this.#turns.delete(site, queue)
    this.#updateTimer()
  }

  /** A queue that is called may release in turn. The loop handles that release as well, so that calls do not nest. */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    try {
      for (let queue = this.#turns.next(); queue !== undefined; queue = this.#turns.next()) {
        this.#waitingFor.delete(queue)
        queue.advance()
      }
    } finally {
      this.#isWaking = false
    }
    this.#updateTimer()
  }

  /** Exempts slow requests, the longest first, as long as another request waits for what they hold. */
  #exemptSlow(): void {
    const now = this.#now()
    let nextMs = this.#slowAfterMs
    for (const request of this.#started) {
      const untilSlowMs = request.startedAt + this.#slowAfterMs - now
      if (untilSlowMs > 0) {
        nextMs = Math.min(nextMs, untilSlowMs)
        break
      }
      if (this.#turns.exempt(request.site)) {
        this.#started.delete(request)
        this.#exempt.add(request)
        this.#wake()
      } else nextMs = this.#slowAfterMs * RECHECK_SHARE
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#updateTimer(nextMs)
  }

  /** Starts or stops the timer. It does not read the clock, since a clock of the caller may throw. */
  #updateTimer(delayMs = 0): void {
    const isNeeded = this.#turns.isBlocked && this.#slowAfterMs < Number.POSITIVE_INFINITY
    if (isNeeded === (this.#timer !== undefined)) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!isNeeded) return
    this.#timer = setTimeout(() => this.#exemptSlow(), Math.min(Math.ceil(delayMs), MAX_TIMER_MS)).unref()
  }
}
