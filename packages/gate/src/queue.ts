// The queue of one pace key. Its requests start in the order in which they arrived.
//
// Only the first request is processed; the others wait behind it. The first request passes these steps:
//
//   1. The concurrency limit of this queue: it has capacity if fewer than `maxConcurrentPerOrigin` requests of this queue have
//      acquired the concurrency limits (step 3) and not released them.
//   2. The pace: the time `#askPacerAt` has come. The pacer's last reply sets it: to the end of a `wait`, or to the end of the
//      delay after a slot. The queue sets a timer for it.
//   3. The concurrency limits that all queues share: in all, and for each registrable domain. The request acquires these two
//      and the limit of step 1.
//   4. robots.txt: it is checked again, since the rules may have changed while the request waited. If it has to be fetched,
//      the request first releases the limits, so that a slow robots.txt does not delay other sites. After the fetch the
//      request starts over at step 1.
//   5. A slot: the pacer reserves one, and the request leaves the queue with its permit. Or the pacer replies with a `wait`.
//      Then the request releases the limits and starts over at step 1.
//
// A slot is reserved last, so a request that is aborted while it waits does not waste one.
import type { PaceLimits } from '@politely/core/engine'
import { Fifo } from '@politely/fetcher/fifo'
import { isPromise } from './checked-pacer.ts'
import type { GateContext } from './gate-context.ts'
import type { PaceReason, Reservation, Ticket } from './pacer.ts'

/** What a request waits for: a concurrency limit, or a slot. For a slot, the pacer gives the reason. */
export type WaitReason = PaceReason | 'concurrency'

/** A slot that the pacer has reserved for a request. */
export type ReservedSlot = Extract<Reservation, { kind: 'slot' }>

/** What the queue needs from a request. `QueuedRequest` implements it. */
export interface WaitingRequest {
  /** The delays and visit times that the caller and the site ask for, as of the last check of robots.txt. */
  readonly limits: PaceLimits
  /** The request counts towards the concurrency limit of this registrable domain. */
  readonly domain: string
  /** Checks robots.txt again, without a fetch. `refused`: the request has rejected itself. `unknown`: a fetch is necessary. */
  recheckNow(): 'allowed' | 'refused' | 'unknown'
  /** Checks robots.txt again, and fetches it if necessary. Returns false if the request has rejected itself. */
  recheck(): Promise<boolean>
  /** Gives the request its permit. `heldBy` is what it waited for last, and `at` the current time of the gate's clock. */
  grant(slot: ReservedSlot, heldBy: WaitReason | undefined, at: number): void
  /** Rejects the request. */
  fail(error: unknown): void
}

/** A longer wait is split into several timers, because Node's timers overflow after 24.8 days. */
const MAX_TIMER_MS = 60 * 60 * 1000

/** The shortest wait before the next call of `reserve`. Without it, a pacer that replies with waits of 0 ms would block the event loop. */
const MIN_WAIT_MS = 1

export class RequestQueue {
  readonly key: string
  readonly context: GateContext
  /** In order of arrival. */
  readonly #waiting = new Fifo<WaitingRequest>()
  /** How many requests of this queue have acquired the concurrency limits and not released them. */
  #underWay = 0
  /** True while a request is at step 4 or 5, which may be asynchronous. Meanwhile `advance` does nothing. */
  #isAdmitting = false
  /** Whether the first request waits at step 3. */
  #waitsForConcurrency = false
  /** The queue does not call `reserve` before this time of the gate's clock. */
  #askPacerAt = 0
  /** Why the queue must wait until `#askPacerAt`. */
  #delayedBy: PaceReason = 'own-delay'
  /** What the first request waits for, or waited for last. Undefined if nothing has held it up. */
  #heldBy: WaitReason | undefined
  /** The ticket of the pacer's last `wait` reply. It belongs to the queue: if the first request is aborted, the next one uses it. */
  #ticket: Ticket | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(key: string, context: GateContext) {
    this.key = key
    this.context = context
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

  /**
   * Adds a request whose robots.txt has just been checked. If it can start at once and the pacer replies at once, it has its permit when this
   * returns.
   */
  add(request: WaitingRequest): void {
    this.#waiting.add(request)
    this.advance(request)
  }

