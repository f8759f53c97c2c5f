// The permit that a request gets from its lane. It holds the request's concurrency limits until
// the caller releases it.
//
// The gate calls `start` once, and hands the permit to the caller. If the caller never gets it, the
// gate calls `cancel` instead. The table shows the next phase after each call. In an empty cell,
// the call changes nothing that the gate knows.
//
//   | phase        | run          | sent   | report     | release, cancel |
//   |--------------|--------------|--------|------------|-----------------|
//   | `granted`    | `connecting` | `sent` | `reported` | `released`      |
//   | `connecting` |              | `sent` | `reported` | `released`      |
//   | `sent`       |              |        | `reported` | `released`      |
//   | `reported`   |              |        |            | `released`      |
//   | `released`   |              |        |            |                 |
//
// The limits may be released before the last phase: see `releaseConcurrency`.
//
// The delay counts from `start`, and again from `sent`, since a new connection may take longer than
// the delay. So from `run` until `sent`, the next request of the lane doesn't start. Whether `sent`
// is ever called depends on the HTTP client. If a response arrives without it, later requests of
// the lane stop waiting for it, until the gate sees a `sent` again.
import { inspect } from 'node:util'
import { outcomeOf } from '@politely/core'
import type { Delay, PaceResponse } from '@politely/core/engine'
import { type DecisionReceipt, loggableVerdict, type SignatureHeaders } from '@politely/fetcher'
import type { SiteCircuit } from '../options/circuit.ts'
import type { EnterCall } from '../options/enter-arguments.ts'
import type { CircuitFailure, Ticket } from '../pace/pacer.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { Permit } from '../permit/permit.ts'
import {
  assertNotRedirected,
  isFailure,
  isRateLimited,
  locationOf,
  paceResponseOf,
  type RequestReport,
  type ResponseLike,
  rateLimitedResponse,
  rateLimitPauseOf,
  withBackoff,
} from '../permit/request-report.ts'
import { type NestablePermit, Sending } from '../permit/sending.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import { channels } from '../report/events.ts'
import type { AskedPause } from '../report/gate-log.ts'
import type { AllowedCheck } from '../robots/allowed-check.ts'
import type { GateContext } from './gate-context.ts'
import type { Grant, PermitRecord } from './grant.ts'
import { cancelSlots, type KeySlot } from './paced-key.ts'

/** The outcome of a request that has failed, if the caller does not say how. */
export const NO_RESPONSE = { kind: 'connection', because: 'network' } as const

type Phase = 'granted' | 'connecting' | 'sent' | 'reported' | 'released'

export class GrantedPermit implements NestablePermit {
  readonly waitedMs: number
  readonly waitedFor: Permit['waitedFor']
  readonly waitedLevel: Permit['waitedLevel']
  /** How long the request took, if another program has measured it. Milliseconds. */
  tookMs: number | undefined
  /**
   * Called when the pacer says that the request no longer counts as under way: another process has
   * told its end, or its lease is over. Its limits are released before. The holder of the permit
   * still has to release it; without this function, only when the request ends.
   */
  onEndedElsewhere: (() => void) | undefined
  /** For how long another report of its slot changes nothing: see `Pacer.report`. Milliseconds. */
  reportOnceMs: number | undefined
  /** Of the decision about the request, with the option `evidence`. */
  receipt: DecisionReceipt | undefined
  /** What signs the request. */
  signature: SignatureHeaders | undefined
  /** The stack of the call of `enter`; usually undefined. */
  readonly enteredAt: string | undefined
  readonly redirectedFrom: readonly string[]
  readonly #context: GateContext
  readonly #grant: Grant
  readonly #check: AllowedCheck
  /** Undefined before `run`. */
  #sending: Sending | undefined
  #status: number | undefined
  #isAnswered = false
  /** Why the request got no response, if its sender has said so. */
  failure: { readonly error: unknown } | undefined
  #phase: Phase = 'granted'
  /** Whether a report has asked for fewer requests. */
  #isPushedBack = false
  #holdsLimits = true
  #hasEndedSlots = false
  /** Whether the circuit knows what the request led to. */
  #hasSettled = false
  /** Whether the circuit was open then. */
  #isCircuitOpen = false
  /** Undefined without a circuit. */
  readonly #circuit: SiteCircuit | undefined
  /** The ticket of the probe, until its result is known. */
  #probe: Ticket | undefined

  static {
    // `console.log` shows own fields only, and the most important ones are getters.
    const value = function (this: GrantedPermit) {
      return this.toJSON()
    }
    Object.defineProperty(GrantedPermit.prototype, inspect.custom, { value })
  }

