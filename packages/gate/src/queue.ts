// The queue of one pace key. Its requests start in the order in which they arrived.
//
// Only the first request is processed; the others wait behind it. The first request passes these steps:
//
//   1. The concurrency limit of this queue: fewer than `maxConcurrentPerOrigin` of its requests are under way.
//   2. The pace: the time for which the pacer last asked the queue to wait is over. The queue sets a timer for that time.
//   3. The concurrency limits that all queues share: in all, and for each registrable domain. The request acquires both.
//   4. robots.txt: it is checked again, since the rules may have changed while the request waited. If it has to be fetched,
//      the request releases the limits of step 3 for the time of the fetch, and then starts over at step 1. So a slow
//      robots.txt does not delay other sites.
//   5. A slot: the pacer reserves one, or asks the queue to wait, which leads back to step 1. With a slot, the request
//      leaves the queue and gets its permit.
//
// A slot is reserved last, so a request that is aborted while it waits does not use one up.
import type { PaceLimits } from '@politely/core/engine'
import { Fifo } from '@politely/fetcher/fifo'
import { isPromise } from './checked-pacer.ts'
import type { GateContext } from './gate-context.ts'
import type { PaceReason, Reservation, Ticket } from './pacer.ts'

/** What a request waits for: a delay, named by its reason, or a concurrency limit. */
export type WaitReason = PaceReason | 'concurrency'

/** A slot that the pacer has reserved for a request. */
export type ReservedSlot = Extract<Reservation, { kind: 'slot' }>

/** What the queue needs from a request. `QueuedRequest` implements it. */
export interface WaitingRequest {
  /** What the caller and the site ask for, by the last check of robots.txt. */
  readonly limits: PaceLimits
  /** The registrable domain whose concurrency limit it counts towards. */
  readonly domain: string
  /** Checks robots.txt again, without a fetch. `refused`: the request has been rejected. `unknown`: a fetch is necessary. */
  recheckNow(): 'allowed' | 'refused' | 'unknown'
  /** Fetches robots.txt if necessary, and checks it again. Returns false if the request has been rejected. */
  recheck(): Promise<boolean>
  /** Gives the request its permit. `at` is the present time of the gate's clock. */
  grant(slot: ReservedSlot, heldBy: WaitReason | undefined, at: number): void
  /** Rejects the request. */
  fail(error: unknown): void
}

/** A longer wait takes several timers of this length, since a timer of Node can wait for 24.8 days at most. */
const MAX_TIMER_MS = 60 * 60 * 1000

/** The shortest wait before the next call of `reserve`. A pacer may ask for a wait of 0, which must not block the event loop. */
const MIN_WAIT_MS = 1

export class RequestQueue {
  readonly key: string
  readonly context: GateContext
  /** In order of arrival. */
  readonly #waiting = new Fifo<WaitingRequest>()
  /** Requests of this queue that have acquired the concurrency limits and not released them. */
  #underWay = 0
  /** True while the first request is at step 4 or 5, which may be asynchronous. Meanwhile `advance` does nothing. */
  #isAdmitting = false
  /** Whether the first request waits at step 3. */
  #waitsForConcurrency = false
  /** Before this time of the gate's clock the queue does not call `reserve`. */
  #nextSlotAt = 0
  /** The reason for that. */
  #delayedBy: PaceReason = 'own-delay'
  /** What the first request waited for last. */
  #heldBy: WaitReason | undefined
  /** The pacer's ticket for the first request, if the pacer has asked it to wait. */
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

  /** Adds a request whose robots.txt has just been checked. If it can start at once, it has its permit when this returns. */
  add(request: WaitingRequest): void {
    this.#waiting.add(request)
    this.advance(request)
  }

