// Limits how many items are under way at once, in all and to one registrable domain, and gives waiting items their turns.
//
// A site with a wildcard in its DNS has any number of hosts. So each registrable domain has its own limit, and the domains that may start an item
// take turns. No domain can starve the others, neither by its own items nor by redirects to them:
//
// - Items that a redirect led to a domain wait in a queue of their own, which takes turns with the normal ones.
// - An item that left its own domain counts there until it ends, so that no domain sends more items to others than it may have itself. Such items
//   do not keep redirected ones from starting there: domains that redirect to each other would block each other.
import { Fifo } from './fifo.ts'

/** The queue of a waiting item. Items in the background start only when no other waiting item may start. */
export type QueueName = 'normal' | 'redirected' | 'background'

const QUEUE_NAMES: readonly QueueName[] = ['normal', 'redirected', 'background']

type Queues<T> = Readonly<Record<QueueName, Fifo<T>>>

interface Domain<T> {
  readonly name: string
  underWay: number
  /** How many items of this domain are under way or waiting in another one. */
  away: number
  /** First come, first served. */
  readonly waiting: Queues<T>
}

export class DomainTurns<T> {
  readonly #max: number
  readonly #maxPerDomain: number
  /** Domains with items under way or waiting. */
  readonly #domains = new Map<string, Domain<T>>()
  /** Domains that have waiting items and are below their own limit, in the order of their turns. */
  readonly #ready: Queues<Domain<T>> = createQueues()
  #underWay = 0
  /** Whose turn it is. */
  #nextQueue: 'normal' | 'redirected' = 'normal'

  constructor(max: number, maxPerDomain: number) {
    this.#max = max
    this.#maxPerDomain = maxPerDomain
  }

  get underWay(): number {
    return this.#underWay
  }

  /** Returns which limit an item of this domain would have to wait for; undefined if it could start now. */
  fullLimit(name: string): 'all' | 'domain' | undefined {
    if (this.#underWay >= this.#max) return 'all'
    return (this.#domains.get(name)?.underWay ?? 0) >= this.#maxPerDomain ? 'domain' : undefined
  }

  /** Counts an item as under way. */
  start(name: string): void {
    const domain = this.#domainOf(name)
    domain.underWay++
    this.#underWay++
    this.#update(domain)
  }

  /** Counts an item of this domain as ended. */
  end(name: string): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    domain.underWay--
    this.#underWay--
    this.#update(domain)
  }

  /** Counts an item that is under way in its own domain as away. */
  leave(name: string): void {
    this.#domainOf(name).away++
    this.end(name)
  }

  /** Counts an item as away no more: it ended, or returned to its own domain. */
  endAway(name: string): void {
    const domain = this.#domainOf(name)
    domain.away--
    this.#update(domain)
  }

  /** Adds an item to a queue of a domain. */
  add(name: string, item: T, queue: QueueName = 'normal'): void {
    const domain = this.#domainOf(name)
    domain.waiting[queue].add(item)
    this.#update(domain)
  }

  /** Removes an item from the queues of a domain. */
  delete(name: string, item: T): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    for (const queue of QUEUE_NAMES) domain.waiting[queue].delete(item)
    this.#update(domain)
  }

  /** Removes and returns the item whose turn it is; undefined if none may start. */
  next(): T | undefined {
    if (this.#underWay >= this.#max) return undefined
    const other = this.#nextQueue === 'normal' ? 'redirected' : 'normal'
    return this.#take(this.#nextQueue) ?? this.#take(other) ?? this.#take('background')
  }

  #take(queue: QueueName): T | undefined {
    const domain = this.#ready[queue].first
    const item = domain?.waiting[queue].first
    if (domain === undefined || item === undefined) return undefined
    domain.waiting[queue].delete(item)
    this.#ready[queue].delete(domain) // moves it behind the other domains
    this.#nextQueue = queue === 'normal' ? 'redirected' : 'normal'
    this.#update(domain)
    return item
  }

  #domainOf(name: string): Domain<T> {
    let domain = this.#domains.get(name)
    if (domain === undefined) {
      domain = { name, underWay: 0, away: 0, waiting: createQueues() }
      this.#domains.set(name, domain)
    }
    return domain
  }

  /** Adds the domain to the ready ones or removes it; a domain that is already ready keeps its turn. Deletes a domain without items. */
  #update(domain: Domain<T>): void {
    const { name, underWay, away, waiting } = domain
    let isEmpty = underWay === 0 && away === 0
    for (const queue of QUEUE_NAMES) {
      const hasItems = waiting[queue].size > 0
      const counted = queue === 'redirected' ? underWay : underWay + away
      if (hasItems && counted < this.#maxPerDomain) this.#ready[queue].add(domain)
      else this.#ready[queue].delete(domain)
      if (hasItems) isEmpty = false
    }
    if (isEmpty) this.#domains.delete(name)
  }
}

function createQueues<T>(): Queues<T> {
  return { normal: new Fifo(), redirected: new Fifo(), background: new Fifo() }
}
