// One call of `PoliteGate.enter` that can't start at once: from its arrival in the lane until it
// gets a permit or is rejected.
//
// When the request comes first, the lane calls `recheckNow`, unless robots.txt has just been
// checked. If that returns `unknown`, the lane calls `recheck`. Both reject the request if
// robots.txt no longer allows it.
//
// The table shows the states, and where each method leads. In an empty cell, it does nothing.
//
//   | state      | wait      | grant     | fail       | tell   |
//   |------------|-----------|-----------|------------|--------|
//   | `arriving` | `waiting` | `granted` | `rejected` | `told` |
//   | `waiting`  |           | `granted` | `rejected` | `told` |
//   | `granted`  |           |           |            |        |
//   | `told`     |           |           |            |        |
//   | `rejected` |           |           |            |        |
//
// An outer request waits outside of the gate (`isOuter`). If it can't start now, it is `told` how long
// to wait.
//
// A request may fail twice: first by an abort, then by a check of robots.txt that was under way.
// While it waits, two things can reject it: the caller's signal, and a timer if there is a
// `maxWaitMs`.
import { AsyncResource } from 'node:async_hooks'
import type { PaceLimits } from '@politely/core/engine'
import { loggableVerdict } from '@politely/fetcher'
import { type Linked, MAX_TIMER_MS, onAbort } from '@politely/fetcher/internal'
import type { EnterCall } from '../options/enter-arguments.ts'
import type { Ticket } from '../pace/pacer.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import { abortedWait } from '../report/aborted-wait.ts'
import {
  BudgetError,
  CircuitOpenError,
  QueueFullError,
  RobotsDisallowedError,
  WaitTooLongError,
} from '../report/errors.ts'
import { channels } from '../report/events.ts'
import type { AllowedCheck } from '../robots/allowed-check.ts'
import type { WaitForecast } from './estimate.ts'
import type { GateContext } from './gate-context.ts'
import type { GrantedPermit } from './granted-permit.ts'
import type { Route } from './route.ts'

/** What a request gets from its lane: its permit, or an outer request the time to wait. */
export type LaneReply = GrantedPermit | WaitForecast

/** The promise that `enter` awaits. */
interface Waiting {
  readonly name: 'waiting'
  readonly resolve: (reply: LaneReply) => void
  readonly reject: (error: unknown) => void
  removeAbortListener: (() => void) | undefined
  /** Fires when the request has waited too long. */
  timer: NodeJS.Timeout | undefined
}

/** The lane of a request. */
interface OwnLane {
  /** What its first request waits for. */
  readonly heldBy: WaitCause | undefined
  /** How long its first request will wait for a delay, as far as that is known. Milliseconds. */
  readonly delayLeftMs: number
  remove(request: WaitingRequest): void
}

type State =
  | { readonly name: 'arriving' }
  | Waiting
  | { readonly name: 'replied'; readonly reply: LaneReply }
  | { readonly name: 'rejected'; readonly error: unknown }

/**
 * How much longer than `maxWaitMs` a request may wait. Timers are late by some milliseconds, and a
 * pacer elsewhere needs time to reply. Our choice.
 */
const GRACE_MS = 100

const ARRIVING: State = { name: 'arriving' }

export class WaitingRequest implements Linked<WaitingRequest> {
  before: WaitingRequest | undefined
  after: WaitingRequest | undefined
  list: object | undefined
  readonly route: Route
  /** By the gate's clock. */
  readonly arrivedAt: number
  /** Infinity for no limit. */
  readonly maxWaitMs: number
  /** How `enter` was called. */
  readonly call: EnterCall
  /** Whether it has rested because the circuit of its origin was open. */
  hasRested = false
  /** The ticket of the probe, if the circuit is half-open and this request is the probe. */
  probe: Ticket | undefined
  readonly #context: GateContext
  #check: AllowedCheck
  #limits: PaceLimits
  #state: State = ARRIVING
  /**
   * The async context of `enter`. Without it, a tracer would add the later checks of this request to
   * the trace of another one. Undefined if nothing listens to the wait.
   */
  #ownContext: AsyncResource | undefined

