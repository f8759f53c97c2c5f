// The requests that wait for one key. First come, first served. A request takes its slot when it starts, so an abort costs the others none.
import type { PaceLimits } from '@politely/core'
import { Fifo } from '@politely/fetcher/fifo'
import type { PaceReason, Pacer, Reservation, Ticket } from './pacer.ts'
import { checkedReservation } from './pacer-checks.ts'
import type { Slots } from './slots.ts'

/** What a request waits for: a pause, named by its reason, or a concurrency slot. */
export type WaitReason = PaceReason | 'concurrency'

export interface Waiter {
  /** What is asked of its pace, by the newest rules that it knows. */
  readonly wishes: PaceLimits
  /** The registrable domain that its concurrency slot counts for. */
  readonly domain: string
  /** Checks robots.txt again, since the rules may have changed. `refused`: it has failed. `unknown`: robots.txt has to be fetched first. */
  recheckNow(): 'allowed' | 'refused' | 'unknown'
  /** The same with a fetch of robots.txt. False if it was refused, and has failed. */
  recheck(): Promise<boolean>
  /** It starts now, at this moment by our own clock. */
  admit(slot: TakenSlot, heldBy: WaitReason | undefined, at: number): void
  fail(error: unknown): void
}

/** A slot in time, which the pacer gives. */
export type TakenSlot = Extract<Reservation, { kind: 'slot' }>

/** What the queues of all keys share. */
export interface Shared {
  readonly now: () => number
  readonly pacer: Pacer
  readonly maxConcurrentPerKey: number
  /** Concurrency slots. */
  readonly slots: Slots
  /** The pacer failed where no request is left to fail with it. */
  readonly pacerFailed: (key: string, error: unknown) => void
  /** Nothing waits any more, and nothing is under way. */
  readonly emptied: (queue: KeyQueue) => void
}

/** Timers hold no more than about 24 days; longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 60 * 60 * 1000
/** A pacer that says `wait` without a time must not be asked again in the same turn of the event loop. */
const LEAST_WAIT_MS = 1

export class KeyQueue {
  readonly key: string
  readonly #shared: Shared
  /** In the order in which they came. */
  readonly #waiting = new Fifo<Waiter>()
  /** True while the queue checks its first request again, or asks the pacer for its turn. It calls no other request meanwhile. */
  #isCalling = false
  /** Whether the first one waits for a concurrency slot. */
  #wantsSlot = false
  #underWay = 0
  /** Before this moment the pacer need not be asked. By our own clock. */
  #notBefore = 0
  #pausedBy: PaceReason = 'own-delay'
  /** What the first one was last held up by. */
  #heldBy: WaitReason | undefined
  /** What the pacer knows the first one by, while that waits. */
  #ticket: Ticket | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(key: string, shared: Shared) {
    this.key = key
    this.#shared = shared
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get underWay(): number {
    return this.#underWay
  }

  get heldBy(): WaitReason | undefined {
    return this.#waiting.size === 0 ? undefined : this.#heldBy
  }

  /** The waiter has just checked robots.txt. If it can start at once, it does before this returns, or as soon as the pacer says so. */
  join(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.advance(waiter)
  }

