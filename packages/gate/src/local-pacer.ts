// The pace of all keys in this process. Nothing is kept for who waits: the gate asks for one at a time.
import {
  applyResponse,
  canForget,
  type Delay,
  delayOf,
  nextSlot,
  type Pace,
  type PaceLimits,
  type PageResponse,
  returnSlot,
  shiftPause,
  startPace,
  takeSlot,
} from '@politely/core'
import type { Pacer, Reservation, Ticket, WaitEstimate } from './pacer.ts'

/** However many wait before a request, so many slots are worked out one by one; each further one is a pause later. */
const MOST_FORESEEN = 100
/** With each slot that is taken so many keys are looked at, in turn, and forgotten if they may be. With two the hand is faster than growth. */
const LOOKED_AT = 2

/** Paces on a clock of this process. A key is forgotten when nothing is lost by that. */
export class LocalPacer implements Pacer {
  readonly #now: () => number
  readonly #paces = new Map<string, Pace>()
  /** Goes round over all keys; there is never a moment at which all are looked at. */
  #hand = this.#paces.entries()
  /** No slot has a higher number. A key that was forgotten goes on from here, so that old answers are known as such. */
  #slots = 0

  /** The clock: milliseconds since 1970, and it never goes back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#paces.size
  }

  reserve(key: string, wishes: PaceLimits): Reservation {
    const now = this.#now()
    const pace = this.#paceOf(key)
    const { at, because } = nextSlot(pace, now, wishes.visitTimes)
    if (because !== 'none') return { kind: 'wait', ticket: undefined, waitMs: at - now, because }
    const delay = delayOf(wishes, now)
    const next = takeSlot(pace, now, delay)
    this.#slots = Math.max(this.#slots, next.slots)
    this.#paces.set(key, next)
    this.#forgetSome(now)
    return { kind: 'slot', ticket: next.slots, delay }
  }

  started(key: string, ticket: Ticket, delay: Delay): void {
    const pace = this.#paces.get(key)
    if (pace?.slots === ticket) this.#paces.set(key, shiftPause(pace, this.#now(), delay))
  }

  cancel(key: string, ticket: Ticket): void {
    const pace = this.#paces.get(key)
    if (pace) this.#paces.set(key, returnSlot(pace, Number(ticket), this.#now()))
  }

  report(key: string, ticket: Ticket, answer: PageResponse | undefined): void {
    if (answer === undefined) return
    const pace = this.#paceOf(key)
    const next = applyResponse(pace, answer, Number(ticket), this.#now())
    if (next !== pace) this.#paces.set(key, next)
  }

  estimate(key: string, wishes: PaceLimits, ahead: number): WaitEstimate {
    const now = this.#now()
    let pace = this.#paceOf(key)
    let { at, because } = nextSlot(pace, now, wishes.visitTimes)
    for (let n = 0; n < Math.min(ahead, MOST_FORESEEN); n++) {
      pace = takeSlot(pace, at, delayOf(wishes, at))
      const next = nextSlot(pace, at, wishes.visitTimes)
      at = next.at
      if (next.because !== 'none') because = next.because
    }
    const further = Math.max(0, ahead - MOST_FORESEEN) * delayOf(wishes, at).delayMs
    return { waitMs: at + further - now, because }
  }

  #paceOf(key: string): Pace {
    return this.#paces.get(key) ?? { ...startPace, slots: this.#slots }
  }

  #forgetSome(now: number): void {
    for (let n = 0; n < LOOKED_AT; n++) {
      const { value, done } = this.#hand.next()
      if (done) this.#hand = this.#paces.entries()
      else if (canForget(value[1], now)) this.#paces.delete(value[0])
    }
  }
}
