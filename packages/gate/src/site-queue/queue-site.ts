// The URLs of one site in a site queue: a heap in memory, and behind it the spilled URLs.
//
// The URLs in memory come before the spilled ones. So once a site has spilled URLs, a new URL is
// spilled too, unless its priority is higher. When the memory is empty, spilled URLs come back.
import { Heap } from '../outer-queue/heap.ts'
import { OuterLine } from '../outer-queue/outer-queue.ts'
import { byPriority, type HeldUrl, type SiteQueueInput } from './queue-items.ts'

export class QueueSite<T extends SiteQueueInput> extends OuterLine {
  readonly origin: string
  /** How many of the spilled URLs are still on their way to the spill. */
  leaving = 0
  /** Whether URLs are on their way back from the spill. */
  isTaking = false
  readonly #urls = new Heap<HeldUrl<T>>(byPriority as (a: HeldUrl<T>, b: HeldUrl<T>) => number)
  #spilled = 0
  /** Whether the spill may have URLs of an earlier queue: an unknown number, before all others. */
  #hasEarlier = false
  #highestSpilled = Number.NEGATIVE_INFINITY

  constructor(origin: string) {
    super()
    this.origin = origin
  }

  /** How many URLs count as held: all in memory, or the place for the next URL from the spill. */
  get held(): number {
    return this.#urls.size > 0 ? this.#urls.size : Number(this.hasSpilled)
  }

  get inMemory(): number {
    return this.#urls.size
  }

  /**
   * How many URLs of this queue were spilled and have not come back. An upper bound while the site has
   * earlier URLs, since URLs that come back may be of either kind.
   */
  get spilled(): number {
    return this.#spilled
  }

  get hasEarlier(): boolean {
    return this.#hasEarlier
  }

  get hasSpilled(): boolean {
    return this.#hasEarlier || this.#spilled > 0
  }

  get next(): HeldUrl<T> {
    return this.#urls.first as HeldUrl<T>
  }

  shift(): HeldUrl<T> | undefined {
    return this.#urls.shift()
  }

  /** Whether a new URL has its turn after URLs that were spilled. */
  isBehindSpill({ priority }: HeldUrl<T>): boolean {
    return this.hasSpilled && priority <= this.#highestSpilled
  }

  add(url: HeldUrl<T>): void {
    this.#urls.add(url)
  }

  /** Notes that a URL is spilled. */
  spill({ priority }: HeldUrl<T>): void {
    this.#spilled++
    this.leaving++
    this.#highestSpilled = Math.max(this.#highestSpilled, priority)
  }

  /** Notes that the spill has URLs of an earlier queue. They are taken to have the priority 0. */
  addEarlier(): void {
    this.#hasEarlier = true
    this.#highestSpilled = Math.max(this.#highestSpilled, 0)
  }

  /** Notes that the spill has no URLs: these spilled ones have come back, or are lost. */
  unspillAll(count: number): void {
    this.#hasEarlier = false
    this.unspill(count)
  }

  /** Notes that spilled URLs have come back. */
  unspill(count: number): void {
    if (this.#hasEarlier) return
    this.#spilled = Math.max(0, this.#spilled - count)
    if (this.#spilled === 0) this.#highestSpilled = Number.NEGATIVE_INFINITY
  }

  /** Removes the URLs that come last, so that `size` remain. */
  truncate(size: number): readonly HeldUrl<T>[] {
    return this.#urls.truncate(size)
  }
}
