// Concurrency slots: how many requests may be under way at once, in all and to one registrable domain.
//
// A site with a wildcard in its DNS has as many hosts as it likes, and slow pages on each of them. Without a limit for a registrable
// domain it could occupy every slot.

import { Fifo } from './fifo.ts'

export interface SlotLimits {
  readonly maxConcurrent: number
  readonly maxConcurrentPerDomain: number
}

/** A queue of requests that competes for slots. */
export interface SlotUser {
  /** A slot may be free: take one now, or go without. */
  advance(): void
}

interface Domain {
  readonly name: string
  underWay: number
  /** Users that wait for a slot, first come, first served. */
  readonly waiting: Fifo<SlotUser>
}

export class Slots {
  readonly #limits: SlotLimits
  /** Domains with slots taken, or with users that wait. */
  readonly #domains = new Map<string, Domain>()
  /** Domains with users that wait and with room of their own; in turn, so that no domain starves the others. */
  readonly #ready = new Fifo<Domain>()
  /** In which domain a user waits. */
  readonly #waitsIn = new Map<SlotUser, Domain>()
  #underWay = 0
  #isWaking = false

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Whether a request to this registrable domain would have to wait for a slot. */
  isFull(name: string): boolean {
    const { maxConcurrent, maxConcurrentPerDomain } = this.#limits
    const underWay = this.#domains.get(name)?.underWay ?? 0
    return this.#underWay >= maxConcurrent || underWay >= maxConcurrentPerDomain
  }

  /** Takes a slot and returns true. If all are taken, returns false, keeps the position of this user, and calls it once when a slot is free. */
  take(user: SlotUser, name: string): boolean {
    const isFull = this.isFull(name)
    const domain = this.#domains.get(name) ?? { name, underWay: 0, waiting: new Fifo() }
    if (isFull && this.#waitsIn.get(user) === domain) return false
    this.forget(user)
    this.#domains.set(name, domain)
    if (isFull) {
      domain.waiting.add(user)
      this.#waitsIn.set(user, domain)
    } else {
      domain.underWay++
      this.#underWay++
    }
    this.#look(domain)
    return !isFull
  }

  /** Frees a slot of this registrable domain. Calls one waiting user after the other until one of them takes the slot. */
  release(name: string): void {
    const domain = this.#domains.get(name)
    if (domain === undefined) return
    domain.underWay--
    this.#underWay--
    this.#look(domain)
    this.#wake()
  }

  /** The user waits no longer. */
  forget(user: SlotUser): void {
    const domain = this.#waitsIn.get(user)
    if (domain === undefined) return
    this.#waitsIn.delete(user)
    domain.waiting.delete(user)
    this.#look(domain)
  }

  /** Calls one user after the other, in a loop: a user that is called may release a slot, and this must not recurse. */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    try {
      while (this.#underWay < this.#limits.maxConcurrent) {
        const domain = this.#ready.first
        const user = domain?.waiting.first
        if (domain === undefined || user === undefined) return
        this.#ready.delete(domain) // its next turn comes after that of the others
        this.forget(user)
        user.advance()
      }
    } finally {
      this.#isWaking = false
    }
  }

  /** Puts the domain among those that are ready, where it keeps its turn, or takes it out; and drops it when nothing is left of it. */
  #look(domain: Domain): void {
    const { name, underWay, waiting } = domain
    if (waiting.size > 0 && underWay < this.#limits.maxConcurrentPerDomain) this.#ready.add(domain)
    else this.#ready.delete(domain)
    if (waiting.size === 0 && underWay === 0) this.#domains.delete(name)
  }
}
