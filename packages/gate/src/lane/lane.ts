// The lane of one pace key. Its requests wait in a line, and start in order of arrival.
//
// Only the first request of the line moves; the others wait behind it. It takes these steps:
//
//   1. The concurrency limit of the lane. The first request passes if fewer than
//      `maxConcurrentPerKey` requests are under way. A request counts from step 3 until it releases
//      its limits. A pacer that counts the requests of all processes does so in step 6 instead.
//   2. The pace. A slot is a moment when one request may start. A timer says when to ask the pacer
//      for the next slot. The pacer's last reply (step 5) sets it: to the end of a `wait`, or to
//      the end of the delay after a slot.
//   3. The limits that several lanes share. A domain or an address has a `SharedLimit`, perhaps
//      with a delay, which must be over. The `ConcurrencyLimit` bounds all requests, each site and
//      each platform. If all of them admit the request, it acquires them, and the limit of step 1.
//   4. robots.txt again, since the rules may have changed meanwhile. If it has to be fetched, the
//      request first releases its limits, so that a slow robots.txt delays no other site. After the
//      fetch, the request starts over at step 1.
//   5. The circuit of its origin. If it is open, the request leaves the line, and rests until it
//      closes (`RestingLine`). So it delays no other origin of this lane.
//   6. A slot: the pacer reserves one for this lane, and one for each `SharedLimit` with a delay.
//      Then the request leaves the line with its permit. If the pacer replies with a `wait`
//      instead, or a slot expires before the last slot is reserved, the request releases its limits
//      and starts over at step 1.
//
// Slots come last, so an aborted request wastes none. A waiting request holds nothing, so two
// limits can't block each other.
//
// An outer request waits outside of the gate, in an outer queue. If it can't start now, it leaves the
// line with the time to wait: the pacer's `wait` says it, without a call of `estimate`. As long
// as an outer queue is attached, the lane keeps the ticket of that `wait`, and what it knows of the
// pace, so that no outer request needs a call until then. When the last outer queue has left, the lane
// leaves the pacer's own queue.
//
// Most requests find an empty line and nothing in their way. `#startNow` handles them in one step,
// without an object for the wait.

import { isPromise } from '@politely/core/internal'
import { LinkedList, type Site } from '@politely/fetcher/internal'
import type { EnterCall } from '../options/enter-arguments.ts'
import type { Admission, LeaseTerms, Ticket } from '../pace/pacer.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { LoggedWait } from '../report/gate-log.ts'
import type { AllowedCheck } from '../robots/allowed-check.ts'
import type { WaitingLane } from './concurrency-limit.ts'
import { estimateWait, fullLevel, type WaitForecast } from './estimate.ts'
import type { GateContext } from './gate-context.ts'
import { Grant } from './grant.ts'
import { GrantedPermit } from './granted-permit.ts'
import { withJitter } from './jitter.ts'
import { cancelIfExpired, cancelSlots, type KeySlot, PacedKey, type PacedLevel, reserveSlots } from './paced-key.ts'
import type { Route, RoutedLane } from './route.ts'
import { NO_KEYS, type SharedKey, type SharedLimit } from './shared-limit.ts'
import { type LaneReply, WaitingRequest } from './waiting-request.ts'

const NO_LIMITS: readonly SharedLimit[] = []
/** Of how many requests under way the pacer is asked whether they have ended elsewhere. Our choice. */
const MAX_OPEN = 100
const RESTING: WaitCause = { because: 'circuit', level: 'origin' }
/** How long an outer request waits for the result of a probe, if the keeper of the circuit does not say. */
const PROBE_MS = 1_000

