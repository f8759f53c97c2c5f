// Calls a pacer on behalf of the gate. The caller may supply a pacer, such as one that asks a
// service for a fleet of crawlers. So the gate validates its replies, contains its failures, and
// tells the caller of them: a pacer with a wrong address would look like a hang.

import type { Delay, PaceLimits, PaceResponse, PauseReason } from '@politely/core/engine'
import { escapeControls, isPromise, textWithoutCredentials } from '@politely/core/internal'
import { messageOf } from '@politely/fetcher/internal'
import type { LeaseTerms, Pacer, PacerOutage, Reservation, Ticket, WaitEstimate } from '../pace/pacer.ts'
import { PACE_REASONS } from '../pace/wait-cause.ts'
import { PacerError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import type { GateLog } from '../report/gate-log.ts'

const REASON = `because one of ${Object.keys(PACE_REASONS).join(', ')}`
const SLOT = "{ kind: 'slot', ticket, delay: { delayMs, because }, startWithinMs?, ended? }"
const WAIT = "{ kind: 'wait', ticket, waitMs, because, ended? }"

/**
 * A pacer that has failed for one key works again after this time without a failure, if it answers
 * for other keys: the failed key may have no more requests. Milliseconds. Our choice, longer than a
 * `FleetPacer` waits before it tries again.
 */
const QUIET_MS = 10_000

/** The methods whose replies requests wait for. */
type Asked = 'reserve' | 'estimate'

interface Failing extends PacerOutage {
  readonly call: Asked
  readonly key: string
  /** By the gate's clock. */
  readonly at: number
  readonly isLogged: boolean
}

/** The pacers of which a process warning says that they fail. */
const warned = new WeakSet<Pacer>()

export class CheckedPacer {
  readonly #pacer: Pacer
  readonly #isOwn: boolean
  readonly #source: EventSource
  readonly #log: GateLog
  /** The last failure of `reserve` or `estimate`, until the pacer works again. */
  #failing: Failing | undefined
  /** The calls of `report` and `pause` that the pacer has not replied to. */
  readonly #untold = new Set<Promise<void>>()
  /** Whether another object tells of the outages of the pacer, so that this one doesn't. */
  isWatched = false
  /** Whether the log says that a call failed that no waiting request depends on. */
  #hasLoggedLoss = false

  /** @param isOwn Whether the gate has created the pacer: its replies need no check. */
  constructor(pacer: Pacer, isOwn: boolean, source: EventSource, log: GateLog) {
    this.#pacer = pacer
    this.#isOwn = isOwn
    this.#source = source
    this.#log = log
  }

  /** The outage of the pacer, as it says itself, or as its replies say. */
  get outage(): PacerOutage | undefined {
    return 'outage' in this.#pacer ? this.#pacer.outage : this.#failing
  }

  /** Calls the pacer without a request. Undefined if it can't be called so. */
  get probe(): (() => Promise<void>) | undefined {
    return this.#pacer.probe?.bind(this.#pacer)
  }

  /** The class of the pacer, such as RedisPacer. */
  get name(): string {
    const { name = '' } = this.#pacer.constructor ?? {}
    return name === '' || name === 'Object' ? 'the pacer' : name
  }

  /**
   * @throws {PacerError} for an invalid reply; also whatever the pacer throws. A promise rejects
   * with the same.
   */
  reserve(
    key: string,
    limits: PaceLimits,
    ticket: Ticket | undefined,
    furtherSlots: number,
    seesSending: boolean,
    allowanceMs: number,
    lease: LeaseTerms | undefined,
    waiting: number | undefined,
  ): Reservation | Promise<Reservation> {
    try {
      const pacer = this.#pacer
      const reply = pacer.reserve(key, limits, ticket, furtherSlots, seesSending, allowanceMs, lease, waiting)
      if (this.#isOwn) return reply
      return isPromise(reply)
        ? this.#settled('reserve', key, reply, checkedReservation)
        : this.#answered('reserve', key, checkedReservation(reply))
    } catch (error) {
      return this.#rejected('reserve', key, error)
    }
  }

  /**
   * @throws {PacerError} for an invalid reply; also whatever the pacer throws. A promise rejects
   * with the same.
   */
  estimate(key: string, limits: PaceLimits, ahead: number, willReserve = false): WaitEstimate | Promise<WaitEstimate> {
    const estimate = this.#pacer.estimate(key, limits, ahead, willReserve)
    if (this.#isOwn) return estimate
    return isPromise(estimate)
      ? this.#settled('estimate', key, estimate, checkedEstimate)
      : this.#answered('estimate', key, checkedEstimate(estimate))
  }

  /** Whether the pacer has the optional method `pause`. */
  get canPause(): boolean {
    return this.#pacer.pause !== undefined
  }

  /** Whether the pacer counts the requests under way of all processes: see `Pacer`. */
  get countsUnderWay(): boolean {
    return this.#pacer.countsUnderWay ?? false
  }

  /** Resolves to false if the lease was over, or if the pacer fails. */
  async renew(key: string, ticket: Ticket, leaseMs: number): Promise<boolean> {
    try {
      return (await this.#pacer.renew?.(key, ticket, leaseMs)) ?? false
    } catch (error) {
      this.failed(key, error)
      return false
    }
  }

  // The request of these calls has started, ended or gone already, so a failure must not reach it.
  // It is counted and published instead.

  started(key: string, ticket: Ticket, delay: Delay): void {
    this.#contain(key, () => this.#pacer.started?.(key, ticket, delay))
  }

  sent(key: string, ticket: Ticket, delay: Delay, agoMs: number | undefined): void {
    this.#contain(key, () => this.#pacer.sent?.(key, ticket, delay, agoMs))
  }

  cancel(key: string, ticket: Ticket): void {
    this.#contain(key, () => this.#pacer.cancel(key, ticket))
  }

  release(key: string, ticket: Ticket): void {
    this.#contain(key, () => this.#pacer.release?.(key, ticket))
  }

  report(key: string, ticket: Ticket, response: PaceResponse, onceMs?: number): void {
    this.#contain(key, () => this.#pacer.report(key, ticket, response, onceMs), this.#untold)
  }

  pause(key: string, pauseMs: number, because: PauseReason): void {
    this.#contain(key, () => this.#pacer.pause?.(key, pauseMs, because), this.#untold)
  }

  /** Resolves when the pacer has replied to all calls of `report` and `pause` so far. */
  async told(): Promise<void> {
    await Promise.all(this.#untold)
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void {
    this.#contain(key, () => this.#pacer.end(key, ticket, limits, tookMs))
  }

  /** Counts, publishes and logs a failure of the pacer that no request can be rejected with. */
  failed(key: string, error: unknown): void {
    const { gate, now, counters } = this.#source
    counters.failures++
    if (channels.failure.hasSubscribers) channels.failure.publish({ gate, counters, at: now(), key, error })
    this.#tell(error, 'what it should have kept, such as the pause of a site, may be lost', !this.#hasLoggedLoss)
    this.#hasLoggedLoss = true
  }

  async #settled<R extends Reservation | WaitEstimate>(
    call: Asked,
    key: string,
    pending: Promise<R>,
    check: (reply: R) => R,
  ): Promise<R> {
    try {
      return this.#answered(call, key, check(await pending))
    } catch (error) {
      return this.#rejected(call, key, error)
    }
  }

  /** A reply may say that the pacer fails: the request waits, or the pacer goes on without its server. */
  #answered<R extends Reservation | WaitEstimate>(call: Asked, key: string, reply: R): R {
    const error = this.#pacer.failureOf?.(key)
    const waits = 'because' in reply && reply.because === 'pacer-failure'
    if (waits) this.#fails(call, key, error, 'requests wait until it answers')
    else if (error !== undefined) this.#fails(call, key, error, 'until it answers, this process keeps the pace alone')
    else if (this.#failing !== undefined) this.#works(call, key, this.#failing)
    return reply
  }

  /** What `estimate` throws reaches a caller who looks at it, or a log line that goes without it. */
  #rejected(call: Asked, key: string, error: unknown): never {
    if (call === 'reserve') this.#fails(call, key, error, 'the request is rejected')
    throw error
  }

  #fails(call: Asked, key: string, error: unknown, effect: string): void {
    const at = this.#source.now()
    const { isLogged = false, since = at, failures = 0 } = this.#failing ?? {}
    const seen = { call, key, at, since, failures: failures + 1, error, grants: false }
    this.#failing = { ...seen, isLogged: isLogged || error !== undefined }
    if (!this.isWatched) this.#tell(error, effect, !isLogged)
  }

  #works(call: Asked, key: string, failing: Failing): void {
    const isQuiet = this.#source.now() - failing.at > QUIET_MS
    if (!isQuiet && (call !== failing.call || key !== failing.key)) return
    this.#failing = undefined
    if (failing.isLogged && !this.isWatched) this.#log.warn(`${this.name} works again`)
  }

  /** Warns of a failure: in the log, and once for each pacer of the process. */
  #tell(error: unknown, effect: string, logs: boolean): void {
    const cause = error === undefined ? "it replies 'pacer-failure'" : textWithoutCredentials(messageOf(error))
    if (logs && error !== undefined) this.#log.warn(`${this.name} fails: ${cause}; ${effect}`)
    if (warned.has(this.#pacer)) return
    warned.add(this.#pacer)
    const hasServer = error === undefined || this.#pacer.failureOf !== undefined || isOfConnection(error)
    const isAway = hasServer && !(error instanceof PacerError)
    const hint = isAway ? '; check the address of its server, and that it runs' : ''
    process.emitWarning(escapeControls(`${this.name} fails: ${cause}; ${effect}${hint}`), {
      type: 'PolitelyWarning',
      code: 'POLITELY_PACER',
    })
  }

  /** @param pending Has the call until the pacer has replied. */
  #contain(key: string, call: () => void | Promise<void>, pending?: Set<Promise<void>>): void {
    try {
      const result = call()
      if (!isPromise(result)) return
      const contained: Promise<void> = Promise.resolve(result)
        .catch((error: unknown) => this.failed(key, error))
        .finally(() => pending?.delete(contained))
      pending?.add(contained)
    } catch (error) {
      this.failed(key, error)
    }
  }
}

/** Whether an error, or one that it stands for, is of a connection. */
function isOfConnection(error: unknown): boolean {
  const { cause, errors } = fieldsOf(error)
  return [error, cause, ...(Array.isArray(errors) ? errors : [])].some((one) =>
    /^(?:ECONN|EHOST|ENET|EPIPE|ENOTFOUND|EAI_|ETIMEDOUT)/.test(String(fieldsOf(one).code)),
  )
}

function checkedReservation(reservation: Reservation): Reservation {
  const { kind, ticket, delay, startWithinMs, nextAfterMs, nextTicket, ended = [] } = fieldsOf(reservation)
  const isTicket = isTicketOf(ticket)
  const areTimes = [startWithinMs, nextAfterMs].every((ms) => ms === undefined || isDuration(ms))
  const areTickets = Array.isArray(ended) && [...ended, nextTicket ?? ''].every(isTicketOf)
  if (kind === 'slot' && isTicket && isDelay(delay) && areTimes && areTickets) return reservation
  if (areTickets && kind === 'wait' && (isTicket || ticket === undefined) && isWait(reservation, isReason))
    return reservation
  throw new PacerError('reserve', reservation, `${SLOT} or ${WAIT}, with times in milliseconds and ${REASON}`)
}

function isTicketOf(ticket: unknown): boolean {
  return typeof ticket === 'string' || typeof ticket === 'number'
}

function checkedEstimate(estimate: WaitEstimate): WaitEstimate {
  if (isWait(estimate, (because) => because === 'none' || isReason(because))) return estimate
  throw new PacerError('estimate', estimate, `{ waitMs, because }, with milliseconds and ${REASON}, or none`)
}

function isDelay(delay: unknown): boolean {
  const { delayMs, because } = fieldsOf(delay)
  return isDuration(delayMs) && isReason(because)
}

function isDuration(ms: unknown): boolean {
  return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0
}

function isWait(reply: unknown, isKnown: (because: unknown) => boolean): boolean {
  const { waitMs, because } = fieldsOf(reply)
  return Number.isFinite(waitMs) && isKnown(because)
}

function isReason(because: unknown): boolean {
  return typeof because === 'string' && Object.hasOwn(PACE_REASONS, because)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
