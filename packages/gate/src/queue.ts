// Those who wait for one origin. First come, first served; a slot is taken only by who leaves, so an abort costs nobody one.
import { type Delay, heedAnswer, type Pace, type PageAnswer, startPace, takeSlot } from '@politely/core'

/** Called when the turn has come. It is answered with `depart` or `stay`. */
export type Waiter = () => void

/** What the queues of all origins share. */
export interface Shared {
  readonly now: () => number
  readonly maxConcurrentPerOrigin: number
  /** Takes one of the places for requests under way; false where there is none, and then the queue is asked again later. */
  readonly takePlace: (queue: OriginQueue) => boolean
}

/** Timers hold no more than about 24 days; longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 60 * 60 * 1000

export class OriginQueue {
  readonly #shared: Shared
  /** In the order in which they came. A set, since any of them may leave: in a list of 100,000 all leaving took 5 s. */
  readonly #waiting = new Set<Waiter>()
  #pace: Pace = startPace
  /** Someone was called and has not answered yet, so that nobody else is called. */
  #isCalling = false
  #underWay = 0
  #timer: NodeJS.Timeout | undefined

  constructor(shared: Shared) {
    this.#shared = shared
  }

  get pace(): Pace {
    return this.#pace
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#underWay === 0
  }

  join(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.advance()
  }

  /** Takes a waiter out; who came after it moves up. */
  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    if (this.#waiting.size === 0) this.#stopTimer()
  }

  /** Who was called leaves now; the next one keeps this delay. */
  depart(delay: Delay): void {
    this.#isCalling = false
    this.#pace = takeSlot(this.#pace, this.#shared.now(), delay)
    this.advance()
  }

  /** Who was called does not leave after all, and takes no slot. Its place is given back like that of a request. */
  stay(): void {
    this.#isCalling = false
  }

  /** A request is over, with an answer or without one. Nobody is called yet: another origin may have waited longer. */
  finished(answer: PageAnswer | undefined): void {
    this.#underWay--
    if (answer !== undefined) this.#pace = heedAnswer(this.#pace, answer, this.#shared.now())
  }

  /** Calls who is first if it may leave, and otherwise sees to it that this is asked again when it may. */
  advance(): void {
    this.#stopTimer()
    const [first] = this.#waiting
    const { now, maxConcurrentPerOrigin, takePlace } = this.#shared
    if (first === undefined || this.#isCalling || this.#underWay >= maxConcurrentPerOrigin) return
    // A timer may fire a moment early: the clock decides, not the timer.
    const waitMs = this.#pace.nextSlotAt - now()
    if (waitMs > 0) {
      this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS))
      return
    }
    if (!takePlace(this)) return // asked again when one is free
    this.#waiting.delete(first)
    this.#underWay++
    this.#isCalling = true
    first()
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