  constructor(context: GateContext, route: Route, check: AllowedCheck, call: EnterCall) {
    this.route = route
    this.call = call
    this.maxWaitMs = call.maxWaitMs ?? context.pacing.maxWaitMs
    this.#context = context
    this.arrivedAt = context.now()
    this.#check = check
    this.#limits = route.limitsFor(check)
  }

  /** The last check of robots.txt. */
  get check(): AllowedCheck {
    return this.#check
  }

  /** The delays and visit times that the caller and the site ask for, as of that check. */
  get limits(): PaceLimits {
    return this.#limits
  }

  get url(): string {
    return this.#check.url
  }

  get isWaiting(): boolean {
    return this.#state.name === 'waiting'
  }

  /** The reply, or a promise that rejects with the error. Undefined if the request has neither. */
  result(): LaneReply | Promise<never> | undefined {
    if (this.#state.name === 'replied') return this.#state.reply
    return this.#state.name === 'rejected' ? Promise.reject(this.#state.error) : undefined
  }

  /**
   * Returns a promise of the reply.
   * @param ahead How many requests were in the lane before.
   * @param lane The request leaves it when the caller's signal is aborted, or when it has waited
   * too long.
   */
  wait(ahead: number, lane: OwnLane): Promise<LaneReply> {
    const { promise, resolve, reject } = Promise.withResolvers<LaneReply>()
    const waiting: Waiting = { name: 'waiting', resolve, reject, removeAbortListener: undefined, timer: undefined }
    this.#state = waiting
    const { signal, isOuter } = this.call
    if (channels.wait.hasSubscribers && !isOuter) {
      this.#ownContext = new AsyncResource('politely.wait') // a snapshot takes 50 times as long
      const { because, level } = lane.heldBy ?? {}
      channels.wait.publish({
        ...this.#messageFields(),
        because,
        level,
        ahead,
        ended: promise as Promise<GrantedPermit>,
      })
    }
    if (signal !== undefined && this.#state === waiting) {
      waiting.removeAbortListener = onAbort(signal, () => {
        const error = this.#abortError(signal, lane)
        lane.remove(this)
        this.fail(error)
      })
    }
    if (this.maxWaitMs < Number.POSITIVE_INFINITY && !isOuter && this.#state === waiting)
      this.#startTimer(waiting, lane)
    return promise
  }

  /** Rejects the request if it would have to wait longer than `maxWaitMs`. Returns whether it would. */
  failIfTooLong({ waitMs, because, level }: WaitForecast): boolean {
    if (because === 'none' || level === undefined) return false
    // How long it would wait for a concurrency limit is not known.
    if (because === 'concurrency' ? this.maxWaitMs > 0 : waitMs <= this.maxWaitMs) return false
    this.#failTooLong({ because, level }, waitMs, 0)
    return true
  }

  /** Rejects the request if the budget of its pace key is used up. Returns whether it does not start. */
  failIfOverBudget(): boolean {
    try {
      const budget = this.#context.budgets?.usedUp(this.route.lane.key)
      if (budget === undefined) return false
      this.fail(new BudgetError(this.#check.verdict, this.route.lane.key, budget))
    } catch (error) {
      this.fail(error) // of the caller's function
    }
    return true
  }

  /** Rejects the request if its circuit is open and a probe has failed. Returns whether it was rejected. */
  failIfCircuitOpen(): boolean {
    const refusal = this.#context.circuits.refusalOf(this.#check, this.route.pacing.circuit)
    if (refusal !== undefined) this.fail(refusal)
    return refusal !== undefined
  }

  failQueueFull(waiting: number): void {
    this.fail(new QueueFullError(this.#check.verdict, this.route.lane.key, waiting))
  }

  /**
   * Checks robots.txt again, without a fetch. `refused`: the request has rejected itself.
   * `unknown`: a fetch is necessary.
   */
  recheckNow(): 'allowed' | 'refused' | 'unknown' {
    try {
      const { redirectedFrom } = this.call
      const { robots } = this.#context
      const check = this.#checking(() => robots.requireAllowedNow(this.url, undefined, this.#check, redirectedFrom))
      if (check === undefined) return 'unknown'
      this.#update(check)
      return 'allowed'
    } catch (error) {
      this.fail(error)
      return 'refused'
    }
  }

  /**
   * Checks robots.txt again, and fetches it if necessary. Resolves to false if the request has
   * rejected itself.
   */
  async recheck(): Promise<boolean> {
    try {
      const { signal, redirectedFrom } = this.call
      const check = () => this.#context.robots.requireAllowed(this.url, signal, redirectedFrom, this.#check)
      this.#update(await this.#checking(check))
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  #checking<T>(check: () => T): T {
    return this.#ownContext === undefined ? check() : this.#ownContext.runInAsyncScope(check)
  }

  /** Gives the request its permit, or tells an outer request how long to wait. */
  reply(reply: LaneReply): void {
    const before = this.#state
    this.#state = { name: 'replied', reply }
    if (before.name !== 'waiting') return
    before.removeAbortListener?.()
    clearTimeout(before.timer)
    before.resolve(reply)
  }

  fail(error: unknown): void {
    if (this.#state.name === 'arriving' || this.#state.name === 'waiting') this.#reject(error)
  }

  /** If the clock throws, returns the reason: the request must still leave its lane. */
  #abortError(signal: AbortSignal, lane: OwnLane): unknown {
    try {
      const { heldBy, delayLeftMs: waitMs } = lane
      const waitedMs = this.#context.now() - this.arrivedAt
      return abortedWait(signal, {
        url: this.url,
        waitedMs,
        waitedFor: heldBy?.because,
        waitedLevel: heldBy?.level,
        waitMs,
      })
    } catch {
      return signal.reason
    }
  }

  /** When the timer has run out, rejects the request because it has waited too long. */
  #startTimer(waiting: Waiting, lane: OwnLane): void {
    const waitedMs = this.#context.now() - this.arrivedAt
    const leftMs = this.maxWaitMs + GRACE_MS - waitedMs
    if (leftMs > 0) {
      waiting.timer = setTimeout(() => this.#startTimer(waiting, lane), Math.min(Math.ceil(leftMs), MAX_TIMER_MS))
      return
    }
    const { heldBy, delayLeftMs } = lane
    lane.remove(this)
    this.#failTooLong(heldBy, delayLeftMs, waitedMs)
  }

  /** @param waitMs How long the request would still have to wait, as far as that is known. */
  #failTooLong(cause: WaitCause | undefined, waitMs: number, waitedMs: number): void {
    const retryAt = waitMs === 0 ? undefined : this.#context.now() + waitMs
    const { because, level } = cause ?? {}
    const { maxWaitMs } = this
    this.fail(
      new WaitTooLongError({ verdict: this.#check.verdict, waitMs, retryAt, because, level, waitedMs, maxWaitMs }),
    )
  }

  #reject(error: unknown): void {
    const before = this.#state
    this.#state = { name: 'rejected', error }
    // The check of robots.txt has counted and published a refusal already.
    if (!(error instanceof RobotsDisallowedError)) {
      const { counters, now } = this.#context
      if (error instanceof WaitTooLongError) counters.tooLong++
      else if (error instanceof QueueFullError) counters.queueFull++
      else if (error instanceof BudgetError) counters.overBudget++
      else if (error instanceof CircuitOpenError) counters.circuitRefused++
      else counters.abandoned++
      if (channels.abandon.hasSubscribers) {
        channels.abandon.publish({ ...this.#messageFields(), waitedMs: now() - this.arrivedAt, reason: error })
      }
    }
    if (this.hasRested) this.#context.circuits.remove(this)
    this.returnProbe()
    if (before.name !== 'waiting') return
    before.removeAbortListener?.()
    clearTimeout(before.timer)
    before.reject(error)
  }

  /** If the request was to be the probe, another one may be. */
  returnProbe(): void {
    const { probe } = this
    const { circuit } = this.route.pacing
    this.probe = undefined
    if (circuit !== undefined) this.#context.circuits.giveBack(this.#check.origin, circuit, probe)
  }

  #update(check: AllowedCheck): void {
    this.#check = check
    this.call.receipt = check.receipt
    this.#limits = this.route.limitsFor(check)
  }

  #messageFields() {
    const { gate, counters, now } = this.#context
    const { url, origin } = loggableVerdict(this.#check.verdict)
    return { gate, counters, at: now(), url, origin, key: this.route.lane.key }
  }
}
