// Those who wait for one origin. First come, first served; a slot is taken only by who leaves, so an abort costs nobody one.
import { type Delay, heedAnswer, type Pace, type PageAnswer, startPace, takeSlot } from '@politely/core'

export interface Waiter {
  /** What holds between this request and the next. */
  readonly delay: Delay
  /** The request may leave now. */
  readonly go: () => void
}

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
  readonly #waiting: Waiter[] = []
  #pace: Pace = startPace
  #underWay = 0
  #timer: NodeJS.Timeout | undefined

  constructor(shared: Shared) {
    this.#shared = shared
  }

  get pace(): Pace {
    return this.#pace
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#underWay === 0
  }

  join(waiter: Waiter): void {
    this.#waiting.push(waiter)
    this.advance()
  }

  /** Takes a waiter out; who came after it moves up. */
  leave(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter)
    if (at === -1) return
    this.#waiting.splice(at, 1)
    if (this.#waiting.length === 0) this.#stopTimer()
  }

  /** A request is over, with an answer or without one. */
  finished(answer: PageAnswer | undefined): void {
    this.#underWay--
    if (answer !== undefined) this.#pace = heedAnswer(this.#pace, answer, this.#shared.now())
    this.advance()
  }

  /** Lets go whoever may go, and sees to it that this is asked again when the next one may. */
  advance(): void {
    this.#stopTimer()
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const { now, maxConcurrentPerOrigin, takePlace } = this.#shared
      if (this.#underWay >= maxConcurrentPerOrigin) return // asked again by `finished`
      // A timer may fire a moment early: the clock decides, not the timer.
      const waitMs = this.#pace.nextSlotAt - now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), LONGEST_TIMER_MS))
        return
      }
      if (!takePlace(this)) return // asked again when one is free
      this.#waiting.shift()
      this.#underWay++
      this.#pace = takeSlot(this.#pace, now(), first.delay)
      first.go()
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