  /** Removes a request that was aborted while it waited. */
  remove(request: WaitingRequest): void {
    const { first } = this.#waiting
    this.#waiting.delete(request)
    if (this.#waiting.size === 0) this.#handleEmpty()
    else if (first === request && this.#waitsForConcurrency) {
      // With `paceBy: 'address'` the next request may be to another domain, which has capacity.
      this.advance()
    }
  }

  /** Removes all requests, and rejects them. */
  clear(error: unknown): void {
    const requests = this.#waiting.drain()
    this.#handleEmpty()
    for (const request of requests) request.fail(error)
  }

  /**
   * Releases the concurrency limits that a request of this queue acquired. This queue is advanced last, since other queues may have waited
   * longer.
   */
  release(domain: string): void {
    this.#underWay--
    if (this.#waiting.size === 0) this.#handleEmpty()
    this.context.concurrency.release(domain)
    this.advance()
  }

  /** Cancels the slot of a request that will not start. The caller releases the concurrency limits afterwards. */
  cancelSlot({ ticket }: ReservedSlot): void {
    this.context.pacer.cancel(this.key, ticket)
    this.#askPacerAt = 0 // so that the next `advance`, when the limits are released, asks the pacer again
  }

  /**
   * Starts every request that may start now. If the first one has to wait, a timer, the concurrency limit or the end of an asynchronous
   * step calls `advance` again.
   * @param justChecked A request whose robots.txt has just been checked. It skips step 4.
   */
  advance(justChecked?: WaitingRequest): void {
    if (this.#isAdmitting) return
    this.#stopTimer()
    this.#waitsForConcurrency = false
    // A loop rather than recursion: thousands of requests may start, or be refused, one after the other.
    for (;;) {
      const { first } = this.#waiting
      if (first === undefined) break
      if (!this.#passesQueueLimits() || !this.#acquireConcurrency(first)) return // steps 1 to 3
      this.#isAdmitting = true
      const result = first === justChecked ? 'allowed' : first.recheckNow() // step 4
      // A subscriber of the check's diagnostics channel may have aborted the request.
      if (result === 'allowed' && this.#waiting.has(first)) {
        if (this.#reserveSlot(first) === 'pending') return // step 5
        continue
      }
      this.#abandonAdmission(first)
      if (result === 'unknown') {
        void this.#recheck(first)
        return
      }
      this.#waiting.delete(first)
    }
    this.#handleEmpty()
  }

  /** Steps 1 and 2. If it returns false, a timer or `release` calls `advance` later. */
  #passesQueueLimits(): boolean {
    const { now, pacing } = this.context
    if (this.#underWay >= pacing.maxConcurrentPerOrigin) {
      this.#heldBy = 'concurrency'
      return false
    }
    // A timer may fire early by the gate's clock, so the clock decides.
    const waitMs = this.#askPacerAt - now()
    if (waitMs <= 0) return true
    this.#heldBy = this.#delayedBy
    this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
    return false
  }

  /** Step 3. If it returns false, `ConcurrencyLimit` calls `advance` later. */
  #acquireConcurrency(first: WaitingRequest): boolean {
    if (this.context.concurrency.tryAcquire(this, first.domain)) {
      this.#underWay++
      return true
    }
    this.#heldBy = 'concurrency'
    this.#waitsForConcurrency = true
    return false
  }

  /** Ends step 4 or 5 of a request that does not start now: releases the concurrency limits of step 3. */
  #abandonAdmission(first: WaitingRequest): void {
    this.#underWay--
    this.context.concurrency.release(first.domain) // may advance other queues, but not this one: `#isAdmitting` is still true
    this.#isAdmitting = false
  }

  /** Step 4 with a fetch of robots.txt. Then the request starts over at step 1. It skips step 4, unless it has to wait again. */
  async #recheck(first: WaitingRequest): Promise<void> {
    this.#isAdmitting = true
    const isAllowed = await first.recheck()
    this.#isAdmitting = false
    if (!isAllowed) this.#waiting.delete(first)
    this.advance(isAllowed ? first : undefined)
  }

  /** Step 5. Returns `pending` if the pacer replies with a promise. Then `advance` is called when the promise settles. */
  #reserveSlot(first: WaitingRequest): 'done' | 'pending' {
    try {
      const reservation = this.context.pacer.reserve(this.key, first.limits, this.#ticket)
      if (isPromise(reservation)) {
        void this.#awaitReservation(first, reservation)
        return 'pending'
      }
      this.#applyReservation(first, reservation)
    } catch (error) {
      this.#handleFailure(first, error)
    }
    return 'done'
  }

  async #awaitReservation(first: WaitingRequest, reservation: Promise<Reservation>): Promise<void> {
    try {
      this.#applyReservation(first, await reservation)
    } catch (error) {
      this.#handleFailure(first, error)
    }
    this.advance()
  }

  #applyReservation(first: WaitingRequest, reservation: Reservation): void {
    const at = this.context.now()
    if (reservation.kind === 'wait') {
      this.#ticket = reservation.ticket
      this.#delayUntil(at + Math.max(reservation.waitMs, MIN_WAIT_MS), reservation.because)
      this.#abandonAdmission(first)
      return
    }
    this.#ticket = undefined
    if (!this.#waiting.delete(first)) {
      // The request was aborted while the pacer was replying.
      this.context.pacer.cancel(this.key, reservation.ticket)
      this.#abandonAdmission(first)
      return
    }
    this.#isAdmitting = false
    const heldBy = this.#heldBy
    this.#heldBy = undefined
    this.#delayUntil(at + reservation.delay.delayMs, reservation.delay.because)
    first.grant(reservation, heldBy, at)
  }

  #delayUntil(at: number, because: PaceReason): void {
    this.#askPacerAt = at
    this.#delayedBy = because
  }

  /** Handles a pacer or a clock that threw, and an invalid reply of the pacer. */
  #handleFailure(first: WaitingRequest, error: unknown): void {
    if (this.#waiting.delete(first)) first.fail(error)
    else this.context.pacer.failed(this.key, error) // the request was aborted while the pacer was replying
    this.#abandonAdmission(first)
  }

  /** To be called when no request waits. If none is under way either, the queue removes itself from the gate. */
  #handleEmpty(): void {
    this.#stopTimer()
    this.#heldBy = undefined
    if (this.#isAdmitting) return
    const { concurrency, pacer, queues } = this.context
    concurrency.forget(this)
    const ticket = this.#ticket
    this.#ticket = undefined
    if (ticket !== undefined) pacer.cancel(this.key, ticket)
    if (this.#underWay === 0 && queues.get(this.key) === this) queues.delete(this.key)
  }

  #stopTimer(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
