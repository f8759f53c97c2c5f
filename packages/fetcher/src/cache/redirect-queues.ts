// Queues of items that wait to follow a redirect to another site: one queue for each registrable
// domain that redirects lead to.
//
// The first item of a queue is admitted when the pace of the domain permits it. It may then have to
// wait for other limits, and stays first until it has started. So a queue has at most one admitted
// item. Otherwise all items that a slow domain delays would later start at once.
import { Fifo } from '../base/fifo.ts'
import { registrableDomainOf } from '../network/host-name.ts'
import type { RedirectLimits } from './redirect-limits.ts'

interface Queue<T> {
  /** First come, first served. */
  readonly waiting: Fifo<T>
  isFirstAdmitted: boolean
  timer: NodeJS.Timeout | undefined
}

/** Items have the URL that their redirect leads to. */
export class RedirectQueues<T extends { readonly url: string }> {
  readonly #limits: RedirectLimits
  readonly #admit: (item: T) => void
  readonly #queues = new Map<string, Queue<T>>()

  /** @param admit Called when an item may start, as far as the pace of its domain is concerned. */
  constructor(limits: RedirectLimits, admit: (item: T) => void) {
    this.#limits = limits
    this.#admit = admit
  }

  /** Returns how many items wait for the domain of a URL. */
  size(url: string): number {
    return this.#queues.get(registrableDomainOf(url))?.waiting.size ?? 0
  }

  add(item: T): void {
    const domain = registrableDomainOf(item.url)
    const queue = this.#queues.get(domain) ?? { waiting: new Fifo<T>(), isFirstAdmitted: false, timer: undefined }
    this.#queues.set(domain, queue)
    queue.waiting.add(item)
    this.#advance(domain, queue)
  }

  /**
   * Removes an item that has started, or that no longer waits. Does nothing if no queue contains
   * it.
   */
  delete(item: T): void {
    const domain = registrableDomainOf(item.url)
    const queue = this.#queues.get(domain)
    if (queue === undefined) return
    const isFirst = queue.waiting.first === item
    if (!queue.waiting.delete(item)) return
    if (isFirst) queue.isFirstAdmitted = false
    this.#advance(domain, queue)
  }

  /** Admits the first item if it may start now. Otherwise sets a timer. */
  #advance(domain: string, queue: Queue<T>): void {
    clearTimeout(queue.timer)
    const { first } = queue.waiting
    if (first === undefined) this.#queues.delete(domain)
    if (first === undefined || queue.isFirstAdmitted) return
    const waitMs = this.#limits.waitMs(domain)
    if (waitMs > 0) {
      queue.timer = setTimeout(() => this.#advance(domain, queue), Math.ceil(waitMs))
      return
    }
    queue.isFirstAdmitted = true
    this.#admit(first)
  }
}
