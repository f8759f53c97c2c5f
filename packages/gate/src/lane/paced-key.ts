// One pace key of a gate: how many of its requests are under way, and when to ask the pacer for the
// next slot. A `Lane` is the key that `paceBy` says. A `SharedLimit` is the key of a registrable
// domain or an IP address.
//
// A request needs a slot of its lane, and of each `SharedLimit` with a delay. `reserveSlots`
// reserves all of them, or none. The pacer keeps the pace. Its last reply says how long it need not
// be asked again.
import type { Delay, PaceLimits } from '@politely/core/engine'
import { isPromise } from '@politely/core/internal'
import { MAX_TIMER_MS } from '@politely/fetcher/internal'
import type { LeaseTerms, PaceReason, Reservation, Ticket } from '../pace/pacer.ts'
import type { PaceLevel, WaitCause } from '../pace/wait-cause.ts'
import type { CheckedPacer } from './checked-pacer.ts'

/** A slot that the pacer has reserved for a request. */
export interface KeySlot {
  readonly pacedKey: PacedKey
  readonly limits: PaceLimits
  readonly ticket: Ticket
  readonly delay: Delay
  /** The slot expires at this time of the gate's clock. */
  readonly startBy: number
  /** Whether the pacer waits for `sent`. */
  readonly awaitsSent: boolean
  /** The pacer is not asked for the next slot before this time of the gate's clock. */
  readonly nextAt: number
}

/** What `reserveSlots` needs for one level. */
export interface PacedLevel {
  readonly pacedKey: PacedKey
  readonly limits: PaceLimits
  /** For the key of a lane, if the pacer counts the requests under way. */
  readonly lease?: LeaseTerms | undefined
  /** How many more requests of this key wait, if the request has no other level. */
  readonly waiting?: number | undefined
}

/**
 * The shortest wait before the next call of `reserve`. Without it, a pacer that replies with waits
 * of 0 ms would block the event loop.
 */
const MIN_WAIT_MS = 1

/**
 * The longest time for which an unsent request delays the next request: as long as undici waits for
 * a connection by default.
 */
const MAX_UNSENT_MS = 10_000

/** What the pace keys of one gate share. */
export interface PacerAndClock {
  readonly pacer: CheckedPacer
  readonly now: () => number
}

export abstract class PacedKey {
  readonly level: PaceLevel
  readonly key: string
  /** How many requests are under way. */
  underWay = 0
  readonly #context: PacerAndClock
  #timer: NodeJS.Timeout | undefined
  /** The last slot that a request has used. */
  #lastSlot: KeySlot | undefined
  /** Whether a request has a slot of this key and has not started yet. */
  #isStarting = false
  /**
   * The slot of a request that has started and not been sent. Until `until`, by the gate's
   * clock, no further request starts.
   */
  #unsent: { readonly slot: KeySlot; readonly until: number } | undefined
  /** The pacer is not asked before this time of the gate's clock. */
  #askPacerAt = 0
  /** The delay after the last slot. */
  #lastDelayMs = 0
  /** Why to wait until `#askPacerAt`. */
  #delayedBy: PaceReason = 'own-delay'
  /**
   * The ticket of the pacer's last reply. It belongs to the key: if the first request is
   * aborted, the next one uses it.
   */
  #ticket: Ticket | undefined

  constructor(level: PaceLevel, key: string, context: PacerAndClock) {
    this.level = level
    this.key = key
    this.#context = context
  }

  /** Whether no further request may be under way. */
  abstract get isFull(): boolean

  /** The requests of these slots are no longer under way: the pacer has counted them. */
  protected endElsewhere(_tickets: readonly Ticket[]): void {}

  /** Starts what may start now. Called when a delay ends. */
  abstract advance(): void

  get hasTimer(): boolean {
    return this.#timer !== undefined
  }

