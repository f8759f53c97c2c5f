// The queue of one pace key. Its requests start in the order in which they arrived.
//
// Only the first request is processed; the others wait behind it. The first request passes these
// steps:
//
//   1. The concurrency limit of this queue. A request counts towards it from step 3 until the
//      request releases the limits. The first request passes if fewer than `maxConcurrentPerKey`
//      requests of this queue count.
//   2. The pace. A slot is a moment at which one request may start. The queue sets a timer for the
//      time at which it asks the pacer for the next slot. The pacer's last reply (step 5)
//      determines this time. After a `wait`, it is the end of that wait. After a slot, it is the
//      end of the delay that follows the slot.
//   3. The limits that several queues share: those of the request's domain and address
//      (`SharedLimit`), and the concurrency limits for all requests, for each site and for each
//      platform (`ConcurrencyLimit`). A `SharedLimit` may also have a delay, which must be over. If
//      all limits admit the request, it acquires them, and the limit of step 1.
//   4. robots.txt: it is checked again, since the rules may have changed while the request waited.
//      If it has to be fetched, the request first releases the limits, so that a slow robots.txt
//      does not delay other sites. After the fetch the request starts over at step 1.
//   5. A slot: the pacer reserves one for this queue, and one for each `SharedLimit` that has a
//      delay. Then the request leaves the queue with its permit. Or the pacer replies with a
//      `wait`, or a slot expires before the last one is reserved. Then the request releases the
//      limits and starts over at step 1.
//
// Slots are reserved last, so a request that is aborted while it waits does not waste one. A
// request that waits holds nothing, so two limits cannot block each other.
import { Fifo } from '@politely/fetcher/internal'
import { isPromise } from '../pace/is-promise.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { WaitingQueue } from './concurrency-limit.ts'
import { estimateWait, type WaitForecast } from './estimate.ts'
import type { GateContext } from './gate-context.ts'
import type { Grant, GrantedPermit } from './granted-permit.ts'
import { withJitter } from './jitter.ts'
import { NO_KEYS, type SharedKey } from './pace-by.ts'
import { cancelIfExpired, cancelSlots, type KeySlot, PacedKey, type PacedLevel, reserveSlots } from './paced-key.ts'
import type { QueuedRequest } from './queued-request.ts'
import type { SharedLimit } from './shared-limit.ts'

const NONE: readonly SharedLimit[] = []

export class RequestQueue implements WaitingQueue {
  readonly key: string
  readonly #context: GateContext
  /** In order of arrival. */
  readonly #waiting = new Fifo<QueuedRequest>()
  /**
   * True while a request is at step 3, 4 or 5. The last two may be asynchronous. Meanwhile
   * `advance` does nothing.
   */
  #isAdmitting = false
  /** True while the pacer has not replied to the first request's `reserve`. */
  #isReserving = false
  #sharedKeys: readonly SharedKey[] = NO_KEYS
  /**
   * The limits of these keys: of the domain and the address of the first request. At step 4 and 5
   * it has acquired them.
   */
  #sharedLimits: readonly SharedLimit[] = NONE
  readonly #pacedKey: PacedKey
  readonly #onEmpty: (queue: RequestQueue) => void
  /** What the first request waits for, or waited for last. Undefined if nothing has held it up. */
  #heldBy: WaitCause | undefined

  /** @param onEmpty Called when no request of the queue waits or is under way. */
  constructor(key: string, context: GateContext, onEmpty: (queue: RequestQueue) => void) {
    this.key = key
    this.#context = context
    this.#onEmpty = onEmpty
    const { paceBy, maxConcurrentPerKey } = context.pacing
    this.#pacedKey = new PacedKey(paceBy, key, maxConcurrentPerKey, context, this)
  }

