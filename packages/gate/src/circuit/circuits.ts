// The circuits of a gate: which origins get no requests for a time, because the last requests failed.
//
// The keeper stores the circuits: the gate's pacer, or `LocalCircuits` if the pacer has no methods for
// them. This class asks it before a request starts (`admit`) and tells it how the request ended
// (`settle`). It remembers the keeper's last reply for each origin with failures, and holds the
// requests that rest until their circuit closes (`OriginCircuit`).
import type { Access, PageOutcomeReason } from '@politely/core'
import { failuresThatAre } from '@politely/core/engine'
import { setBounded } from '@politely/fetcher/internal'
import type { SiteCircuit } from '../options/circuit.ts'
import { isPromise } from '../pace/is-promise.ts'
import { LocalCircuits } from '../pace/local-circuits.ts'
import type { Admission, CircuitFailure, CircuitReport, CircuitResult, Pacer, Ticket } from '../pace/pacer.ts'
import { CircuitOpenError, PacerError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import type { GateLog } from '../report/gate-log.ts'
import { type CheckedUrl, OriginCircuit, type RestingLane, type RestingRequest } from './origin-circuit.ts'
import { OwnNetwork } from './own-network.ts'

/** For how many origins with failures the last reply is remembered. Our choice. */
const MAX_REMEMBERED = 10_000

const CLOSED: CircuitReport = { state: 'closed', failures: 0, periods: 0, waitMs: 0 }
const SUCCESS: CircuitResult = { kind: 'success' }

/** The reasons of robots.txt that say that its host cannot be reached. */
const UNREACHED = failuresThatAre('unreached')

export type CircuitKeeper = Required<Pick<Pacer, 'admit' | 'settle'>> & {
  /** Whether no request to this origin has failed since the last success. */
  isClear?(origin: string): boolean
}

/** Returns what keeps the circuits: the pacer, or this process if the pacer lacks the methods for it. */
export function keeperOf(pacer: Pacer, now: () => number): CircuitKeeper {
  return pacer.admit !== undefined && pacer.settle !== undefined ? (pacer as CircuitKeeper) : new LocalCircuits(now)
}

/** What the circuits need of their gate. */
export interface CircuitsContext extends EventSource {
  readonly log: GateLog
  readonly keeper: CircuitKeeper
  /** Counts and publishes a failure of the keeper. */
  readonly failed: (origin: string, error: unknown) => void
}

export class Circuits {
  readonly #context: CircuitsContext
  readonly #origins = new Map<string, OriginCircuit>()
  readonly #network = new OwnNetwork()
  /** The end of the last attempt to fetch robots.txt that the circuit of its origin knows. */
  readonly #robotsAt = new Map<string, number>()

  constructor(context: CircuitsContext) {
    this.#context = context
  }

  /** How many circuits are open or half-open, as far as this gate knows. */
  get open(): number {
    let open = 0
    for (const { report } of this.#origins.values()) if (report.state !== 'closed') open++
    return open
  }

  /** The state of the circuit of an origin, as far as this gate knows. */
  reportOf(origin: string): CircuitReport {
    return this.#origins.get(origin)?.current ?? CLOSED
  }

  /**
   * Whether no request to this origin has failed since the last success, as far as is known without
   * a call of another process.
   */
  isClear(origin: string): boolean {
    return (this.#origins.size === 0 || !this.#origins.has(origin)) && this.#context.keeper.isClear?.(origin) !== false
  }

  /**
   * Asks whether the request may start, and makes it the probe if it is one. Never throws. Undefined
   * if the keeper fails: that stops no request, and says nothing of the circuit.
   * @param key The pace key of the request.
   */
  admit(origin: string, limits: SiteCircuit, key: string): Admission | undefined | Promise<Admission | undefined> {
    const { keeper, failed } = this.#context
    const checked = (admission: Admission) => checkedReport('admit', admission)
    const noteFailure = (error: unknown) => void failed(origin, error)
    try {
      const admission = keeper.admit(origin, limits, key)
      return isPromise(admission) ? Promise.resolve(admission).then(checked).catch(noteFailure) : checked(admission)
    } catch (error) {
      return noteFailure(error)
    }
  }

  /** Returns whether a request that `admit` replied to may start. */
  passes(origin: string, limits: SiteCircuit, admission: Admission): boolean {
    this.#note(origin, limits, admission)
    return admission.state === 'closed' || admission.probe !== undefined
  }

  /**
   * Holds a request that may not start: it rests until the circuit closes, or is rejected.
   * @param lane Where the request goes back to.
   */
  hold(request: RestingRequest, lane: RestingLane, limits: SiteCircuit): void {
    const circuit = this.#circuitOf(request.check.origin, limits)
    if (circuit.isRefusing) request.fail(this.#refusal(request.check, circuit))
    else circuit.rest(request, lane)
  }

  /** Returns the error for a request that need not wait to be rejected. */
  refusalOf(check: CheckedUrl): CircuitOpenError | undefined {
    const circuit = this.#origins.get(check.origin)
    return circuit?.isRefusing ? this.#refusal(check, circuit) : undefined
  }

  /**
   * A request has ended.
   * @param failure Undefined after a success.
   */
  settle(
    check: CheckedUrl,
    limits: SiteCircuit,
    failure: (CircuitFailure & { readonly retryAfterMs?: number | undefined }) | undefined,
    probe: Ticket | undefined,
  ): void {
    const { origin } = check
    if (failure?.kind !== 'connection') this.#network.works()
    if (failure === undefined) {
      if (probe !== undefined || !this.isClear(origin)) this.#tell(origin, limits, { ...SUCCESS, probe })
    } else if (failure.kind === 'connection' && this.#network.isDoubtful(origin, failure.because))
      this.giveBack(origin, limits, probe)
    else {
      const { kind, because, retryAfterMs } = failure
      const { access } = check.verdict
      if (access !== undefined) this.#knowsRobots(origin, access) // fetched before this failure
      this.#tell(origin, limits, { kind: 'failure', failure: { kind, because }, retryAfterMs, probe })
    }
  }

  /** A probe was not sent, or its result is not known. */
  giveBack(origin: string, limits: SiteCircuit, probe: Ticket | undefined): void {
    if (probe !== undefined) this.#tell(origin, limits, { kind: 'unknown', probe })
  }

  /** Notes the last attempt to fetch robots.txt. @param now By the clock of its client. */
  noteRobots(origin: string, access: Access, limits: SiteCircuit, now: number): void {
    const { reason, status } = access.failedRefresh ?? access
    const hasFailed = status === undefined && UNREACHED.has(reason)
    if (status === undefined && !(hasFailed && limits.outcomes.has('connection'))) return
    if (!hasFailed && this.isClear(origin)) return
    if (this.#knowsRobots(origin, access)) return
    if (hasFailed) {
      const failure = { kind: 'connection', because: reason as PageOutcomeReason } as const
      const retryAfterMs = Math.max(0, access.nextAttemptAt - now)
      if (!this.#network.isDoubtful(origin, failure.because))
        this.#tell(origin, limits, { kind: 'failure', failure, retryAfterMs, probe: 'robots' })
      return
    }
    const circuit = this.#origins.get(origin)
    if (circuit?.report.failure?.kind !== 'connection' || access.failedRefresh !== undefined) return
    // The failure may be another worker's, and later than this robots.txt.
    if (now - access.checkedAt < circuit.sinceFailureMs) this.#tell(origin, limits, SUCCESS) // the site answers again
  }

  /** Remembers the last attempt to fetch robots.txt. Returns whether it was known. */
  #knowsRobots(origin: string, access: Access): boolean {
    const { checkedAt } = access.failedRefresh ?? access
    if (this.#robotsAt.get(origin) === checkedAt) return true
    setBounded(this.#robotsAt, origin, checkedAt, MAX_REMEMBERED)
    return false
  }

  /** A request leaves its lane, and does not start. */
  remove(request: RestingRequest): void {
    this.#origins.get(request.check.origin)?.remove(request)
  }

  /** Rejects all requests that rest. */
  clear(error: unknown): void {
    for (const circuit of this.#origins.values()) circuit.rejectAll((request) => request.fail(error))
  }

  #tell(origin: string, limits: SiteCircuit, result: CircuitResult): void {
    const { keeper, failed } = this.#context
    try {
      const report = keeper.settle(origin, limits, result)
      if (isPromise(report))
        Promise.resolve(report)
          .then((found) => this.#note(origin, limits, checkedReport('settle', found)))
          .catch((error: unknown) => failed(origin, error))
      else this.#note(origin, limits, checkedReport('settle', report))
    } catch (error) {
      failed(origin, error)
    }
  }

  /** Notes what the keeper says about a circuit, and reports a change. */
  #note(origin: string, limits: SiteCircuit, report: CircuitReport): void {
    const known = this.#origins.get(origin)
    if (known === undefined && report.failures === 0) return
    const circuit = known ?? this.#circuitOf(origin, limits)
    const before = circuit.report
    if (report.failures === 0) this.#origins.delete(origin)
    const { counters, log } = this.#context
    if (report.periods > before.periods) {
      if (before.state === 'closed') {
        counters.circuitsOpened++
        log.circuitOpened(origin, report)
      }
      this.#publish(origin, report)
    } else if (report.state === 'closed' && before.state !== 'closed') {
      log.circuitClosed(origin)
      this.#publish(origin, report)
    }
    circuit.update(report, (request) => request.fail(this.#refusal(request.check, circuit)))
  }

  #publish(origin: string, { state, failures, periods, waitMs, failure }: CircuitReport): void {
    if (!channels.circuit.hasSubscribers) return
    const { gate, counters, now } = this.#context
    channels.circuit.publish({ gate, counters, at: now(), origin, state, failures, periods, waitMs, failure })
  }

  #refusal(check: CheckedUrl, { report, retryAt }: OriginCircuit): CircuitOpenError {
    return new CircuitOpenError(check.verdict, report, retryAt)
  }

  #circuitOf(origin: string, limits: SiteCircuit): OriginCircuit {
    let circuit = this.#origins.get(origin)
    if (circuit === undefined) {
      circuit = new OriginCircuit(limits.whenOpen, this.#context.now)
      const [oldest] = this.#origins.size < MAX_REMEMBERED ? [] : this.#origins
      if (oldest !== undefined) this.#origins.delete(oldest[0])
      this.#origins.set(origin, circuit)
      oldest?.[1].resumeAll() // the keeper still knows the circuit
    }
    return circuit
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
