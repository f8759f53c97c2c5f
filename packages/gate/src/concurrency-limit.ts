// Limits how many requests are under way at once: in all, and to each registrable domain. Without the second limit, a site with many hosts
// and slow pages could occupy all of `maxConcurrent`.
import { DomainTurns } from '@politely/fetcher/domain-turns'

interface Limits {
  readonly maxConcurrent: number
  readonly maxConcurrentPerDomain: number
}

/** A queue that waits until one more of its requests may be under way. */
export interface WaitingQueue {
  /** The limit may have capacity now: acquire it, or stop waiting. */
  advance(): void
}

export class ConcurrencyLimit {
  readonly #turns: DomainTurns<WaitingQueue>
  /** The registrable domain of the request that each queue waits with. */
  readonly #waitingFor = new Map<WaitingQueue, string>()
  #isWaking = false

  constructor({ maxConcurrent, maxConcurrentPerDomain }: Limits) {
    this.#turns = new DomainTurns(maxConcurrent, maxConcurrentPerDomain)
  }

  /** Returns the level whose limit a request to this registrable domain would have to wait for; undefined if it could start now. */
  fullLevel(domain: string): 'domain' | 'gate' | undefined {
    const limit = this.#turns.fullLimit(domain)
    return limit === 'all' ? 'gate' : limit
  }

  /**
   * Counts a request to this registrable domain as under way, and returns true. If that would exceed a limit, returns false and calls the
   * queue's `advance` once there is capacity. A queue that tries again for the same domain keeps its position among the waiting queues.
   */
  tryAcquire(queue: WaitingQueue, domain: string): boolean {
    const isFull = this.#turns.fullLimit(domain) !== undefined
    if (isFull && this.#waitingFor.get(queue) === domain) return false
    this.forget(queue)
    if (isFull) {
      this.#turns.add(domain, queue)
      this.#waitingFor.set(queue, domain)
    } else this.#turns.start(domain)
    return !isFull
  }

  /** Counts a request as ended. Then calls one waiting queue after the other, until one of them acquires what was released. */
  release(domain: string): void {
    this.#turns.end(domain)
    this.#wake()
  }

  /** Removes a queue from those that wait. */
  forget(queue: WaitingQueue): void {
    const domain = this.#waitingFor.get(queue)
    if (domain === undefined) return
    this.#waitingFor.delete(queue)
    this.#turns.delete(domain, queue)
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
  }
}
