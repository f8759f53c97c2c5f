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
  #highestSpilled = Number.NEGATIVE_INFINITY

  constructor(origin: string) {
    super()
    this.origin = origin
  }

  /** How many URLs count as held: all in memory, or the place for the next URL from the spill. */
  get held(): number {
    return this.#urls.size > 0 ? this.#urls.size : Math.min(1, this.#spilled)
  }

  get inMemory(): number {
    return this.#urls.size
  }

  /** How many URLs were spilled and have not come back. */
  get spilled(): number {
    return this.#spilled
  }

  get next(): HeldUrl<T> {
    return this.#urls.first as HeldUrl<T>
  }

  shift(): HeldUrl<T> | undefined {
    return this.#urls.shift()
  }

  /** Whether a new URL has its turn after URLs that were spilled. */
  isBehindSpill({ priority }: HeldUrl<T>): boolean {
    return this.#spilled > 0 && priority <= this.#highestSpilled
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

  /** Notes that spilled URLs have come back, or are lost. */
  unspill(count: number): void {
    this.#spilled = Math.max(0, this.#spilled - count)
    if (this.#spilled === 0) this.#highestSpilled = Number.NEGATIVE_INFINITY
  }

  /** Removes the URLs that come last, so that `size` remain. */
  truncate(size: number): readonly HeldUrl<T>[] {
    return this.#urls.truncate(size)
  }
}