  constructor(
    context: GateContext,
    grant: Grant,
    check: AllowedCheck,
    { redirectedFrom, enteredAt, receipt }: EnterCall,
    waitedMs: number,
    waitedFor: WaitCause | undefined,
    circuit: SiteCircuit | undefined,
    probe?: Ticket,
  ) {
    this.#circuit = circuit
    this.#probe = probe
    this.receipt = receipt
    this.enteredAt = enteredAt
    this.redirectedFrom = redirectedFrom
    this.#context = context
    this.#grant = grant
    this.#check = check
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor?.because ?? 'none'
    this.waitedLevel = waitedFor?.level
    grant.permit = this
  }

  get verdict(): AllowedVerdict {
    return this.#check.verdict
  }

  get delay(): Delay {
    return this.#grant.slot.delay
  }

  /** The pace key. */
  get key(): string {
    return this.#grant.lane.key
  }

  /** What another gate needs to apply the report of this request. */
  get record(): PermitRecord {
    return { key: this.key, ticket: this.#slot.ticket, probe: this.#probe, origin: this.#check.origin }
  }

  get #slot(): KeySlot {
    return this.#grant.slot
  }

  get url(): string {
    return this.#check.url
  }

  /**
   * Marks the start of the request. The gate calls it just before it hands the permit to the
   * caller, which is as late as the gate can observe the start. If the clock throws, the permit is
   * cancelled.
   */
  start(): void {
    const { gate, now, counters, localStarts, openPermits } = this.#context
    const { waitedMs, waitedFor, waitedLevel } = this
    const grant = this.#grant
    const { delay } = grant.slot
    try {
      const at = now()
      grant.startedAt = at
      counters.started++
      if (delay.delayMs > 0) localStarts?.started(this.key, this.#check.origin, at, delay.delayMs)
      if (waitedFor !== 'none') counters.waited(waitedFor, waitedMs)
      if (channels.start.hasSubscribers) {
        const { url, origin } = loggableVerdict(this.verdict)
        const { key } = this
        channels.start.publish({ gate, counters, at, url, origin, key, waitedMs, waitedFor, waitedLevel, delay })
      }
      for (const slot of grant.slots) slot.pacedKey.started(slot)
      openPermits.watch()
    } catch (error) {
      this.cancel()
      throw error
    }
  }

  /** The request does not start: gives its slots back, and releases its concurrency limits. */
  cancel(): void {
    this.#phase = 'released'
    this.#context.budgets?.giveBack(this.key)
    cancelSlots(this.#grant.slots)
    this.#releaseLimits(false)
    this.#giveBackProbe()
  }

  /** The caller has aborted the request after it was granted, and before `start`. */
  abandon(reason: unknown): void {
    this.cancel()
    const { gate, now, counters } = this.#context
    counters.abandoned++
    if (!channels.abandon.hasSubscribers) return
    const { url, origin } = loggableVerdict(this.verdict)
    const { key, waitedMs } = this
    channels.abandon.publish({ gate, counters, at: now(), url, origin, key, waitedMs, reason })
  }

  /** The request is not sent after all: its slot is free again, unless another was taken since. */
  giveBack(reason: unknown): void {
    if (this.#phase !== 'granted') return
    this.abandon(reason)
    const { activity, decisions, now } = this.#context
    activity.end()
    if (this.receipt) decisions?.ended({ id: this.receipt.id, at: now(), outcome: 'not-sent', error: reason })
  }

  run<T>(send: () => T): T {
    if (this.#phase === 'granted') {
      this.#phase = 'connecting'
      if (this.#grant.lane.isSendingSeen) this.#slot.pacedKey.expectSent(this.#slot, this.#grant.startedAt)
    }
    this.#sending ??= new Sending(this.#context.gate, this)
    return this.#sending.run(send)
  }

  endNesting(): void {
    this.#sending?.end()
  }

  sent(): void {
    if (this.#phase !== 'granted' && this.#phase !== 'connecting') return
    this.#phase = 'sent'
    this.#grant.lane.isSendingSeen = true
    this.#tellSent(this.#context.now())
  }

  /** Like `sent`, for a request of another program, which was sent this long after the start, at most. */
  sentAfter(ms: number): void {
    if (this.#phase !== 'granted') return
    this.#phase = 'sent'
    const now = this.#context.now()
    const at = Math.min(this.#grant.startedAt + ms, now)
    this.#tellSent(at, now - at)
  }

  #tellSent(at: number, agoMs?: number): void {
    for (const slot of this.#grant.slots) slot.pacedKey.sent(slot, at, agoMs)
  }

  get isReleased(): boolean {
    return this.#phase === 'released'
  }

  get #isUnsent(): boolean {
    return this.#phase === 'granted' || this.#phase === 'connecting'
  }

  /**
   * The gate has not seen the request being sent. Its response has arrived, or it has ended, so it
   * was sent before, if at all.
   */
  #endUnseen(at: number): void {
    for (const slot of this.#grant.slots) if (slot.awaitsSent) slot.pacedKey.sent(slot, at)
  }

  report(report: RequestReport): void {
    this.#sending?.end()
    this.applyResponse(report)
  }

  applyResponse(report: RequestReport, sending: Sending | undefined = this.#sending): void {
    if (this.#phase === 'released') return
    if (isRateLimited(report)) {
      const response = rateLimitedResponse(report) // throws for an invalid response, of which nothing must be reported
      this.#settle({ kind: 'rate-limited', because: 'status', retryAfterMs: response.requestedMs })
      const asked = this.#applyRateLimitHeaders(report)
      if (this.#phase === 'reported') this.#extendPause(response, asked)
      else this.#tell(response, report.status, asked)
    } else if (this.#phase === 'reported') return
    else if (isFailure(report)) this.#applyFailure(report.error)
    else {
      const response = paceResponseOf(report) // throws for an invalid response, of which nothing must be reported
      if (!sending?.hasEntered) assertNotRedirected(report)
      const { status } = response
      this.#settleResponse(report)
      if (status >= 300 && status <= 399)
        this.#context.redirects.note(this.url, status, locationOf(report), this.redirectedFrom)
      this.#tell(response, status, this.#applyRateLimitHeaders(report))
    }
  }

  /**
   * After an earlier report, requests of the key pause, without the growth of a series. If that
   * report was a pushback, only a time can make its pause longer.
   */
  #extendPause(response: PaceResponse, asked: AskedPause | undefined): void {
    const { pacer, pacing, now, counters } = this.#context
    const { requestedMs = 0 } = withBackoff(response, pacing.backoff, now())
    if (requestedMs > 0) pacer.pause(this.key, requestedMs, 'retry-after')
    else if (!this.#isPushedBack) pacer.pause(this.key, pacing.backoff.firstMs, 'backoff')
    else return
    if (!this.#isPushedBack) counters.pushbacks++
    this.#isPushedBack = true
    this.#grant.lane.slowedDown()
    this.#log(response, asked)
  }

  #applyFailure(error: unknown): void {
    this.failure = { error }
    const outcome = error === undefined ? NO_RESPONSE : outcomeOf(error)
    if (outcome === undefined) {
      this.#giveBackProbe()
      return // it says nothing about the site
    }
    this.#settle(outcome)
    // An open circuit makes requests wait longer than the pause would.
    if (this.#context.pacing.backoff.failures && !this.#isCircuitOpen)
      this.#tell({ status: 0, retryAfter: undefined, isPushback: true }, undefined)
  }

  /** Tells the circuit of the origin about a response. Most circuits open for failures without one only. */
  #settleResponse(report: ResponseLike): void {
    const { size = 0 } = this.#circuit?.outcomes ?? {}
    const isAnswer = size === 1 && this.#circuit?.outcomes.has('connection')
    if (size > 0) this.#settle(isAnswer ? undefined : outcomeOf(report))
  }

  /** Tells the circuit of the origin what the request led to. @param outcome Undefined after a success. */
  #settle(outcome: (CircuitFailure & { readonly retryAfterMs?: number | undefined }) | undefined): void {
    const circuit = this.#circuit
    if (circuit === undefined || this.#hasSettled) return
    this.#hasSettled = true
    const failure = outcome !== undefined && circuit.outcomes.has(outcome.kind) ? outcome : undefined
    const probe = this.#probe
    this.#probe = undefined
    this.#isCircuitOpen = this.#context.circuits.settle(this.#check, circuit, failure, probe)
  }

  /** The result of a probe is not known: another request may be the probe. */
  #giveBackProbe(): void {
    const probe = this.#probe
    this.#probe = undefined
    if (this.#circuit !== undefined) this.#context.circuits.giveBack(this.#check.origin, this.#circuit, probe)
  }

  /** Returns the pause that the headers ask for, if the gate obeys them or can log them. */
  #applyRateLimitHeaders(report: Partial<ResponseLike>): AskedPause | undefined {
    const { pacer, pacing, now, log } = this.#context
    if (!pacing.rateLimitHeaders && !log.warns) return undefined
    const asked = rateLimitPauseOf(report, now())
    if (asked !== undefined && pacing.rateLimitHeaders) {
      pacer.pause(this.key, asked.pauseMs, 'rate-limit')
      this.#grant.lane.slowedDown()
    }
    return asked
  }

  /** Tells the pacer of the response, and counts and logs a pushback. */
  #tell(response: PaceResponse, status: number | undefined, asked?: AskedPause): void {
    const { counters, pacer, pacing, now, log } = this.#context
    const isUnsent = this.#isUnsent
    if (isUnsent && response.status !== 0) this.#grant.lane.isSendingSeen = false
    this.#phase = 'reported'
    this.#slot.pacedKey.stopExpecting(this.#slot)
    this.#status = status
    this.#isAnswered = response.status !== 0
    const at = now()
    if (isUnsent) this.#endUnseen(at)
    const told = withBackoff(response, pacing.backoff, at, this.#isCircuitOpen)
    pacer.report(this.key, this.#slot.ticket, told, this.reportOnceMs)
    if (told.isPushback) {
      this.#isPushedBack = true
      counters.pushbacks++
      this.#grant.lane.slowedDown()
      this.#log(told, asked)
    } else if (asked !== undefined && !pacing.rateLimitHeaders) log.ignoredRateLimit(this.key, this.url, told, asked)
  }

  /** Logs a pushback, after the pacer knows all that the response asks for. */
  #log(response: PaceResponse, asked: AskedPause | undefined): void {
    const { log, pacer, pacing } = this.#context
    if (!log.warns) return
    const estimate = () => pacer.estimate(this.key, this.#slot.limits, 0)
    log.pushedBack(this.key, this.url, response, estimate, asked, pacing.rateLimitHeaders)
  }

  release(report?: RequestReport): void {
    if (this.#phase === 'released') return
    const { gate, now, counters, activity } = this.#context
    try {
      if (report !== undefined) this.report(report) // throws for an invalid response; the permit is still released
    } finally {
      const isUnsent = this.#isUnsent
      this.#phase = 'released'
      this.#sending?.end()
      counters.done++
      try {
        const at = now()
        const tookMs = this.tookMs ?? at - this.#grant.startedAt
        if (isUnsent) this.#endUnseen(at)
        this.#endSlots(tookMs)
        if (channels.done.hasSubscribers) {
          const { url, origin } = loggableVerdict(this.verdict)
          channels.done.publish({ gate, counters, at, url, origin, key: this.key, tookMs, status: this.#status })
        }
        if (this.receipt !== undefined) this.#keepResult(this.receipt, at, tookMs)
      } finally {
        this.#releaseLimits(true)
        this.#giveBackProbe() // if nothing was reported
        activity.end()
      }
    }
  }

  /** Keeps what became of the request (option `evidence`). */
  #keepResult({ id }: DecisionReceipt, at: number, tookMs: number): void {
    const { waitedMs, waitedFor, waitedLevel, key, delay } = this
    const failure = this.#isAnswered ? undefined : this.failure
    const outcome = this.#isAnswered ? 'answered' : failure === undefined ? 'not-reported' : 'failed'
    const permit = { at: this.#grant.startedAt, waitedMs, waitedFor, waitedLevel, key, delay }
    const keyId = this.signature && keyIdOf(this.signature)
    this.#context.decisions?.ended({
      id,
      at,
      outcome,
      error: failure?.error,
      status: this.#status,
      permit,
      tookMs,
      keyId,
    })
  }

  /** @param isOver Whether the pacer no longer counts the request, since its lease is over. */
  releaseConcurrency(isOver = false): void {
    if (!this.#holdsLimits) return
    const { now, pacing } = this.#context
    try {
      // The next request would otherwise wait until this one has ended.
      if (pacing.pauseFrom === 'end') this.#endSlots(now() - this.#grant.startedAt)
    } finally {
      this.#releaseLimits(!isOver)
    }
  }

  /** The pacer no longer counts the request. The lane calls this. */
  endElsewhere(): void {
    this.releaseConcurrency(true)
    this.onEndedElsewhere?.()
  }

  /** Reports the end of the slots to the pacer, once. */
  #endSlots(tookMs: number): void {
    if (this.#hasEndedSlots) return
    this.#hasEndedSlots = true
    const { pacer } = this.#context
    for (const { pacedKey, ticket, limits } of this.#grant.slots) pacer.end(pacedKey.key, ticket, limits, tookMs)
  }

  /** @param tells Whether the pacer has to know. */
  #releaseLimits(tells: boolean): void {
    if (!this.#holdsLimits) return
    this.#holdsLimits = false
    const { pacer } = this.#context
    if (tells && pacer.countsUnderWay) pacer.release(this.key, this.#slot.ticket)
    this.#slot.pacedKey.stopExpecting(this.#slot)
    this.#grant.lane.release(this.#grant)
  }

  [Symbol.dispose](): void {
    this.release()
  }

  /** What loggers print of a permit. */
  toJSON(): object {
    const { url, key, verdict, delay, waitedMs, waitedFor, waitedLevel, redirectedFrom } = this
    return { url, key, verdict, delay, waitedMs, waitedFor, waitedLevel, redirectedFrom }
  }
}

/** Returns the parameter `keyid` of a signature (RFC 9421 §2.3). */
function keyIdOf(signature: SignatureHeaders): string | undefined {
  return /;keyid="([^"\\]*)"/i.exec(signature['signature-input'] ?? '')?.[1]
}