  get isFirstOfDomain(): boolean {
    return this.#sharedLimits.some((limit) => limit.pacedKey.level === 'domain' && limit.isFirstInLine(this))
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** When the first of them arrived, by the gate's clock. */
  get waitingSince(): number | undefined {
    return this.#waiting.first?.arrivedAt
  }

  /** How many of them the pacer does not know yet. It may have reserved a slot for the first one. */
  get withoutSlot(): number {
    return this.#isReserving && this.waiting > 0 ? this.waiting - 1 : this.waiting
  }

  get underWay(): number {
    return this.#pacedKey.underWay
  }

  get delayLeftMs(): number {
    return this.#pacedKey.delayLeftMs
  }

  get heldBy(): WaitCause | undefined {
    return this.#waiting.size === 0 ? undefined : this.#heldBy
  }

  /**
   * Adds a request whose robots.txt has just been checked. Returns the permit if the request can
   * start at once and the pacer replies at once. Otherwise returns a promise of the permit.
   */
  add(request: QueuedRequest): GrantedPermit | Promise<GrantedPermit> {
    const ahead = this.waiting
    const forecast = this.#refuseOrEstimate(request, ahead)
    const refusal = request.result()
    if (refusal !== undefined) {
      if (ahead === 0) this.#handleEmpty()
      return refusal
    }
    this.#waiting.add(request)
    this.advance(request)
    if (forecast !== undefined) void this.#refuseLater(request, forecast)
    const result = request.result()
    if (result !== undefined) return result
    const permit = request.wait(ahead, this)
    this.#logWait(request, ahead)
    return permit
  }

  /**
   * Rejects a request for which the queue is too long. Returns a promise of the estimated wait if
   * the request has a `maxWaitMs` and the pacer replies later.
   */
  #refuseOrEstimate(request: QueuedRequest, ahead: number): PromiseLike<WaitForecast> | undefined {
    const { maxQueuedPerKey } = this.#context.pacing
    if (request.failIfOverBudget()) return undefined
    if (ahead >= maxQueuedPerKey) request.failQueueFull(ahead)
    else if (request.maxWaitMs < Number.POSITIVE_INFINITY) {
      try {
        const forecast = estimateWait(this.#context, request.keys, request.limits, this)
        if (isPromise(forecast)) return forecast
        request.failIfTooLong(forecast)
      } catch (error) {
        request.fail(error)
      }
    }
    return undefined
  }

  /** Rejects the request if it would have to wait too long, unless it has started meanwhile. */
  async #refuseLater(request: QueuedRequest, pendingForecast: PromiseLike<WaitForecast>): Promise<void> {
    let hasFailed: boolean
    try {
      hasFailed = request.failIfTooLong(await pendingForecast)
    } catch (error) {
      request.fail(error)
      hasFailed = true
    }
    if (hasFailed && this.#waiting.has(request)) this.remove(request)
  }

  /** Removes a request that was aborted while it waited. */
  remove(request: QueuedRequest): void {
    const { first } = this.#waiting
    this.#waiting.delete(request)
    if (this.#waiting.size === 0) this.#handleEmpty()
    else if (first === request && !this.#pacedKey.hasTimer) {
      // The next request may be to another domain or address, which has capacity.
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
   * Releases the limits that a request of this queue acquired. This queue is advanced last, since
   * other queues may have waited longer.
   */
  release(grant: Grant): void {
    this.#pacedKey.underWay--
    if (this.#waiting.size === 0) this.#handleEmpty()
    for (const limit of grant.sharedLimits) limit.release()
    this.#context.concurrency.end(grant)
    this.advance()
  }

  /**
   * Starts every request that may start now. If the first one has to wait, `advance` is called
   * again later: by a timer, by `SharedLimit`, by `ConcurrencyLimit`, by `release`, or after an
   * asynchronous step.
   * @param justChecked A request whose robots.txt has just been checked. It skips step 4.
   * @returns What the first request waits for at step 3. Undefined if it does not wait there.
   */
  advance(justChecked?: QueuedRequest): WaitCause | undefined {
    if (this.#isAdmitting) return undefined
    this.#pacedKey.stopTimer()
    // A loop rather than recursion: thousands of requests may start, or be refused, one after the
    // other.
    for (;;) {
      const { first } = this.#waiting
      if (first === undefined) break
      this.#pacedKey.maxConcurrent = first.keys.pacing.maxConcurrentPerKey
      const waitCause = this.#pacedKey.startWait() // steps 1 and 2
      if (waitCause !== undefined) {
        this.#heldBy = waitCause
        for (const limit of this.#sharedLimits) limit.leaveLine(this)
        this.#logWait(first, 0)
        return undefined
      }
      if (!this.#acquireSharedLimits(first)) {
        this.#logWait(first, 0)
        return this.#heldBy // step 3
      }
      const result = first === justChecked ? 'allowed' : first.recheckNow() // step 4
      // A subscriber of the check's diagnostics channel may have aborted the request.
      if (result === 'allowed' && this.#waiting.has(first)) {
        if (this.#reserveSlots(first) === 'pending') return undefined // step 5
        continue
      }
      this.#abandonAdmission(first)
      if (result === 'unknown') {
        void this.#recheck(first)
        return undefined
      }
      this.#waiting.delete(first)
    }
    this.#handleEmpty()
    return undefined
  }

  /** Logs what a request waits for, if the wait is long. */
  #logWait(request: QueuedRequest, ahead: number): void {
    const { log } = this.#context
    const cause = this.heldBy
    if (!log.tellsWaits || cause === undefined || cause.because === 'concurrency') return
    let waitMs = this.#pacedKey.expectedWaitMs(ahead)
    for (const limit of this.#sharedLimits) waitMs = Math.max(waitMs, limit.expectedWaitMs)
    const { url, maxWaitMs } = request
    log.waits({ key: this.key, url, cause, waitMs, ahead, maxWaitMs })
  }

  /** Step 3. If it returns false, the limit that has no capacity calls `advance` later. */
  #acquireSharedLimits(first: QueuedRequest): boolean {
    const { concurrency } = this.#context
    this.#isAdmitting = true // the limits may advance other queues, but not this one
    this.#useSharedLimits(first.keys.shared)
    // First, every limit advances the queues that wait before this one. Such a queue may acquire
    // the capacity of several limits. So the lines are joined only after that.
    for (const limit of this.#sharedLimits) limit.advance(this)
    let waitCause: WaitCause | undefined
    for (const limit of this.#sharedLimits) waitCause ??= limit.joinLineUnlessFree(this)
    if (waitCause === undefined && !concurrency.tryAcquire(this, first.keys.site))
      waitCause = { because: 'concurrency', level: concurrency.fullLevel(first.keys.site) ?? 'gate' }
    if (waitCause !== undefined) {
      this.#heldBy = waitCause
      this.#isAdmitting = false
      return false
    }
    for (const limit of this.#sharedLimits) limit.acquire(this)
    this.#pacedKey.underWay++
    return true
  }

  /** Attaches the queue to the limits of these keys, and detaches it from all others. */
  #useSharedLimits(keys: readonly SharedKey[]): void {
    if (keys === this.#sharedKeys) return
    const before = this.#sharedLimits
    this.#sharedKeys = keys
    this.#sharedLimits = keys.map((key) => this.#context.sharedLimits.of(key))
    for (const limit of this.#sharedLimits) limit.attach(this)
    for (const limit of before) if (!this.#sharedLimits.includes(limit)) limit.detach(this)
  }

  /**
   * Ends step 4 or 5 of a request that does not start now: releases the limits of step 3.
   * @param keepsPosition Whether the queue goes back to the front of the lines of its shared
   * limits.
   */
  #abandonAdmission(first: QueuedRequest, keepsPosition = false): void {
    this.#pacedKey.underWay--
    // May advance other queues, but not this one: `#isAdmitting` is still true.
    for (const limit of this.#sharedLimits) limit.abandon(this, keepsPosition)
    this.#context.concurrency.release(first.keys.site)
    this.#isAdmitting = false
  }

  /**
   * Step 4 with a fetch of robots.txt. Then the request starts over at step 1. It skips step 4,
   * unless it has to wait again.
   */
  async #recheck(first: QueuedRequest): Promise<void> {
    this.#isAdmitting = true
    const isAllowed = await first.recheck()
    this.#isAdmitting = false
    if (!isAllowed) this.#waiting.delete(first)
    this.advance(isAllowed ? first : undefined)
  }

  /**
   * Step 5. Returns `pending` if the pacer replies with a promise. Then `advance` is called when
   * the promise settles.
   */
  #reserveSlots(first: QueuedRequest): 'done' | 'pending' {
    const { jitter } = first.keys.pacing
    const shared: readonly PacedLevel[] = this.#sharedLimits.filter(({ hasDelay }) => hasDelay)
    const levels = [...shared, { pacedKey: this.#pacedKey, limits: first.limits }]
    try {
      const slots = reserveSlots(jitter === 0 ? levels : levels.map((level) => withJitter(level, jitter)))
      if (isPromise(slots)) {
        this.#isReserving = true
        void this.#awaitSlots(first, slots)
        return 'pending'
      }
      this.#useSlots(first, slots)
    } catch (error) {
      this.#handleFailure(first, error)
    }
    return 'done'
  }

  async #awaitSlots(first: QueuedRequest, slots: Promise<readonly KeySlot[] | undefined>): Promise<void> {
    try {
      const reserved = await slots
      this.#isReserving = false
      this.#useSlots(first, reserved)
    } catch (error) {
      this.#isReserving = false
      this.#handleFailure(first, error)
    }
    this.advance()
  }

  /** Starts the request, or makes it wait. @param slots Undefined if a level has none. */
  #useSlots(first: QueuedRequest, slots: readonly KeySlot[] | undefined): void {
    let at: number
    try {
      at = this.#context.now()
    } catch (error) {
      cancelSlots(slots ?? [])
      throw error
    }
    if (slots === undefined || cancelIfExpired(slots, at)) {
      this.#abandonAdmission(first, true)
      return
    }
    if (!this.#waiting.delete(first)) {
      // The request was aborted while the pacer was replying.
      cancelSlots(slots)
      this.#abandonAdmission(first)
      return
    }
    const heldBy = this.#heldBy
    this.#heldBy = undefined
    for (const slot of slots) slot.pacedKey.use(slot, at)
    const sharedLimits = this.#sharedLimits
    for (const limit of sharedLimits) limit.start()
    this.#isAdmitting = false
    const grant: Grant = { site: first.keys.site, startedAt: at, slots, sharedLimits, queue: this }
    this.#context.concurrency.start(grant)
    first.grant(grant, heldBy, at)
    if (this.#context.budgets?.take(this.key)) this.#refuseOverBudget()
  }

  /** Rejects all requests that wait: the last request that the budget allows has started. */
  #refuseOverBudget(): void {
    for (const request of this.#waiting.drain()) request.failIfOverBudget()
  }

  /** Handles a pacer or a clock that threw, and an invalid reply of the pacer. */
  #handleFailure(first: QueuedRequest, error: unknown): void {
    if (this.#waiting.delete(first)) first.fail(error)
    else this.#context.pacer.failed(this.key, error) // the request was aborted while the pacer was replying
    this.#abandonAdmission(first)
  }

  /**
   * To be called when no request waits. If none is under way either, the queue removes itself from
   * the gate.
   */
  #handleEmpty(): void {
    this.#pacedKey.stopTimer()
    this.#heldBy = undefined
    if (this.#isAdmitting) return
    this.#context.concurrency.forget(this)
    this.#useSharedLimits(NO_KEYS)
    this.#pacedKey.leavePacerQueue() // the position in the pacer's own queue
    if (this.underWay === 0) this.#onEmpty(this)
  }
}
