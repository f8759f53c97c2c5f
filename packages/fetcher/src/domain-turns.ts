// Limits how many items are under way at once, in all and to one registrable domain, and gives waiting items their turns.
//
// A site with a wildcard in its DNS has any number of hosts. So each registrable domain has its own limit, and the domains that may start an item
// take turns. No domain can starve the others.
import { Fifo } from './fifo.ts'

/** Items in the background start only when no other waiting item may start. */
export type Priority = 'normal' | 'background'

const PRIORITIES: readonly Priority[] = ['normal', 'background']

type Queues<T> = Readonly<Record<Priority, Fifo<T>>>

interface Domain<T> {
  readonly name: string
  underWay: number
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

  /** Adds an item to the queue of its domain. */
  add(name: string, item: T, priority: Priority = 'normal'): void {
    const domain = this.#domainOf(name)
    domain.waiting[priority].add(item)
    this.#update(domain)
  }

  /** Removes an item from the queue of its domain. */
  delete(name: string, item: T): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    for (const priority of PRIORITIES) domain.waiting[priority].delete(item)
    this.#update(domain)
  }

  /** Removes and returns the item whose turn it is; undefined if none may start. */
  next(): T | undefined {
    return this.#underWay < this.#max ? (this.#take('normal') ?? this.#take('background')) : undefined
  }

  #take(priority: Priority): T | undefined {
    const domain = this.#ready[priority].first
    const item = domain?.waiting[priority].first
    if (domain === undefined || item === undefined) return undefined
    domain.waiting[priority].delete(item)
    this.#ready[priority].delete(domain) // moves it behind the other domains
    this.#update(domain)
    return item
  }

  #domainOf(name: string): Domain<T> {
    let domain = this.#domains.get(name)
    if (domain === undefined) {
      domain = { name, underWay: 0, waiting: createQueues() }
      this.#domains.set(name, domain)
    }
    return domain
  }

  /** Adds the domain to the ready ones or removes it; a domain that is already ready keeps its turn. Deletes a domain without items. */
  #update(domain: Domain<T>): void {
    const { name, underWay, waiting } = domain
    let isEmpty = underWay === 0
    for (const priority of PRIORITIES) {
      const hasItems = waiting[priority].size > 0
      if (hasItems && underWay < this.#maxPerDomain) this.#ready[priority].add(domain)
      else this.#ready[priority].delete(domain)
      if (hasItems) isEmpty = false
    }
    if (isEmpty) this.#domains.delete(name)
  }
}

function createQueues<T>(): Queues<T> {
  return { normal: new Fifo(), background: new Fifo() }
}