  /** Takes a waiter out; those after it move up. */
  remove(waiter: Waiter): void {
    const { first } = this.#waiting
    this.#waiting.delete(waiter)
    if (this.#waiting.size === 0) this.#rest()
    else if (first === waiter && this.#wantsSlot) this.advance() // the next one may belong to another domain
  }

  /** Takes all waiters out, each with this error. */
  clear(error: unknown): void {
    const waiting = this.#waiting.drain()
    this.#rest()
    for (const waiter of waiting) waiter.fail(error)
  }

  /** A request is over. No other is called yet: another queue may have waited longer for the concurrency slot. */
  finished(): void {
    this.#underWay--
    if (this.#waiting.size === 0) this.#rest()
  }

  /** A request that has its slot in time does not start after all. Its concurrency slot is freed like that of any other. */
  withdrawn({ ticket }: TakenSlot): void {
    this.#giveBack(ticket)
    this.#notBefore = 0 // what is left of the pause, the pacer knows
  }

  /**
   * Starts all requests that may start now, and sees to it that this is called again when the next one may.
   * @param checked A waiter that has just checked robots.txt, and need not do so again.
   */
  advance(checked?: Waiter): void {
    if (this.#isCalling) return
    this.#stopTimer()
    this.#wantsSlot = false
    // A loop, since thousands may start, or be refused, one after the other.
    for (;;) {
      const { first } = this.#waiting
      if (first === undefined) break
      if (!this.#mayCall() || !this.#takeSlot(first)) return
      this.#isCalling = true
      const known = first === checked ? 'allowed' : first.recheckNow()
      if (known === 'allowed' && this.#waiting.has(first)) {
        if (this.#reserve(first) === 'later') return
        continue
      }
      this.#freeSlot(first)
      if (known === 'unknown') {
        void this.#recheck(first)
        return
      }
      this.#waiting.delete(first)
    }
    this.#rest()
  }

  #mayCall(): boolean {
    const { now, maxConcurrentPerKey } = this.#shared
    if (this.#underWay >= maxConcurrentPerKey) {
      this.#heldBy = 'concurrency'
      return false
    }
    // A timer may fire a moment early: the clock decides, not the timer.
    const waitMs = this.#notBefore - now()
    if (waitMs <= 0) return true
    this.#heldBy = this.#pausedBy
    this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS))
    return false
  }

  #takeSlot(first: Waiter): boolean {
    if (this.#shared.slots.take(this, first.domain)) {
      this.#underWay++
      return true
    }
    this.#heldBy = 'concurrency'
    this.#wantsSlot = true
    return false
  }

  /** The one that was called does not start now. */
  #freeSlot(first: Waiter): void {
    this.#underWay--
    this.#shared.slots.release(first.domain)
    this.#isCalling = false
  }

  /** Fetches robots.txt without a slot: a site decides how long this takes, and how often it is needed. Then it competes for a slot again. */
  async #recheck(first: Waiter): Promise<void> {
    this.#isCalling = true
    const isAllowed = await first.recheck()
    this.#isCalling = false
    if (!isAllowed) this.#waiting.delete(first)
    this.advance(isAllowed ? first : undefined)
  }

  /** Asks the pacer for a turn. `later`: it answers by a promise. */
  #reserve(first: Waiter): 'done' | 'later' {
    const { pacer } = this.#shared
    try {
      const turn = pacer.reserve(this.key, first.wishes, this.#ticket)
      if (!isPromise(turn)) {
        this.#turned(first, checkedReservation(turn))
        return 'done'
      }
      Promise.resolve(turn)
        .then(checkedReservation)
        .then(
          (later) => this.#turned(first, later),
          (error: unknown) => this.#failed(first, error),
        )
        .then(() => this.advance())
      return 'later'
    } catch (error) {
      this.#failed(first, error)
      return 'done'
    }
  }

  #turned(first: Waiter, turn: Reservation): void {
    const at = this.#shared.now()
    if (turn.kind === 'wait') {
      this.#ticket = turn.ticket
      this.#pause(at + Math.max(turn.waitMs, LEAST_WAIT_MS), turn.because)
      this.#freeSlot(first)
      return
    }
    this.#ticket = undefined
    if (!this.#waiting.delete(first)) {
      this.#giveBack(turn.ticket) // it left while the pacer was asked
      this.#freeSlot(first)
      return
    }
    this.#isCalling = false
    const heldBy = this.#heldBy
    this.#heldBy = undefined
    this.#pause(at + turn.delay.delayMs, turn.delay.because)
    first.admit(turn, heldBy, at)
  }

  #pause(until: number, because: PaceReason): void {
    this.#notBefore = until
    this.#pausedBy = because
  }

  #failed(first: Waiter, error: unknown): void {
    if (this.#waiting.delete(first)) first.fail(error)
    else this.#shared.pacerFailed(this.key, error)
    this.#freeSlot(first)
  }

  /** Nothing waits. */
  #rest(): void {
    this.#stopTimer()
    if (this.#isCalling) return
    this.#shared.slots.forget(this)
    const ticket = this.#ticket
    this.#ticket = undefined
    if (ticket !== undefined) this.#giveBack(ticket)
    if (this.#underWay === 0) this.#shared.emptied(this)
  }

  #giveBack(ticket: Ticket): void {
    const { pacer, pacerFailed } = this.#shared
    try {
      const given = pacer.cancel(this.key, ticket)
      if (isPromise(given)) Promise.resolve(given).catch((error: unknown) => pacerFailed(this.key, error))
    } catch (error) {
      pacerFailed(this.key, error)
    }
  }

  #stopTimer(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
