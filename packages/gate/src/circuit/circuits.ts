// The circuits of a gate: which origins get no requests for a time, because the last requests failed.
//
// The keeper decides: the caller's pacer, if it has methods for circuits, or else `LocalCircuits`.
// This class asks it before a request starts (`admit`) and tells it how the request ended (`settle`).
// `LocalCircuits` has a single record of each origin with failures. If the caller's pacer is the
// keeper, that record is what its last reply said. The requests of an open circuit rest in a
// `RestingLine`.
import type { Access, PageOutcomeReason } from '@politely/core'
import { circuitAfter, circuitReport, closedCircuit, failuresThatAre } from '@politely/core/engine'
import { isPromise } from '@politely/core/internal'
import type { SiteCircuit } from '../options/circuit.ts'
import { CLOSED, LocalCircuits, type OriginCircuit } from '../pace/local-circuits.ts'
import type { Admission, CircuitFailure, CircuitReport, CircuitResult, Pacer, Ticket } from '../pace/pacer.ts'
import { CircuitOpenError, PacerError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import type { GateLog } from '../report/gate-log.ts'
import { OwnNetwork } from './own-network.ts'
import { type RestingLane, RestingLine, type RestingRequest, type RestingUrl } from './resting-line.ts'

/** For how many origins with failures the last reply is remembered. Our choice. */
const MAX_REMEMBERED = 10_000

const SUCCESS: CircuitResult = { kind: 'success' }

/** The reasons of robots.txt that say that its host cannot be reached. */
const UNREACHED = failuresThatAre('unreached')

export type CircuitKeeper = Required<Pick<Pacer, 'admit' | 'settle'>> & {
  /** Whether no request to this origin has failed since the last success. */
  isClear?(origin: string): boolean
}

/** Returns the caller's pacer if it keeps circuits. */
export function keeperOf(pacer: Pacer | undefined): CircuitKeeper | undefined {
  return pacer?.admit !== undefined && pacer.settle !== undefined ? (pacer as CircuitKeeper) : undefined
}

/** What the circuits need of their gate. */
export interface CircuitsContext extends EventSource {
  readonly log: GateLog
  /** Undefined if the gate keeps the circuits itself. */
  readonly keeper: CircuitKeeper | undefined
  /** Counts and publishes a failure of the keeper. */
  readonly failed: (origin: string, error: unknown) => void
}

export class Circuits {
  readonly #context: CircuitsContext
  readonly #circuits: LocalCircuits<SiteCircuit>
  readonly #keeper: CircuitKeeper
  /** The requests that rest, by origin. */
  readonly #resting = new Map<string, RestingLine>()
  readonly #network = new OwnNetwork()

  constructor(context: CircuitsContext) {
    this.#context = context
    this.#circuits = new LocalCircuits(context.now, (...change) => this.#onChange(...change))
    this.#keeper = context.keeper ?? this.#circuits
  }

  /** How many circuits are open or half-open, as far as this gate knows. */
  get open(): number {
    let open = 0
    for (const { periods } of this.#circuits.all.values()) if (periods > 0) open++
    return open
  }

  /** The state of the circuit of an origin, as far as this gate knows. */
  reportOf(origin: string): CircuitReport {
    const circuit = this.#circuits.all.get(origin)
    return circuit === undefined ? CLOSED : circuitReport(circuit, this.#context.now())
  }

  /**
   * Whether no request to this origin has failed since the last success, as far as is known without
   * a call of another process.
   */
  isClear(origin: string): boolean {
    return this.#circuits.isClear(origin) && this.#context.keeper?.isClear?.(origin) !== false
  }

  /**
   * Asks whether the request may start, and makes it the probe if it is one. Never throws. Undefined
   * if the keeper fails: that stops no request, and says nothing of the circuit.
   * @param key The pace key of the request.
   */
  admit(origin: string, limits: SiteCircuit, key: string): Admission | undefined | Promise<Admission | undefined> {
    const { failed } = this.#context
    const checked = (admission: Admission) => checkedReport('admit', admission)
    const noteFailure = (error: unknown) => void failed(origin, error)
    try {
      const admission = this.#keeper.admit(origin, limits, key)
      return isPromise(admission) ? Promise.resolve(admission).then(checked).catch(noteFailure) : checked(admission)
    } catch (error) {
      return noteFailure(error)
    }
  }

  /** Returns whether a request that `admit` replied to may start. */
  passes(origin: string, limits: SiteCircuit, admission: Admission): boolean {
    this.#note(origin, limits, admission)
    if (admission.state === 'closed') this.#resume(origin)
    return admission.state === 'closed' || admission.probe !== undefined
  }

  /**
   * Holds a request that may not start: it rests until the circuit closes, or is rejected.
   * @param lane Where the request goes back to.
   */
  hold(request: RestingRequest, lane: RestingLane, limits: SiteCircuit): void {
    const { origin } = request.check
    const refusal = this.refusalOf(request.check, limits)
    if (refusal !== undefined) {
      request.fail(refusal)
      return
    }
    const line = this.#resting.get(origin) ?? new RestingLine(() => this.reportOf(origin).waitMs)
    this.#resting.set(origin, line)
    line.rest(request, lane)
  }

  /**
   * Returns the error for a request that need not wait to be rejected: a probe has failed, and the next
   * one may not start yet.
   */
  refusalOf(check: RestingUrl, limits: SiteCircuit | undefined): CircuitOpenError | undefined {
    const circuit = this.#circuits.all.get(check.origin)
    if (circuit === undefined || limits === undefined || !this.#isRefusing(circuit, limits)) return undefined
    return new CircuitOpenError(check.verdict, circuit, circuit.retryAt)
  }

  #isRefusing({ periods, retryAt }: OriginCircuit, { whenOpen }: SiteCircuit): boolean {
    return periods > 1 && whenOpen === 'fail' && this.#context.now() < retryAt
  }

  /**
   * A request has ended.
   * @param failure Undefined after a success.
   * @returns Whether the circuit is open now, as far as is known before the keeper replies.
   */
  settle(
    { origin }: Pick<RestingUrl, 'origin'>,
    limits: SiteCircuit,
    failure: (CircuitFailure & { readonly retryAfterMs?: number | undefined }) | undefined,
    probe: Ticket | undefined,
  ): boolean {
    if (failure?.kind !== 'connection') this.#network.works()
    if (failure === undefined) {
      if (probe !== undefined || !this.isClear(origin)) this.#tell(origin, limits, { ...SUCCESS, probe })
    } else if (failure.kind === 'connection' && this.#network.isDoubtful(origin, failure.because))
      this.giveBack(origin, limits, probe)
    else {
      const { kind, because, retryAfterMs } = failure
      const result = { kind: 'failure', failure: { kind, because }, retryAfterMs, probe } as const
      if (this.#tell(origin, limits, result)) return this.#opensAfterFailure(origin, limits, probe)
    }
    return this.reportOf(origin).state === 'open'
  }

  /**
   * Whether the circuit is open after a failure, while the reply of the keeper is due. Failures of
   * other processes since its last reply are not known yet.
   */
  #opensAfterFailure(origin: string, limits: SiteCircuit, probe: Ticket | undefined): boolean {
    const now = this.#context.now()
    const known = this.#circuits.all.get(origin) ?? closedCircuit
    if (probe !== undefined && known.periods > 0) return true
    return circuitReport(circuitAfter(known, limits, { kind: 'failure' }, now), now).state === 'open'
  }

  /** A probe was not sent, or its result is not known. */
  giveBack(origin: string, limits: SiteCircuit, probe: Ticket | undefined): void {
    if (probe !== undefined) this.#tell(origin, limits, { kind: 'unknown', probe })
  }

  /** Notes an attempt to fetch robots.txt, once. @param now By the clock of its client. */
  noteRobots(origin: string, access: Access, limits: SiteCircuit, now: number): void {
    const { reason, status, checkedAt } = access.failedRefresh ?? access
    const circuit = this.#circuits.all.get(origin)
    // The failure may be another worker's, and later than this attempt.
    const isOld = circuit !== undefined && now - checkedAt >= this.#context.now() - circuit.failedAt
    if (status !== undefined || !UNREACHED.has(reason)) {
      const isAnswer = status !== undefined && access.failedRefresh === undefined
      if (isAnswer && circuit?.failure?.kind === 'connection' && !isOld) this.#tell(origin, limits, SUCCESS)
      return
    }
    const failure = { kind: 'connection', because: reason as PageOutcomeReason } as const
    const isKnown = isOld && circuit.periods > 0
    if (isKnown || !limits.outcomes.has('connection') || this.#network.isDoubtful(origin, failure.because)) return
    const retryAfterMs = Math.max(0, access.nextAttemptAt - now)
    this.#tell(origin, limits, { kind: 'failure', failure, retryAfterMs, probe: 'robots' })
  }

  /** A request leaves its lane, and does not start. */
  remove(request: RestingRequest): void {
    this.#resting.get(request.check.origin)?.remove(request)
  }

  /** Rejects all requests that rest. */
  clear(error: unknown): void {
    for (const line of this.#resting.values()) line.rejectAll(() => error)
  }

  /** Returns whether the keeper replies later. */
  #tell(origin: string, limits: SiteCircuit, result: CircuitResult): boolean {
    const { failed } = this.#context
    try {
      const report = this.#keeper.settle(origin, limits, result)
      if (isPromise(report)) {
        Promise.resolve(report)
          .then((found) => this.#note(origin, limits, checkedReport('settle', found)))
          .catch((error: unknown) => failed(origin, error))
        return true
      }
      this.#note(origin, limits, checkedReport('settle', report))
    } catch (error) {
      failed(origin, error)
    }
    return false
  }

  /** Notes what the caller's pacer says about a circuit. */
  #note(origin: string, limits: SiteCircuit, report: CircuitReport): void {
    if (this.#context.keeper === undefined) return
    const { all } = this.#circuits
    const [oldest] = all.size < MAX_REMEMBERED || all.has(origin) ? [] : all.keys()
    this.#circuits.keep(origin, circuitFrom(report, all.get(origin), this.#context.now()), limits)
    if (oldest === undefined) return
    all.delete(oldest) // the keeper still knows the circuit
    this.#resume(oldest)
  }

  /** Reports the change of a circuit, and moves the requests that rest. */
  #onChange(origin: string, before: OriginCircuit, after: OriginCircuit, limits: SiteCircuit): void {
    const { counters, log, now } = this.#context
    if (after.periods > before.periods || (after.periods === 0 && before.periods > 0)) {
      const report = circuitReport(after, now())
      if (before.periods === 0) {
        counters.circuitsOpened++
        log.circuitOpened(origin, report)
      } else if (after.periods === 0) log.circuitClosed(origin)
      this.#publish(origin, report)
    }
    const line = this.#resting.get(origin)
    if (after.periods === 0) this.#resume(origin)
    else if (after.periods > before.periods && this.#isRefusing(after, limits)) {
      this.#resting.delete(origin)
      line?.rejectAll(({ check }) => new CircuitOpenError(check.verdict, after, after.retryAt))
    } else line?.arm()
  }

  /** The requests of this origin that rest go back to their lanes. */
  #resume(origin: string): void {
    const line = this.#resting.get(origin)
    this.#resting.delete(origin)
    line?.resumeAll()
  }

  #publish(origin: string, { state, failures, periods, waitMs, failure }: CircuitReport): void {
    if (!channels.circuit.hasSubscribers) return
    const { gate, counters, now } = this.#context
    channels.circuit.publish({ gate, counters, at: now(), origin, state, failures, periods, waitMs, failure })
  }
}

/** Returns the circuit that a report means. @param now When the report came. */
function circuitFrom(report: CircuitReport, before: OriginCircuit = closedCircuit, now: number): OriginCircuit {
  const { state, failures, periods, waitMs, failure } = report
  const [isClosed, endsAt] = [state === 'closed', now + waitMs]
  return {
    ...closedCircuit,
    failures: isClosed ? failures : Math.max(1, failures),
    periods: isClosed ? 0 : Math.max(1, periods),
    retryAt: state === 'open' ? endsAt : now,
    probeUntil: state === 'half-open' ? endsAt : 0,
    failure,
    failedAt: failures > before.failures ? now : before.failedAt,
  }
}

/** @throws {PacerError} for an invalid reply. */
function checkedReport<R extends CircuitReport>(method: 'admit' | 'settle', report: R): R {
  const { state, failures, periods, waitMs } = (report ?? {}) as Partial<CircuitReport>
  const isState = state === 'closed' || state === 'open' || state === 'half-open'
  if (isState && [failures, periods, waitMs].every((value) => Number.isFinite(value) && Number(value) >= 0))
    return report
  throw new PacerError(method, report, "{ state: 'closed', 'open' or 'half-open', failures, periods, waitMs }")
}
