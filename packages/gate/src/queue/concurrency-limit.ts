// Limits how many requests are under way at once: in all, to each site, and to each platform with
// many sites. Without the last two limits, one owner with many hosts and slow pages could occupy
// all of `maxConcurrent`.
//
// Several owners with slow pages could still do that, since a body need not end. `SlowItems`
// exempts such requests.

import { DomainTurns, type Outcome, type Site, SlowItems, type StartedItem } from '@politely/fetcher/internal'
import type { WaitCause } from '../pace/wait-cause.ts'

interface Limits {
  readonly maxConcurrent: number
  readonly maxConcurrentPerDomain: number
  /** Infinity if no request is ever exempted. */
  readonly slowAfterMs: number
}

/** A queue whose first request waits for a limit. */
export interface WaitingQueue {
  /**
   * The limit may have capacity now: acquires it, or waits again. Returns the limit that the first
   * request waits for afterwards. Undefined if it waits for something else.
   */
  advance(): WaitCause | undefined
  /** Whether the queue is first in the line of the `SharedLimit` of a registrable domain. */
  readonly isFirstOfDomain: boolean
}

export class ConcurrencyLimit {
  readonly #turns: DomainTurns<WaitingQueue>
  readonly #slow: SlowItems
  /** The site of the request that each queue waits with. */
  readonly #waitingFor = new Map<WaitingQueue, Site>()
  #isWaking = false

  constructor({ maxConcurrent, maxConcurrentPerDomain, slowAfterMs }: Limits, now: () => number) {
    this.#turns = new DomainTurns(maxConcurrent, maxConcurrentPerDomain)
    this.#slow = new SlowItems(this.#turns, slowAfterMs, now, () => this.#wake())
  }

  /**
   * Returns the level whose limit a request to this site would have to wait for; undefined if it
   * could start now.
   */
  fullLevel(site: Site): 'domain' | 'gate' | undefined {
    const limit = this.#turns.fullLimit(site)
    return limit === 'all' ? 'gate' : limit
  }

  /**
   * Counts a request to this site as under way, and returns true. If that would exceed a limit,
   * returns false and calls the queue's `advance` once there is capacity. A queue that tries again
   * for the same site keeps its position among the waiting queues.
   */
  tryAcquire(queue: WaitingQueue, site: Site): boolean {
    const isFull = this.#turns.fullLimit(site) !== undefined
    if (isFull && this.#waitingFor.get(queue)?.name === site.name) return false
    this.forget(queue)
    if (isFull) {
      this.#turns.add(site, queue)
      this.#waitingFor.set(queue, site)
      this.#slow.updateTimer()
    } else this.#turns.start(site)
    return !isFull
  }

  /** To be called when a request starts, after `tryAcquire`. From now on it may become exempt. */
  start(request: StartedItem): void {
    this.#slow.start(request)
  }

  /** Counts a request that has started as ended. Then calls waiting queues, as `release` does. */
  end(request: StartedItem): void {
    let outcome: Outcome | undefined
    try {
      outcome = this.#slow.end(request) // throws if the caller's clock throws
    } finally {
      this.#turns.end(request.site, outcome)
      this.#wake()
    }
  }

  /**
   * Releases what `tryAcquire` acquired for a request that does not start. Then calls one waiting
   * queue after the other, until one of them acquires what was released.
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
    this.#slow.updateTimer()
  }

  /**
   * A queue that is called may release in turn. The loop handles that release as well, so that
   * calls do not nest.
   */
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
    this.#slow.updateTimer()
  }
}