  /** Removes a request that was aborted while it waited. */
  remove(request: WaitingRequest): void {
    const { first } = this.#waiting
    this.#waiting.delete(request)
    if (this.#waiting.size === 0) this.#handleEmpty()
    else if (first === request && this.#waitsForConcurrency) this.advance() // the next request may be to another domain
  }

  /** Removes all requests, and rejects them. */
  clear(error: unknown): void {
    const requests = this.#waiting.drain()
    this.#handleEmpty()
    for (const request of requests) request.fail(error)
  }

  /** Releases the concurrency limits that a request acquired. Its own queue is advanced last: other queues may have waited longer. */
  release(domain: string): void {
    this.#underWay--
    if (this.#waiting.size === 0) this.#handleEmpty()
    this.context.concurrency.release(domain)
    this.advance()
  }

  /** Gives a slot back to the pacer: its request does not start. The concurrency limits are released separately. */
  cancelSlot({ ticket }: ReservedSlot): void {
    this.context.pacer.cancel(this.key, ticket)
    this.#nextSlotAt = 0 // ask the pacer, which may have a slot now
  }

  /**
   * Starts every request that may start now. If one has to wait, arranges that this is called again.
   * @param checked A request whose robots.txt has just been checked. It skips step 4.
   */
  advance(checked?: WaitingRequest): void {
    if (this.#isAdmitting) return
    this.#stopTimer()
    this.#waitsForConcurrency = false
    // A loop, since thousands of requests may start, or be refused, one after the other.
    for (;;) {
      const { first } = this.#waiting
      if (first === undefined) break
      if (!this.#isPaceOpen() || !this.#acquireConcurrency(first)) return // steps 1 to 3
      this.#isAdmitting = true
      const result = first === checked ? 'allowed' : first.recheckNow() // step 4
      if (result === 'allowed' && this.#waiting.has(first)) {
        if (this.#reserveSlot(first) === 'pending') return // step 5
        continue
      }
      this.#endAdmission(first)
      if (result === 'unknown') {
        void this.#recheck(first)
        return
      }
      this.#waiting.delete(first)
    }
    this.#handleEmpty()
  }

  /** Steps 1 and 2. */
  #isPaceOpen(): boolean {
    const { now, pacing } = this.context
    if (this.#underWay >= pacing.maxConcurrentPerOrigin) {
      this.#heldBy = 'concurrency'
      return false
    }
    // A timer may fire a moment early, so the clock decides.
    const waitMs = this.#nextSlotAt - now()
    if (waitMs <= 0) return true
    this.#heldBy = this.#delayedBy
    this.#timer = setTimeout(() => this.advance(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
    return false
  }

  /** Step 3. If it returns false, the concurrency limit calls `advance` later. */
  #acquireConcurrency(first: WaitingRequest): boolean {
    if (this.context.concurrency.tryAcquire(this, first.domain)) {
      this.#underWay++
      return true
    }
    this.#heldBy = 'concurrency'
    this.#waitsForConcurrency = true
    return false
  }

  /** The first request does not start now. It releases what it acquired in step 3. */
  #endAdmission(first: WaitingRequest): void {
    this.#underWay--
    this.context.concurrency.release(first.domain) // other queues advance in this call; this one must not yet
    this.#isAdmitting = false
  }

  /** Step 4 with a fetch of robots.txt. Then the request starts over at step 1. */
  async #recheck(first: WaitingRequest): Promise<void> {
    this.#isAdmitting = true
    const isAllowed = await first.recheck()
    this.#isAdmitting = false
    if (!isAllowed) this.#waiting.delete(first)
    this.advance(isAllowed ? first : undefined)
  }

  /** Step 5. Returns `pending` if the pacer replies with a promise. */
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
      this.#endAdmission(first)
      return
    }
    this.#ticket = undefined
    if (!this.#waiting.delete(first)) {
      // The request was aborted while the pacer was replying.
      this.context.pacer.cancel(this.key, reservation.ticket)
      this.#endAdmission(first)
      return
    }
    this.#isAdmitting = false
    const heldBy = this.#heldBy
    this.#heldBy = undefined
    this.#delayUntil(at + reservation.delay.delayMs, reservation.delay.because)
    first.grant(reservation, heldBy, at)
  }

  #delayUntil(at: number, because: PaceReason): void {
    this.#nextSlotAt = at
    this.#delayedBy = because
  }

  /** The pacer or the clock threw, or the pacer's reply is invalid. */
  #handleFailure(first: WaitingRequest, error: unknown): void {
    if (this.#waiting.delete(first)) first.fail(error)
    else this.context.pacer.failed(this.key, error) // the request was aborted while the pacer was replying
    this.#endAdmission(first)
  }

  /** No request waits. If none is under way either, the queue removes itself from the gate. */
  #handleEmpty(): void {
    this.#stopTimer()
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
