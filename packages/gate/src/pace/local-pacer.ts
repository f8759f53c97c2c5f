// LocalPacer: keeps the pace of all keys in the memory of this process. It is the default pacer of
// a gate.
//
// It stores no queue, since the gate asks for one request of a key at a time.
import {
  applyPause,
  applyResponse,
  applySending,
  type CircuitLimits,
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
  startPace,
  takeSlot,
  takeSlotOf,
} from '@politely/core/engine'
import { type MutablePace, shiftPause } from '@politely/core/internal'
import { callable } from '@politely/fetcher/internal'
import { LocalCircuits } from './local-circuits.ts'
import type {
  Admission,
  CircuitReport,
  CircuitResult,
  LeaseTerms,
  Pacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from './pacer.ts'

/**
 * After this many reservations and pauses, twice as many keys are checked for eviction. So eviction is
 * faster than growth: each adds at most one key. Our choice.
 */
const CALLS_BETWEEN_CHECKS = 16

/** Keeps the pace of all keys in the memory of this process. It is the default pacer of a gate. */
export class LocalPacer implements Pacer {
  readonly #now: () => number
  /**
   * Returns UTC minus `#now`. It changes when the system clock is set, and when the computer has
   * slept.
   */
  readonly #utcOffsetMs: () => number = () => 0
  readonly #paces = new Map<string, MutablePace>()
  readonly #visitedAt: number | undefined
  /** Says whether a request to this origin may start: see `Pacer`. */
  readonly admit: (origin: string, limits: CircuitLimits) => Admission
  /** Notes how a request to this origin has ended: see `Pacer`. */
  readonly settle: (origin: string, limits: CircuitLimits, result: CircuitResult) => CircuitReport
  /** Whether no request to this origin has failed since the last success. */
  readonly isClear: (origin: string) => boolean
  /**
   * The next key to check for eviction. It goes round over all keys, so that no single call has to
   * check them all.
   */
  #sweep = this.#paces.entries()
  #calls = 0
  /**
   * The highest slot number of any key. A key that was evicted continues from here, so that a late
   * response to one of its earlier requests is recognised as old.
   */
  #maxSlot = 0

  /**
   * @param now A clock for tests and simulations: returns milliseconds since 1970, and never goes
   * back. By default, delays are counted by `performance.now`, which no change of the system clock
   * affects, and Visit-time, Request-rate and dates in Retry-After by `Date.now`.
   * @param visitedAt Every key counts as visited at this time of the clock: a program before this one
   * may have made requests until then. Default: no key was visited.
   * @throws {OptionError} if it is not a function.
   */
  constructor(now?: () => number, visitedAt?: number) {
    this.#visitedAt = visitedAt
    this.#now = callable('now', now, 'a function that returns milliseconds') ?? (() => performance.now())
    if (now === undefined) this.#utcOffsetMs = () => Date.now() - performance.now()
    const circuits = new LocalCircuits(this.#now)
    this.admit = (origin, limits) => circuits.admit(origin, limits)
    this.settle = (origin, limits, result) => circuits.settle(origin, limits, result)
    this.isClear = (origin) => circuits.isClear(origin)
  }

  /**
   * How many keys are stored. A key is evicted when its pace no longer differs from the pace of a
   * new key.
   */
  get size(): number {
    return this.#paces.size
  }

  reserve(
    key: string,
    limits: PaceLimits,
    _ticket?: Ticket,
    _furtherSlots?: number,
    _seesSending?: boolean,
    allowanceMs = 0,
    _lease?: LeaseTerms,
    _waiting?: number,
  ): Reservation {
    const now = this.#now()
    const utcOffsetMs = this.#offsetFor(limits)
    const known = this.#paces.get(key)
    const pace = known ?? this.#newPace(limits)
    const { at, because } = nextSlot(pace, now, limits.visitTimes, utcOffsetMs)
    if (because !== 'none') return { kind: 'wait', ticket: undefined, waitMs: at - now, because }
    const delay = delayOf(limits, now + utcOffsetMs)
    takeSlotOf(pace, now, delay, limits.pauseFrom, allowanceMs)
    this.#maxSlot = Math.max(this.#maxSlot, pace.slots)
    if (known === undefined && !canForget(pace, now)) this.#paces.set(key, pace)
    this.#evictSome(now)
    return allowanceMs === 0 || delay.delayMs === 0
      ? { kind: 'slot', ticket: pace.slots, delay }
      : { kind: 'slot', ticket: pace.slots, delay, nextAfterMs: delay.delayMs + allowanceMs }
  }

  started(key: string, ticket: Ticket, delay: Delay): void {
    const pace = this.#paces.get(key)
    if (pace?.slots === ticket) this.#paces.set(key, shiftPause(pace, this.#now(), delay))
  }

  sent(key: string, ticket: Ticket, delay: Delay, agoMs?: number): void {
    const slot = agoMs === undefined ? undefined : Number(ticket)
    this.#update(key, (pace) => applySending(pace, this.#now() - (agoMs ?? 0), delay, slot))
  }

  cancel(key: string, ticket: Ticket): void {
    const pace = this.#paces.get(key)
    if (pace) this.#paces.set(key, returnSlot(pace, Number(ticket), this.#now()))
  }

  /** @param _onceMs No effect: the gates of a process report each slot once. Milliseconds. */
  report(key: string, ticket: Ticket, response: PaceResponse, _onceMs?: number): void {
    if (response.isPushback === false && !this.#paces.get(key)?.pushbacks) return // most calls: nothing changes
    this.#update(key, (pace) => applyResponse(pace, response, Number(ticket), this.#now(), this.#utcOffsetMs()))
  }

  pause(key: string, pauseMs: number, because: PauseReason): void {
    if (!(pauseMs > 0)) return
    const now = this.#now()
    this.#update(key, (pace) => applyPause(pace, pauseMs, because, now))
    this.#evictSome(now)
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void {
    if (limits.pauseFrom !== 'end' && !limits.delayFactor) return // most calls: nothing changes
    this.#update(key, (pace) => endRequest(pace, limits, Number(ticket), this.#now(), tookMs, this.#utcOffsetMs()))
  }

  estimate(key: string, limits: PaceLimits, ahead: number, _willReserve?: boolean): WaitEstimate {
    const now = this.#now()
    const utcOffsetMs = this.#offsetFor(limits)
    let pace: Pace = this.#paces.get(key) ?? this.#newPace(limits)
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
    const pace: Pace = this.#paces.get(key) ?? this.#newPace()
    const next = change(pace)
    if (next !== pace) this.#paces.set(key, next)
  }

  #newPace(limits?: PaceLimits): MutablePace {
    const pace = { ...startPace, slots: this.#maxSlot }
    if (this.#visitedAt === undefined || limits === undefined) return pace
    const delay = delayOf(limits, this.#visitedAt + this.#offsetFor(limits))
    return { ...takeSlot(pace, this.#visitedAt, delay), slots: this.#maxSlot }
  }

  /** Most sites ask for no times of day, and need no second clock. */
  #offsetFor({ visitTimes, requestRates }: PaceLimits): number {
    return visitTimes === undefined && requestRates === undefined ? 0 : this.#utcOffsetMs()
  }

  #evictSome(now: number): void {
    if (++this.#calls % CALLS_BETWEEN_CHECKS !== 0) return
    for (let n = 0; n < 2 * CALLS_BETWEEN_CHECKS; n++) {
      const { value, done } = this.#sweep.next()
      if (done) {
        this.#sweep = this.#paces.entries()
        return
      }
      if (canForget(value[1], now)) this.#paces.delete(value[0])
    }
  }
}