  /** How long the pacer will not be asked, by the gate's clock. Milliseconds. */
  get delayLeftMs(): number {
    return Math.max(0, this.#askPacerAt - this.#context.now())
  }

  /** Estimates how long a request will wait for delays. @param ahead How many wait before it. */
  expectedWaitMs(ahead: number): number {
    return Math.max(0, this.#waitMs(this.#context.now())) + ahead * this.#lastDelayMs
  }

  /** The delay that requests wait for, or waited for last. */
  get delayCause(): WaitCause {
    return { because: this.#delayedBy, level: this.level }
  }

  /** Whether the pacer may be asked for a slot. @param at The time of the gate's clock. */
  isFree(at: number): boolean {
    return this.#waitMs(at) <= 0
  }

  /**
   * Returns what a request has to wait for; undefined if the pacer may be asked for a slot. If it is
   * a delay, starts the timer.
   */
  startWait(): WaitCause | undefined {
    if (this.isFull) return { because: 'concurrency', level: this.level }
    const waitMs = this.#waitMs(this.#context.now())
    if (waitMs <= 0) return undefined
    this.stopTimer()
    // The timer may fire too early, since it uses another clock than the gate.
    this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
    return this.delayCause
  }

  stopTimer(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * The time until the pacer may be asked, by the gate's clock. Milliseconds; 0 or less if it may
   * be asked now. While a request is about to start, it is not: the process may be stopped for
   * longer than the delay, and both requests would then start at the same moment. While a request
   * is connecting, the time is one delay, since the request may be sent right now.
   */
  #waitMs(now: number): number {
    const waitMs = this.#askPacerAt - now
    if (this.#isStarting) return Math.max(waitMs, MIN_WAIT_MS)
    return this.#unsent !== undefined && now < this.#unsent.until
      ? Math.max(waitMs, this.#unsent.slot.delay.delayMs)
      : waitMs
  }

  /**
   * Asks the pacer for a slot. Returns undefined if the pacer replies with a `wait`. `startWait`
   * then says why to wait.
   * @param furtherSlots How many slots of other keys are reserved after this one.
   * @param seesSending Whether the gate expects to see when the request is sent.
   * @param allowanceMs How much later than its slot the request may be sent.
   * @param lease How many requests may be under way, if the pacer counts them.
   * @param waiting How many more requests of this key wait: see `Pacer`.
   */
  reserve(
    limits: PaceLimits,
    furtherSlots: number,
    seesSending: boolean,
    allowanceMs: number,
    lease?: LeaseTerms,
    waiting?: number,
  ): KeySlot | undefined | Promise<KeySlot | undefined> {
    const { pacer, now } = this.#context
    const calledAt = now()
    const ticket = this.#ticket
    const reply = pacer.reserve(this.key, limits, ticket, furtherSlots, seesSending, allowanceMs, lease, waiting)
    return isPromise(reply)
      ? reply.then((reservation) => this.#slotOf(reservation, limits, calledAt))
      : this.#slotOf(reply, limits, calledAt)
  }

  /**
   * The request of this slot is about to start. `started` or `cancel` must follow. @param at The
   * time of the gate's clock.
   */
  use(slot: KeySlot, at: number): void {
    const { delay, nextAt } = slot
    this.#lastSlot = slot
    this.#isStarting = delay.delayMs > 0
    this.#lastDelayMs = delay.delayMs
    this.#askPacerAfter(Math.max(at + delay.delayMs, nextAt), delay.because)
  }

  /** The request of this slot has started. */
  started({ ticket, delay }: KeySlot): void {
    this.#isStarting = false
    this.#context.pacer.started(this.key, ticket, delay)
  }

  /**
   * The request of this slot starts to connect. `sent` or `stopExpecting` follows.
   * @param at The time of the gate's clock.
   */
  expectSent(slot: KeySlot, at: number): void {
    if (slot.delay.delayMs > 0) this.#unsent = { slot, until: at + MAX_UNSENT_MS }
  }

  /**
   * It is no longer known whether the request of this slot will be sent, or whether the gate
   * will see that.
   */
  stopExpecting(slot: KeySlot): void {
    if (this.#unsent?.slot === slot) this.#unsent = undefined
  }

  /**
   * The request of this slot has been sent: the delay counts from then.
   * @param at When it was sent, by the gate's clock.
   * @param agoMs How long ago that was, if the slot has an allowance. Undefined for just now.
   */
  sent(slot: KeySlot, at: number, agoMs?: number): void {
    const { ticket, startBy, awaitsSent, delay } = slot
    this.stopExpecting(slot)
    if (delay.delayMs === 0) return
    const until = at + delay.delayMs
    const isEarlier = agoMs !== undefined && slot === this.#lastSlot
    if (isEarlier || (agoMs === undefined && until > this.#askPacerAt)) this.#askPacerAfter(until, delay.because)
    const isLate = at > startBy || startBy === Number.POSITIVE_INFINITY
    if (awaitsSent || isLate || agoMs !== undefined) this.#context.pacer.sent(this.key, ticket, delay, agoMs)
  }

  /** Gives back a slot whose request does not start. The pacer may be asked again at once. */
  cancel({ ticket }: KeySlot): void {
    this.#context.pacer.cancel(this.key, ticket)
    this.#isStarting = false
    this.#askPacerAt = 0
  }

  /**
   * Makes requests of this key wait for the shortest time, from this time of the gate's clock on.
   */
  waitBriefly(at: number, because: PaceReason): void {
    this.#askPacerAfter(at + MIN_WAIT_MS, because)
  }

  /** A request of this key has ended: if requests wait for that, the pacer is asked at once. */
  stopWaitingForEnd(): void {
    if (this.#delayedBy === 'concurrency') this.#askPacerAt = 0
  }

  /** To be called when no request of this key waits or is under way: the pacer is asked next time. */
  reset(): void {
    this.#askPacerAt = 0
    this.#lastDelayMs = 0
    this.#delayedBy = 'own-delay'
  }

  /**
   * To be called when no request of this key waits: gives up its position in the pacer's own queue.
   */
  leavePacerQueue(): void {
    const ticket = this.#ticket
    this.#ticket = undefined
    if (ticket !== undefined) this.#context.pacer.cancel(this.key, ticket)
  }

  #slotOf(reservation: Reservation, limits: PaceLimits, calledAt: number): KeySlot | undefined {
    this.#ticket = undefined
    if (reservation.ended !== undefined) this.endElsewhere(reservation.ended)
    if (reservation.kind === 'slot') {
      const { ticket, delay, startWithinMs, awaitsSent = false, nextAfterMs = 0, nextTicket } = reservation
      this.#ticket = nextTicket
      const startBy = calledAt + (startWithinMs ?? Number.POSITIVE_INFINITY)
      return { pacedKey: this, limits, ticket, delay, startBy, awaitsSent, nextAt: calledAt + nextAfterMs }
    }
    this.#ticket = reservation.ticket
    this.#askPacerAfter(this.#context.now() + Math.max(reservation.waitMs, MIN_WAIT_MS), reservation.because)
    return undefined
  }

  #askPacerAfter(at: number, because: PaceReason): void {
    this.#askPacerAt = at
    this.#delayedBy = because
  }
}

/**
 * Reserves a slot at each level, in this order. If one has none, or if the pacer fails, gives back
 * the others. So a request never holds a slot of one level while it waits for another, and two
 * levels cannot block each other.
 * @param seesSending Whether the gate expects to see when the request is sent.
 * @param allowanceMs How much later than its slots the request may be sent.
 * @returns The slots in the same order; undefined if a level has none. A promise if the pacer
 * replies with one.
 */
export function reserveSlots(
  levels: readonly PacedLevel[],
  seesSending: boolean,
  allowanceMs: number,
  slots: readonly KeySlot[] = [],
): readonly KeySlot[] | undefined | Promise<readonly KeySlot[] | undefined> {
  const level = levels[slots.length]
  if (level === undefined) return slots
  const goOn = (slot: KeySlot | undefined) => {
    if (slot !== undefined) return reserveSlots(levels, seesSending, allowanceMs, [...slots, slot])
    cancelSlots(slots)
    return undefined
  }
  const fail = (error: unknown): never => {
    cancelSlots(slots)
    throw error
  }
  let slot: KeySlot | undefined | Promise<KeySlot | undefined>
  try {
    const { pacedKey, limits, lease, waiting } = level
    slot = pacedKey.reserve(limits, levels.length - slots.length - 1, seesSending, allowanceMs, lease, waiting)
  } catch (error) {
    return fail(error)
  }
  return isPromise(slot) ? slot.then(goOn, fail) : goOn(slot)
}

/**
 * Gives back the slots of a request if one of them has expired. The request then waits briefly for
 * its first level, as after a `wait` reply. Without that wait, a pacer whose slots always expire
 * would block the event loop.
 * @param at The time of the gate's clock.
 * @returns Whether a slot has expired.
 */
export function cancelIfExpired(slots: readonly KeySlot[], at: number): boolean {
  if (slots.every(({ startBy }) => at <= startBy)) return false
  cancelSlots(slots)
  slots[0]?.pacedKey.waitBriefly(at, slots[0].delay.because)
  return true
}

export function cancelSlots(slots: readonly KeySlot[]): void {
  for (const slot of slots) slot.pacedKey.cancel(slot)
}