export class Lane extends PacedKey implements WaitingLane, RoutedLane {
  /** How many routes lead here. `Routes` counts them. */
  routes = 0
  /**
   * Whether the gate saw when the last request of this lane was sent. Some HTTP clients do not show
   * it. True before the first request.
   */
  isSendingSeen = true
  waitsForSite: Site | undefined = undefined
  /** What was logged last about the waits of this lane, and when. `GateLog` sets it. */
  lastLoggedWait: LoggedWait | undefined
  readonly #context: GateContext
  readonly #onIdle: (lane: Lane) => void
  readonly #line = new LinkedList<WaitingRequest>()
  /**
   * True while a request is at step 3 to 6. Steps 4 to 6 may be asynchronous. Meanwhile
   * `advance` does nothing.
   */
  #isAdmitting = false
  /** True while the pacer has not replied to the first request's `reserve`. */
  #isReserving = false
  /** How many requests rest, because the circuit of their origin is open. */
  #resting = 0
  /** How many outer queues have requests for this lane. */
  #outer = 0
  #sharedKeys: readonly SharedKey[] = NO_KEYS
  /**
   * The limits of these keys: of the domain and the address of the first request. From step 4 on
   * it has acquired them.
   */
  #sharedLimits: readonly SharedLimit[] = NO_LIMITS
  /** By the tickets of their slots: the requests under way, if the pacer counts them. */
  #open: Map<Ticket, Grant> | undefined
  /** What the first request waits for, or waited for last. Undefined if nothing has held it up. */
  #heldBy: WaitCause | undefined

  /** @param onIdle Called when none of its requests waits or is under way. */
  constructor(key: string, context: GateContext, onIdle: (lane: Lane) => void) {
    super(context.pacing.paceBy, key, context)
    this.#onIdle = onIdle
    this.#context = context
  }

  get isFirstOfDomain(): boolean {
    return this.#sharedLimits.some((limit) => limit.level === 'domain' && limit.isFirstInLine(this))
  }

  /** Whether none of its requests waits or is under way. */
  get isIdle(): boolean {
    return this.waiting === 0 && this.underWay === 0 && this.#outer === 0 && !this.#isAdmitting
  }

  get waiting(): number {
    return this.#line.size + this.#resting
  }

  /** Its waiting requests, apart from the requests that wait for an open circuit. */
  get requests(): Iterable<WaitingRequest> {
    return this.#line
  }

  get isResting(): boolean {
    return this.#resting > 0
  }

  /** When the first of them arrived, by the gate's clock. */
  get waitingSince(): number | undefined {
    return this.#line.first?.arrivedAt
  }

  /** How many of them the pacer does not know yet. It may have reserved a slot for the first request. */
  get withoutSlot(): number {
    return this.#isReserving && this.waiting > 0 ? this.waiting - 1 : this.waiting
  }

