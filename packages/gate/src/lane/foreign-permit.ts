// The permit of a request that another gate has granted: the gate of another server, or of this
// server before it was restarted. Its report has come here. Also a permit that this gate has granted,
// whose lease was over before its report came.
//
// What the report says of the site counts as it would there. How, depends on the pacer:
//
//   a pacer that processes share   knows the slot by its ticket, so nothing is lost
//   `LocalPacer`                   knows its own tickets only. Otherwise a pushback becomes a pause, a
//                                  series of pushbacks does not grow, and no slot becomes free
//
// When the request was sent changes nothing. The clocks of two processes may differ, so this one
// does not know how long ago that was. The slot keeps its whole allowance.
import { outcomeOf } from '@politely/core'
import type { PaceResponse } from '@politely/core/engine'
import { paceLimitsOf } from '../options/pacing.ts'
import type { SitePacing } from '../options/site-pacing.ts'
import type { CircuitFailure, Ticket } from '../pace/pacer.ts'
import {
  isFailure,
  isRateLimited,
  paceResponseOf,
  type RequestReport,
  rateLimitedResponse,
  rateLimitPauseOf,
  withBackoff,
} from '../permit/request-report.ts'
import type { AskedPause } from '../report/gate-log.ts'
import type { GateContext } from './gate-context.ts'
import type { PermitRecord } from './grant.ts'
import { NO_RESPONSE } from './granted-permit.ts'

/** What the gate that gets the report knows. */
export interface ReceivingGate {
  readonly context: GateContext
  /** Whether its pacer knows the tickets of the record. */
  readonly knowsTickets: boolean
  /** The options for the origin. */
  readonly site: SitePacing
  /** The lane of the pace key, if there is one. */
  readonly lane: { slowedDown(): void } | undefined
}

export class ForeignPermit {
  /** How long the request took. Milliseconds; undefined if it is not known. */
  tookMs: number | undefined
  readonly #record: PermitRecord
  readonly #gate: ReceivingGate
  /** The ticket of the slot, if the pacer knows it. */
  #ticket: Ticket | undefined
  /** Until the circuit knows what the probe led to. */
  #probe: Ticket | undefined
  /** Whether the circuit was open after that. */
  #isCircuitOpen = false
  readonly #onceMs: number

  /** @param onceMs For how long a second report of the slot changes nothing: see `Pacer`. */
  constructor(gate: ReceivingGate, record: PermitRecord, onceMs: number) {
    this.#gate = gate
    this.#record = record
    this.#ticket = gate.knowsTickets ? record.ticket : undefined
    this.#probe = gate.knowsTickets ? record.probe : undefined
    this.#onceMs = onceMs
  }

  /** The pace key. */
  get key(): string {
    return this.#record.key
  }

  /** The request was not sent: its slot is free again, unless another was taken since. */
  giveBack(_reason: unknown): void {
    if (this.#ticket !== undefined) this.#pacer.cancel(this.key, this.#ticket)
    this.#ticket = undefined
  }

  report(report: RequestReport): void {
    if (isFailure(report)) {
      this.#settle(NO_RESPONSE)
      // An open circuit makes requests wait longer than the pause would.
      if (this.#gate.context.pacing.backoff.failures && !this.#isCircuitOpen)
        this.#tell({ status: 0, retryAfter: undefined, isPushback: true }, undefined)
      return
    }
    const isPushback = isRateLimited(report)
    const response = isPushback ? rateLimitedResponse(report) : paceResponseOf(report)
    const retryAfterMs = response.requestedMs
    this.#settle(isPushback ? { kind: 'rate-limited', because: 'status', retryAfterMs } : outcomeOf(report))
    const { now, pacing } = this.#gate.context
    const asked = rateLimitPauseOf(report, now())
    if (asked !== undefined && pacing.rateLimitHeaders) {
      this.#pacer.pause(this.key, asked.pauseMs, 'rate-limit')
      this.#gate.lane?.slowedDown()
    }
    this.#tell(response, asked)
  }

  /** The request has ended. */
  release(): void {
    if (this.#ticket !== undefined) {
      // With `pauseFrom: 'end'`, only the gate that has granted the permit knows the delay.
      if (this.tookMs !== undefined && this.#gate.context.pacing.pauseFrom !== 'end')
        this.#pacer.end(this.key, this.#ticket, this.#limits, this.tookMs)
      if (this.#pacer.countsUnderWay) this.#pacer.release(this.key, this.#ticket)
    }
    this.#giveBackProbe()
  }

  /**
   * Extends the lease that a pacer keeps for all processes. Resolves to false if it was over, or if the
   * pacer fails. Undefined without such a pacer.
   */
  renew(leaseMs: number): Promise<boolean> | undefined {
    if (this.#ticket === undefined || !this.#pacer.countsUnderWay) return undefined
    return this.#pacer.renew(this.key, this.#ticket, leaseMs)
  }

  get #pacer() {
    return this.#gate.context.pacer
  }

  /** Without what robots.txt asks for, since it may not be known here. */
  get #limits() {
    return paceLimitsOf({}, this.#gate.site, this.#gate.context.pacing.pauseFrom)
  }

  /** Tells the circuit what the request led to. @param outcome Undefined after a success. */
  #settle(outcome: (CircuitFailure & { readonly retryAfterMs?: number | undefined }) | undefined): void {
    const { origin } = this.#record
    const { circuit } = this.#gate.site
    if (circuit === undefined || origin === undefined) return
    const failure = outcome !== undefined && circuit.outcomes.has(outcome.kind) ? outcome : undefined
    this.#isCircuitOpen = this.#gate.context.circuits.settle({ origin }, circuit, failure, this.#probe)
    this.#probe = undefined
  }

  /** The result of a probe is not known: another request may be the probe. */
  #giveBackProbe(): void {
    const { origin } = this.#record
    const { circuit } = this.#gate.site
    if (circuit !== undefined && origin !== undefined)
      this.#gate.context.circuits.giveBack(origin, circuit, this.#probe)
    this.#probe = undefined
  }

  /** Tells the pacer of the response, and counts and logs a pushback. */
  #tell(response: PaceResponse, asked: AskedPause | undefined): void {
    const { counters, pacer, pacing, now, log } = this.#gate.context
    const { key, origin = key } = this.#record
    const told = withBackoff(response, pacing.backoff, now(), this.#isCircuitOpen)
    const { isPushback, requestedMs } = told
    if (this.#ticket !== undefined) pacer.report(key, this.#ticket, told, this.#onceMs)
    else if (isPushback)
      pacer.pause(key, requestedMs ?? pacing.backoff.firstMs, requestedMs === undefined ? 'backoff' : 'retry-after')
    if (!isPushback) return
    counters.pushbacks++
    this.#gate.lane?.slowedDown()
    if (!log.warns) return
    const estimate = () => pacer.estimate(key, this.#limits, 0)
    log.pushedBack(key, origin, told, estimate, asked, pacing.rateLimitHeaders)
  }
}
