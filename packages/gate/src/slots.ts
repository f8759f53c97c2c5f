// Concurrency slots: how many requests may be under way at once, in all and to one registrable domain, which could otherwise occupy every slot
// with slow pages.
import { DomainTurns } from '@politely/fetcher/domain-turns'

interface SlotLimits {
  readonly maxConcurrent: number
  readonly maxConcurrentPerDomain: number
}

/** A queue of requests that competes for slots. */
export interface SlotUser {
  /** A slot may be free: take one now, or go without. */
  advance(): void
}

export class Slots {
  readonly #turns: DomainTurns<SlotUser>
  /** In which domain a user waits. */
  readonly #waitsIn = new Map<SlotUser, string>()
  #isWaking = false

  constructor({ maxConcurrent, maxConcurrentPerDomain }: SlotLimits) {
    this.#turns = new DomainTurns(maxConcurrent, maxConcurrentPerDomain)
  }

  /** Whether a request to this registrable domain would have to wait for a slot. */
  isFull(domain: string): boolean {
    return this.#turns.isFull(domain)
  }

  /** Takes a slot and returns true. If all are taken, returns false, keeps the position of this user, and calls it once when a slot is free. */
  take(user: SlotUser, domain: string): boolean {
    const isFull = this.#turns.isFull(domain)
    if (isFull && this.#waitsIn.get(user) === domain) return false
    this.forget(user)
    if (isFull) {
      this.#turns.add(domain, user)
      this.#waitsIn.set(user, domain)
    } else this.#turns.start(domain)
    return !isFull
  }

  /** Frees a slot of this registrable domain. Calls one waiting user after the other until one of them takes the slot. */
  release(domain: string): void {
    this.#turns.end(domain)
    this.#wake()
  }

  /** The user waits no longer. */
  forget(user: SlotUser): void {
    const domain = this.#waitsIn.get(user)
    if (domain === undefined) return
    this.#waitsIn.delete(user)
    this.#turns.delete(domain, user)
  }

  /** Calls one user after the other, in a loop: a user that is called may release a slot, and this must not recurse. */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    try {
      for (let user = this.#turns.next(); user !== undefined; user = this.#turns.next()) {
        this.#waitsIn.delete(user)
        user.advance()
      }
    } finally {
      this.#isWaking = false
    }
  }
}