  get isFull(): boolean {
    return this.isFullFor(this.#line.first?.route.pacing.maxConcurrentPerKey ?? Number.POSITIVE_INFINITY)
  }

  /** Whether so many requests of this lane are under way. A pacer that counts them says it itself. */
  isFullFor(maxConcurrent: number): boolean {
    return this.underWay >= maxConcurrent && !this.#context.pacer.countsUnderWay
  }

  get heldBy(): WaitCause | undefined {
    if (this.#line.size === 0) return this.#resting > 0 ? RESTING : undefined
    return this.#heldBy
  }

  /**
   * Adds a request whose robots.txt has just been checked. Returns the permit if the request can
   * start at once and the pacer replies at once. Otherwise returns a promise of the permit.
   */
  add(route: Route, check: AllowedCheck, call: EnterCall): GrantedPermit | Promise<GrantedPermit> {
    return this.tryAdd(route, check, call) as GrantedPermit | Promise<GrantedPermit> // it is no outer request
  }

  /** Like `add`, for an outer request: returns how long it has to wait if it can't start now. */
  tryAdd(route: Route, check: AllowedCheck, call: EnterCall): LaneReply | Promise<LaneReply> {
    const permit = this.#startNow(route, check, call)
    if (permit !== undefined) return permit
    const request = new WaitingRequest(this.#context, route, check, call)
    const ahead = this.waiting
    const forecast = this.#refuseOrEstimate(request, ahead)
    const refusal = request.result()
    if (refusal !== undefined) {
      if (ahead === 0) this.#handleEmpty()
      return refusal
    }
    this.#line.add(request)
    this.advance(request)
    if (forecast !== undefined) void this.#refuseLater(request, forecast)
    const result = request.result()
    if (result !== undefined) return result
    if (call.isOuter && this.#line.first !== request) this.#tell(request, ahead)
    const promise = request.result() ?? request.wait(ahead, this)
    if (!call.isOuter) this.#logWait(request, ahead)
    return promise
  }

  /** An outer queue has requests for this lane, until `detach`. */
  attach(): void {
    this.#outer++
  }

  detach(): void {
    this.#outer--
    if (this.#line.size === 0) this.#handleEmpty()
  }

  /** The site has asked for fewer requests: what outer queues know of the pace is outdated. */
  slowedDown(): void {
    if (this.#outer > 0) this.reset()
  }

  /** What a request has to wait for, as far as is known without a call of the pacer. */
  knownWait(route: Route, origin: string): WaitForecast | undefined {
    const ahead = this.waiting
    const { state, waitMs } = this.#context.circuits.reportOf(origin)
    if (state !== 'closed' && waitMs > 0) return { ...RESTING, waitMs, ahead }
    const wait = this.#waitBehind(ahead, route)
    return wait.waitMs > 0 || fullLevel(this.#context, route) !== undefined ? wait : undefined
  }

  /**
   * Estimates how long a request will wait for delays, without a call of the pacer.
   * @param ahead How many wait before it, outside of the gate.
   */
  override expectedWaitMs(ahead: number): number {
    let waitMs = super.expectedWaitMs(ahead)
    for (const limit of this.#sharedLimits) waitMs = Math.max(waitMs, limit.lineWaitMs)
    return waitMs
  }

  /**
   * Starts a request that nothing holds up, unless one of its options needs the long way: see
   * options/option-table.ts. Returns undefined for any other request.
   */
  #startNow(route: Route, check: AllowedCheck, call: EnterCall): GrantedPermit | undefined {
    const { concurrency, circuits, pacer } = this.#context
    if (route.pacing.needsLongWay || pacer.countsUnderWay || this.#line.size > 0 || this.#isAdmitting) return undefined
    if (!circuits.isClear(check.origin) || this.underWay >= route.pacing.maxConcurrentPerKey) return undefined
    const at = this.#context.now()
    const limits = route.limitsFor(check)
    if (!this.isFree(at) || concurrency.fullLevel(route.site) !== undefined) return undefined
    let slot: ReturnType<PacedKey['reserve']>
    try {
      slot = this.reserve(limits, 0, this.#seesSending(call), call.allowanceMs)
    } catch {
      return undefined // the same call in `advance` rejects the request with the error
    }
    if (slot === undefined || isPromise(slot)) return undefined // a local pacer makes no promise
    this.underWay++
    concurrency.acquire(route.site)
    this.use(slot, at)
    const grant = new Grant(this, route.site, at, [slot])
    concurrency.start(grant)
    return new GrantedPermit(this.#context, grant, check, call, 0, undefined, route.pacing.circuit)
  }

  /**
   * Rejects a request for which the line is too long. Returns a promise of the estimated wait if
   * the request has a `maxWaitMs` and the pacer replies later.
   */
  #refuseOrEstimate(request: WaitingRequest, ahead: number): PromiseLike<WaitForecast> | undefined {
    const { maxQueuedPerKey } = this.#context.pacing
    if (request.failIfOverBudget() || request.failIfCircuitOpen()) return undefined
    if (request.call.isOuter) return undefined
    if (ahead >= maxQueuedPerKey) request.failQueueFull(ahead)
    else if (request.maxWaitMs < Number.POSITIVE_INFINITY) {
      try {
        const forecast = estimateWait(this.#context, request.route, request.limits)
        if (isPromise(forecast)) return forecast
        request.failIfTooLong(forecast)
      } catch (error) {
        request.fail(error)
      }
    }
    return undefined
  }

  /** Rejects the request if it would have to wait too long, unless it has started meanwhile. */
  async #refuseLater(request: WaitingRequest, pendingForecast: PromiseLike<WaitForecast>): Promise<void> {
    let hasFailed: boolean
    try {
      hasFailed = request.failIfTooLong(await pendingForecast)
    } catch (error) {
      request.fail(error)
      hasFailed = true
    }
    if (hasFailed && this.#line.has(request)) this.remove(request)
  }

  /** Removes a request that was aborted while it waited. */
  remove(request: WaitingRequest): void {
    const { first } = this.#line
    this.#line.delete(request)
    if (this.#line.size === 0) this.#handleEmpty()
    else if (first === request && !this.hasTimer) {
      // The next request may be to another domain or address, which has capacity.
      this.advance()
    }
  }

  /** Removes all requests, and rejects them. */
  clear(error: unknown): void {
    const requests = [...this.#line]
    for (const request of requests) this.#line.delete(request)
    this.#handleEmpty()
    for (const request of requests) request.fail(error)
  }

  /** A request of this lane rests: see `RestingLine`. */
  rests(): void {
    this.#resting++
  }

  resume(request: WaitingRequest, to: 'first' | 'in-order' | 'gone'): void {
    this.#resting--
    if (to === 'first') this.#line.addFirst(request)
    else if (to === 'in-order') this.#addByArrival(request)
    else if (this.#line.size === 0) this.#handleEmpty()
  }

  #addByArrival(request: WaitingRequest): void {
    let before = this.#line.last
    while (before !== undefined && before.arrivedAt > request.arrivedAt) before = before.before
    if (before === undefined) this.#line.addFirst(request)
    else this.#line.addAfter(request, before)
  }

  /**
   * Releases the limits that a request of this lane acquired. This lane is advanced last, since
   * other lanes may have waited longer.
   */
  release(grant: Grant): void {
    this.underWay--
    this.#open?.delete(grant.slot.ticket)
    this.stopWaitingForEnd()
    if (this.#line.size === 0) this.#handleEmpty()
    for (const limit of grant.sharedLimits) limit.release()
    this.#context.concurrency.end(grant)
    this.advance()
  }

  /**
   * Starts every request that may start now. If the first request has to wait, `advance` is called
   * again later: by a timer, by `SharedLimit`, by `ConcurrencyLimit`, by `release`, or after an
   * asynchronous step.
   * @param justChecked A request whose robots.txt has just been checked. It skips step 4.
   * @returns What the first request waits for at step 3. Undefined if it does not wait there.
   */
  override advance(justChecked?: WaitingRequest): WaitCause | undefined {
    if (this.#isAdmitting) return undefined
    this.stopTimer()
    // A loop, not recursion: thousands of requests may start, or be refused, one after another.
    for (;;) {
      const { first } = this.#line
      if (first === undefined) break
      const waitCause = this.startWait() // steps 1 and 2
      if (waitCause !== undefined) {
        this.#heldBy = waitCause
        for (const limit of this.#sharedLimits) limit.leaveLine(this)
        if (this.#tellIfOuter(first)) continue
        this.#logWait(first, 0)
        return undefined
      }
      if (!this.#acquireSharedLimits(first)) {
        if (this.#tellIfOuter(first)) continue
        this.#logWait(first, 0)
        return this.#heldBy // step 3
      }
      const result = first === justChecked ? 'allowed' : first.recheckNow() // step 4
      // A subscriber of the check's diagnostics channel may have aborted the request.
      if (result === 'allowed' && this.#line.has(first)) {
        const admission = this.#admit(first) // step 5
        if (isPromise(admission)) {
          void this.#awaitAdmission(first, admission)
          return undefined
        }
        if (this.#passesCircuit(first, admission) && this.#reserveSlots(first) === 'pending') return undefined // step 6
        continue
      }
      this.#abandonAdmission(first)
      if (result === 'unknown') {
        void this.#recheck(first)
        return undefined
      }
      this.#line.delete(first)
    }
    this.#handleEmpty()
    return undefined
  }

  /** The first request has to wait. Returns whether it is an outer request, which leaves the line. */
  #tellIfOuter(first: WaitingRequest): boolean {
    if (first.call.isOuter) this.#tell(first, 0)
    return first.call.isOuter
  }

  #tell(outer: WaitingRequest, ahead: number): void {
    this.#line.delete(outer)
    const wait = this.#waitBehind(ahead, outer.route)
    // Other origins of this lane may have other visit times, or none.
    if (wait.because === 'visit-time') this.reset()
    // It asks again soon, also while another request is at step 4 to 6.
    outer.reply(wait.because === 'concurrency' ? wait : { ...wait, waitMs: Math.max(wait.waitMs, 1) })
  }

  #waitBehind(ahead: number, route: Route): WaitForecast {
    const full = fullLevel(this.#context, route)
    let waitMs = super.expectedWaitMs(ahead)
    let { delayCause } = this as PacedKey
    // The first request of the lane may be to another domain.
    for (const { key } of route.shared) {
      const limit = this.#context.sharedLimits.get(key)
      if (limit === undefined || limit.lineWaitMs <= waitMs) continue
      waitMs = limit.lineWaitMs
      delayCause = limit.delayCause
    }
    // A limit that is reached matters only when the delay is over.
    const cause: WaitCause = waitMs > 0 || full === undefined ? delayCause : { because: 'concurrency', level: full }
    return { ...cause, waitMs, ahead }
  }

  /** Logs what a request waits for, if the wait is long. */
  #logWait({ url, maxWaitMs }: WaitingRequest, ahead: number): void {
    const { log } = this.#context
    const cause = this.heldBy
    if (!log.tellsWaits || cause === undefined || cause.because === 'concurrency') return
    const waitMs = this.expectedWaitMs(ahead)
    log.waits(this, { url, cause, waitMs, ahead, maxWaitMs })
  }

  /** Step 3. If it returns false, the limit that has no capacity calls `advance` later. */
  #acquireSharedLimits(first: WaitingRequest): boolean {
    const { concurrency } = this.#context
    const { site, shared } = first.route
    this.#isAdmitting = true // the limits may advance other lanes, but not this one
    this.#useSharedLimits(shared)
    // First, every limit advances the lanes that wait before this one. Such a lane may acquire the
    // capacity of several limits. So the lines are joined only after that.
    for (const limit of this.#sharedLimits) limit.advance(this)
    let waitCause: WaitCause | undefined
    for (const limit of this.#sharedLimits) waitCause ??= limit.joinLineUnlessFree(this)
    waitCause ??= concurrency.acquireOrWait(this, site)
    if (waitCause !== undefined) {
      this.#heldBy = waitCause
      this.#isAdmitting = false
      return false
    }
    for (const limit of this.#sharedLimits) limit.acquire(this)
    this.underWay++
    return true
  }

  /** Attaches the lane to the limits of these keys, and detaches it from all others. */
  #useSharedLimits(keys: readonly SharedKey[]): void {
    if (keys === this.#sharedKeys) return
    const before = this.#sharedLimits
    this.#sharedKeys = keys
    this.#sharedLimits = keys.map((key) => this.#context.sharedLimits.of(key))
    for (const limit of this.#sharedLimits) limit.attach(this)
    for (const limit of before) if (!this.#sharedLimits.includes(limit)) limit.detach(this)
  }

  /**
   * Ends step 4, 5 or 6 of a request that does not start now: releases the limits of step 3.
   * @param keepsPosition Whether the lane goes back to the front of the lines of its shared
   * limits.
   */
  #abandonAdmission(first: WaitingRequest, keepsPosition = false): void {
    this.underWay--
    // May advance other lanes, but not this one: `#isAdmitting` is still true.
    for (const limit of this.#sharedLimits) limit.abandon(this, keepsPosition)
    this.#context.concurrency.release(first.route.site)
    this.#isAdmitting = false
  }

  /**
   * Step 4 with a fetch of robots.txt. Then the request starts over at step 1. It skips step 4,
   * unless it has to wait again.
   */
  async #recheck(first: WaitingRequest): Promise<void> {
    this.#isAdmitting = true
    const isAllowed = await first.recheck()
    this.#isAdmitting = false
    if (!isAllowed) this.#line.delete(first)
    this.advance(isAllowed ? first : undefined)
  }

  /** Step 5. Returns undefined if there is nothing to ask. */
  #admit(first: WaitingRequest): Admission | undefined | Promise<Admission | undefined> {
    const { circuit } = first.route.pacing
    return circuit && this.#context.circuits.admit(first.check.origin, circuit, this.key)
  }

  async #awaitAdmission(first: WaitingRequest, pending: Promise<Admission | undefined>): Promise<void> {
    const admission = await pending
    if (!this.#passesCircuit(first, admission)) this.advance()
    else if (this.#reserveSlots(first) === 'done') this.advance()
  }

  /** Takes the request out of the line if its circuit is open. Returns whether it may go on. */
  #passesCircuit(first: WaitingRequest, admission: Admission | undefined): boolean {
    const { circuits } = this.#context
    const { circuit } = first.route.pacing
    if (admission === undefined || circuit === undefined) return true
    const isInLine = this.#line.has(first)
    if (isInLine) first.probe = admission.probe
    else circuits.giveBack(first.check.origin, circuit, admission.probe) // it was aborted meanwhile
    try {
      if (circuits.passes(first.check.origin, circuit, admission) && isInLine) return true
    } catch (error) {
      this.#handleFailure(first, error) // the clock threw
      return false
    }
    this.#abandonAdmission(first)
    if (!this.#line.delete(first)) return false
    if (first.call.isOuter && circuits.refusalOf(first.check, circuit) === undefined)
      first.reply({ ...RESTING, waitMs: circuits.reportOf(first.check.origin).waitMs || PROBE_MS, ahead: 0 })
    else circuits.hold(first, this, circuit)
    return false
  }

  #seesSending({ allowanceMs }: EnterCall): boolean {
    return this.isSendingSeen && allowanceMs === 0
  }

  /**
   * Step 6. Returns `pending` if the pacer replies with a promise. Then `advance` is called when
   * the promise settles.
   */
  #reserveSlots(first: WaitingRequest): 'done' | 'pending' {
    const { jitter } = first.route.pacing
    const levels: PacedLevel[] = []
    for (const limit of this.#sharedLimits)
      if (limit.hasDelay) levels.push({ pacedKey: limit, limits: withJitter(limit.limits, jitter) })
    const waiting = levels.length === 0 ? this.#line.size - 1 + this.#outer : undefined
    levels.push({ pacedKey: this, limits: withJitter(first.limits, jitter), lease: this.#leaseOf(first), waiting })
    try {
      const slots = reserveSlots(levels, this.#seesSending(first.call), first.call.allowanceMs)
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

  #leaseOf({ call, route }: WaitingRequest): LeaseTerms | undefined {
    if (!this.#context.pacer.countsUnderWay) return undefined
    return { max: route.pacing.maxConcurrentPerKey, leaseMs: call.leaseMs, open: this.#openTickets }
  }

  get #openTickets(): readonly Ticket[] {
    return [...(this.#open?.keys() ?? [])].slice(0, MAX_OPEN)
  }

  /**
   * Asks the pacer which requests under way have ended elsewhere. With requests that wait, the call of
   * `reserve` for the first of them says so. Does nothing while the pacer need not be asked.
   */
  async findEnded(): Promise<void> {
    const [oldest] = this.#open?.values() ?? []
    if (oldest === undefined || this.#isAdmitting || this.#line.size > 0) return
    this.#isAdmitting = true
    try {
      if (!this.isFree(this.#context.now())) return
      const nothing = { max: 0, leaseMs: undefined, open: this.#openTickets } // no request may start
      const slot = await this.reserve(oldest.slot.limits, 0, false, 0, nothing)
      if (slot !== undefined) cancelSlots([slot])
    } catch (error) {
      this.#context.pacer.failed(this.key, error)
    } finally {
      this.stopWaitingForEnd()
      this.#isAdmitting = false
      this.advance()
    }
  }

  protected override endElsewhere(tickets: readonly Ticket[]): void {
    for (const ticket of tickets) this.#open?.get(ticket)?.permit?.endElsewhere()
  }

  async #awaitSlots(first: WaitingRequest, slots: Promise<readonly KeySlot[] | undefined>): Promise<void> {
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
  #useSlots(first: WaitingRequest, slots: readonly KeySlot[] | undefined): void {
    let at: number
    try {
      at = this.#context.now()
    } catch (error) {
      cancelSlots(slots ?? [])
      throw error
    }
    if (slots === undefined || cancelIfExpired(slots, at)) {
      first.returnProbe() // its lease might end before the wait
      this.#abandonAdmission(first, true)
      return
    }
    if (!this.#line.delete(first)) {
      // The request was aborted while the pacer was replying.
      cancelSlots(slots)
      this.#abandonAdmission(first)
      return
    }
    const waitedFor = first.isWaiting ? (this.#heldBy ?? (first.hasRested ? RESTING : undefined)) : undefined
    this.#heldBy = undefined
    for (const slot of slots) slot.pacedKey.use(slot, at)
    const sharedLimits = this.#sharedLimits
    for (const limit of sharedLimits) limit.start()
    this.#isAdmitting = false
    const grant = new Grant(this, first.route.site, at, slots, sharedLimits)
    this.#context.concurrency.start(grant)
    if (this.#context.pacer.countsUnderWay) {
      this.#open ??= new Map()
      this.#open.set(grant.slot.ticket, grant)
    }
    const { check, call, arrivedAt } = first
    const { circuit } = first.route.pacing
    first.reply(new GrantedPermit(this.#context, grant, check, call, at - arrivedAt, waitedFor, circuit, first.probe))
    if (this.#context.budgets?.take(this.key)) this.#refuseOverBudget()
  }

  /** Rejects all requests that wait: the last request that the budget allows has started. */
  #refuseOverBudget(): void {
    const requests = [...this.#line]
    for (const request of requests) this.#line.delete(request)
    for (const request of requests) request.failIfOverBudget()
  }

  /** Handles a pacer or a clock that threw, and an invalid reply of the pacer. */
  #handleFailure(first: WaitingRequest, error: unknown): void {
    if (this.#line.delete(first)) first.fail(error)
    else this.#context.pacer.failed(this.key, error) // the request was aborted while the pacer was replying
    this.#abandonAdmission(first)
  }

  /** To be called when no request waits. If none is under way either, the lane may be removed. */
  #handleEmpty(): void {
    this.stopTimer()
    this.#heldBy = undefined
    if (this.#isAdmitting) return
    this.#context.concurrency.forget(this)
    if (this.#outer > 0) {
      for (const limit of this.#sharedLimits) limit.leaveLine(this)
      return // it keeps the positions in the pacer's own queue
    }
    this.#useSharedLimits(NO_KEYS)
    this.leavePacerQueue() // the position in the pacer's own queue
    if (this.underWay > 0) return
    this.reset()
    if (this.routes === 0) this.#onIdle(this)
  }
}
