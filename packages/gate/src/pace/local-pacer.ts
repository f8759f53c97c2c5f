// LocalPacer: keeps the pace of all keys in the memory of this process. It is the default pacer of
// a gate.
//
// It stores no queue, since the gate asks for one request of a key at a time.
import {
  applyPause,
  applyResponse,
  applySending,
  canForget,
  type Delay,
  delayOf,
  endRequest,
  MAX_SIMULATED_REQUESTS,
  nextSlot,
  type Pace,
  type PaceLimits,
  type PaceResponse,
  type PauseReason,
  returnSlot,
  shiftPause,
  startPace,
  takeSlot,
} from '@politely/core/engine'
import { callable } from '@politely/fetcher/internal'
import type { Pacer, Reservation, Ticket, WaitEstimate } from './pacer.ts'

/**
 * Each reservation and each pause checks this many keys for eviction. With two, eviction is faster
 * than growth: each adds at most one key.
 */
const KEYS_CHECKED_AT_ONCE = 2

/** Keeps the pace of all keys in the memory of this process. It is the default pacer of a gate. */
export class LocalPacer implements Pacer {
  readonly #now: () => number
  /**
   * Returns UTC minus `#now`. It changes when the system clock is set, and when the computer has
   * slept.
   */
  readonly #utcOffsetMs: () => number = () => 0
  readonly #paces = new Map<string, Pace>()
  /**
   * The next key to check for eviction. It goes round over all keys, so that no single call has to
   * check them all.
   */
  #sweep = this.#paces.entries()
  /**
   * The highest slot number of any key. A key that was evicted continues from here, so that a late
   * response to one of its earlier requests is recognised as old.
   */
  #maxSlot = 0

  /**
   * @param now A clock for tests and simulations: returns milliseconds since 1970, and never goes
   * back. By default, delays are counted by `performance.now`, which no change of the system clock
   * affects, and Visit-time, Request-rate and dates in Retry-After by `Date.now`.
   * @throws {OptionError} if it is not a function.
   */
  constructor(now?: () => number) {
    this.#now = callable('now', now, 'a function that returns milliseconds') ?? (() => performance.now())
    if (now === undefined) this.#utcOffsetMs = () => Date.now() - performance.now()
  }

  /**
   * How many keys are stored. A key is evicted when its pace no longer differs from the pace of a
   * new key.
   */
  get size(): number {
    return this.#paces.size
  }

  reserve(key: string, limits: PaceLimits): Reservation {
    const now = this.#now()
    const utcOffsetMs = this.#utcOffsetMs()
    const pace = this.#paceOf(key)
    const { at, because } = nextSlot(pace, now, limits.visitTimes, utcOffsetMs)
    if (because !== 'none') return { kind: 'wait', ticket: undefined, waitMs: at - now, because }
    const delay = delayOf(limits, now + utcOffsetMs)
    const next = takeSlot(pace, now, delay, limits.pauseFrom)
    this.#maxSlot = Math.max(this.#maxSlot, next.slots)
    this.#paces.set(key, next)
    this.#evictSome(now)
    return { kind: 'slot', ticket: next.slots, delay }
  }

  started(key: string, ticket: Ticket, delay: Delay): void {
    const pace = this.#paces.get(key)
    if (pace?.slots === ticket) this.#paces.set(key, shiftPause(pace, this.#now(), delay))
  }

  sent(key: string, _: Ticket, delay: Delay): void {
    this.#update(key, (pace) => applySending(pace, this.#now(), delay))
  }

  cancel(key: string, ticket: Ticket): void {
    const pace = this.#paces.get(key)
    if (pace) this.#paces.set(key, returnSlot(pace, Number(ticket), this.#now()))
  }

  report(key: string, ticket: Ticket, response: PaceResponse): void {
    this.#update(key, (pace) => applyResponse(pace, response, Number(ticket), this.#now(), this.#utcOffsetMs()))
  }

  pause(key: string, pauseMs: number, because: PauseReason): void {
    if (!(pauseMs > 0)) return
    const now = this.#now()
    this.#update(key, (pace) => applyPause(pace, pauseMs, because, now))
    this.#evictSome(now)
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void {
    this.#update(key, (pace) => endRequest(pace, limits, Number(ticket), this.#now(), tookMs, this.#utcOffsetMs()))
  }

  estimate(key: string, limits: PaceLimits, ahead: number, _willReserve?: boolean): WaitEstimate {
    const now = this.#now()
    const utcOffsetMs = this.#utcOffsetMs()
    let pace = this.#paceOf(key)
    let { at, because } = nextSlot(pace, now, limits.visitTimes, utcOffsetMs)
    for (let n = 0; n < Math.min(ahead, MAX_SIMULATED_REQUESTS); n++) {
      pace = takeSlot(pace, at, delayOf(limits, at + utcOffsetMs))
      const next = nextSlot(pace, at, limits.visitTimes, utcOffsetMs)
      at = next.at
      if (next.because !== 'none') because = next.because
    }
    const furtherMs = Math.max(0, ahead - MAX_SIMULATED_REQUESTS) * delayOf(limits, at + utcOffsetMs).delayMs
    return { waitMs: at + furtherMs - now, because }
  }

  #update(key: string, change: (pace: Pace) => Pace): void {
    const pace = this.#paceOf(key)
    const next = change(pace)
    if (next !== pace) this.#paces.set(key, next)
  }

  #paceOf(key: string): Pace {
    return this.#paces.get(key) ?? { ...startPace, slots: this.#maxSlot }
  }

  #evictSome(now: number): void {
    for (let n = 0; n < KEYS_CHECKED_AT_ONCE; n++) {
      const { value, done } = this.#sweep.next()
      if (done) this.#sweep = this.#paces.entries()
      else if (canForget(value[1], now)) this.#paces.delete(value[0])
    }
  }
}
