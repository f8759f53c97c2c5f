// Those who wait for one key. First come, first served; a slot is taken only by who leaves, so an abort costs nobody one.
import type { Wishes } from '@politely/core'
import type { PaceReason, Pacer, Ticket, Turn } from './pacer.ts'

/** What a request waits for: its slot, by whoever asked for that, or a place among those under way. */
export type WaitReason = PaceReason | 'concurrency'

export interface Waiter {
  /** What is asked of its pace, by the newest rules that it knows. */
  readonly wishes: Wishes
  /** Asks robots.txt again: the rules may have changed while it waited. False where it does not leave any more, and knows why. */
  recheck(): Promise<boolean>
  /** It leaves now. */
  admit(slot: TakenSlot, heldBy: WaitReason | undefined): void
  fail(error: unknown): void
}

export type TakenSlot = Extract<Turn, { kind: 'slot' }>

/** What the queues of all keys share. */
export interface Shared {
  readonly now: () => number
  readonly pacer: Pacer
  readonly maxConcurrentPerKey: number
  /** Takes one of the places for requests under way; false where there is none, and then the queue is asked again later. */
  readonly takePlace: (queue: KeyQueue) => boolean
  /** Gives it back; others may want it. */
  readonly freePlace: () => void
  /** The pacer failed where nobody is left to be told. */
  readonly pacerFailed: (key: string, error: unknown) => void
  /** Nobody waits any more, and nothing is under way. */
  readonly emptied: (queue: KeyQueue) => void
}

/** Timers hold no more than about 24 days; longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 60 * 60 * 1000

export class KeyQueue {
  readonly key: string
  readonly #shared: Shared
  /** In the order in which they came. A set, since any of them may leave: in a list of 100,000 all leaving took 5 s. */
  readonly #waiting = new Set<Waiter>()
  /** Somebody has a place and is being asked, or asks the pacer; nobody else is called meanwhile. */
  #isCalling = false
  #underWay = 0
  /** Before this moment the pacer need not be asked. By our own clock. */
  #notBefore = 0
  #pausedBy: PaceReason = 'own-delay'
  /** What the first one was last held up by. */
  #heldBy: WaitReason | undefined
  /** The place in line that the pacer keeps for whoever is first. */
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

  /** The waiter has just asked robots.txt: if it can leave at once, it does before this returns, or as soon as the pacer says so. */
  join(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.advance(waiter)
  }

  /** Takes a waiter out; who came after it moves up. */
  remove(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    if (this.#waiting.size === 0) this.#rest()
  }

  /** Takes all waiters out, each with this error. */
  clear(error: unknown): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    this.#rest()
    for (const waiter of waiting) waiter.fail(error)
  }

  /** A request is over. Nobody is called yet: another queue may have waited longer for the place. */
  finished(): void {
    this.#underWay--
    if (this.#waiting.size === 0) this.#rest()
  }

  /** Calls who is first if it may leave, and otherwise sees to it that this is asked again when it may. */
  advance(fresh?: Waiter): void {
    this.#stopTimer()
    const [first] = this.#waiting
    if (first === undefined || this.#isCalling) return
    const { now, maxConcurrentPerKey, takePlace } = this.#shared
    if (this.#underWay >= maxConcurrentPerKey) {
      this.#heldBy = 'concurrency'
      return
    }
    // A timer may fire a moment early: the clock decides, not the timer.
    const waitMs = this.#notBefore - now()
    if (waitMs > 0) {
      this.#heldBy = this.#pausedBy
      this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS))
      return
    }
    if (!takePlace(this)) {
      this.#heldBy = 'concurrency' // asked again when a place is free
      return
    }
    this.#underWay++
    this.#isCalling = true
    if (first === fresh) this.#reserve(first)
    else void this.#call(first)
  }

  /** It has waited: for hours, perhaps. As long as the rules hold, asking again costs next to nothing. */
  async #call(first: Waiter): Promise<void> {
    if ((await first.recheck()) && this.#waiting.has(first)) this.#reserve(first)
    else this.#stay(first)
  }

  #reserve(first: Waiter): void {
    const { pacer } = this.#shared
    try {
      const turn = pacer.reserve(this.key, first.wishes, this.#ticket)
      if (isPromise(turn)) {
        turn.then(
          (later) => this.#turned(first, later),
          (error: unknown) => this.#failed(first, error),
        )
      } else this.#turned(first, turn)
    } catch (error) {
      this.#failed(first, error)
    }
  }

  #turned(first: Waiter, turn: Turn): void {
    const { now } = this.#shared
    if (turn.kind === 'wait') {
      this.#ticket = turn.ticket
      this.#pause(now() + turn.waitMs, turn.because)
      this.#stay()
      return
    }
    this.#ticket = undefined
    if (!this.#waiting.delete(first)) {
      this.#giveBack(turn.ticket) // it left while the pacer was asked
      this.#stay()
      return
    }
    this.#isCalling = false
    const heldBy = this.#heldBy
    this.#heldBy = undefined
    this.#pause(now() + turn.delay.delayMs, turn.delay.because)
    first.admit(turn, heldBy)
    this.advance()
  }

  #pause(until: number, because: PaceReason): void {
    this.#notBefore = until
    this.#pausedBy = because
  }

  #failed(first: Waiter, error: unknown): void {
    if (this.#waiting.has(first)) first.fail(error)
    else this.#shared.pacerFailed(this.key, error)
    this.#stay(first)
  }

  /** Who was called does not leave now. Its place is given back like that of a request. */
  #stay(gone?: Waiter): void {
    if (gone) this.#waiting.delete(gone)
    this.#isCalling = false
    this.#underWay--
    this.#shared.freePlace()
    if (this.#waiting.size === 0) this.#rest()
    else this.advance()
  }

  /** Nobody waits. */
  #rest(): void {
    this.#stopTimer()
    if (this.#isCalling) return
    const ticket = this.#ticket
    this.#ticket = undefined
    if (ticket !== undefined) this.#giveBack(ticket)
    if (this.#underWay === 0) this.#shared.emptied(this)
  }

  #giveBack(ticket: Ticket): void {
    const { pacer, pacerFailed } = this.#shared
    try {
      const given = pacer.giveBack(this.key, ticket)
      if (isPromise(given)) given.catch((error: unknown) => pacerFailed(this.key, error))
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

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
