// Limits how many items are under way at once, in all and to one registrable domain, and gives waiting items their turns.
//
// A site with a wildcard in its DNS has as many hosts as it likes. So a registrable domain has a limit of its own, and the domains that may start an
// item take turns: none starves the others.
import { Fifo } from './fifo.ts'

interface Domain<T> {
  readonly name: string
  underWay: number
  /** First come, first served. */
  readonly waiting: Fifo<T>
}

export class DomainTurns<T> {
  readonly #max: number
  readonly #maxPerDomain: number
  /** Domains with items under way or waiting. */
  readonly #domains = new Map<string, Domain<T>>()
  /** Domains with waiting items and with room of their own, in turn. */
  readonly #ready = new Fifo<Domain<T>>()
  #underWay = 0

  constructor(max: number, maxPerDomain: number) {
    this.#max = max
    this.#maxPerDomain = maxPerDomain
  }

  get underWay(): number {
    return this.#underWay
  }

  /** Whether an item of this domain would have to wait. */
  isFull(name: string): boolean {
    return this.#underWay >= this.#max || (this.#domains.get(name)?.underWay ?? 0) >= this.#maxPerDomain
  }

  /** Counts an item as under way. */
  start(name: string): void {
    const domain = this.#domainOf(name)
    domain.underWay++
    this.#underWay++
    this.#update(domain)
  }

  /** An item that was under way has ended. */
  end(name: string): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    domain.underWay--
    this.#underWay--
    this.#update(domain)
  }

  /** Lets an item wait. */
  add(name: string, item: T): void {
    const domain = this.#domainOf(name)
    domain.waiting.add(item)
    this.#update(domain)
  }

  /** The item waits no longer. */
  delete(name: string, item: T): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    domain.waiting.delete(item)
    this.#update(domain)
  }

  /** Removes and returns the item whose turn it is; undefined if none may start. */
  next(): T | undefined {
    const domain = this.#underWay < this.#max ? this.#ready.first : undefined
    const item = domain?.waiting.first
    if (domain === undefined || item === undefined) return undefined
    domain.waiting.delete(item)
    this.#ready.delete(domain) // its next turn comes after that of the others
    this.#update(domain)
    return item
  }

  #domainOf(name: string): Domain<T> {
    let domain = this.#domains.get(name)
    if (domain === undefined) {
      domain = { name, underWay: 0, waiting: new Fifo() }
      this.#domains.set(name, domain)
    }
    return domain
  }

  /** Puts the domain among those that are ready, where it keeps its turn, or takes it out; and drops it when nothing is left of it. */
  #update(domain: Domain<T>): void {
    const { name, underWay, waiting } = domain
    if (waiting.size > 0 && underWay < this.#maxPerDomain) this.#ready.add(domain)
    else this.#ready.delete(domain)
    if (waiting.size === 0 && underWay === 0) this.#domains.delete(name)
  }
}
