// Calls a pacer on behalf of the gate. The caller may supply a pacer, such as one that asks a
// service for a fleet of crawlers. So the gate validates its replies and contains its failures.
import type { Delay, PaceLimits, PaceResponse, PauseReason } from '@politely/core/engine'
import { isPromise } from '../pace/is-promise.ts'
import type { PaceReason, Pacer, Reservation, Ticket, WaitEstimate } from '../pace/pacer.ts'
import { PacerError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'

const REASONS: Readonly<Record<PaceReason, true>> = {
  'own-delay': true,
  'crawl-delay': true,
  'request-rate': true,
  'visit-time': true,
  'retry-after': true,
  backoff: true,
  'rate-limit': true,
  cap: true,
  'slow-site': true,
  'pacer-failure': true,
}

const REASON = `because one of ${Object.keys(REASONS).join(', ')}`
const SLOT = "{ kind: 'slot', ticket, delay: { delayMs, because }, startWithinMs? }"
const WAIT = "{ kind: 'wait', ticket, waitMs, because }"

export class CheckedPacer {
  readonly #pacer: Pacer
  readonly #source: EventSource

  constructor(pacer: Pacer, source: EventSource) {
    this.#pacer = pacer
    this.#source = source
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
  ): Reservation | Promise<Reservation> {
    const reservation = this.#pacer.reserve(key, limits, ticket, furtherSlots, seesSending, allowanceMs)
    return isPromise(reservation)
      ? Promise.resolve(reservation).then(checkedReservation)
      : checkedReservation(reservation)
  }

  /**
   * @throws {PacerError} for an invalid reply; also whatever the pacer throws. A promise rejects
   * with the same.
   */
  estimate(key: string, limits: PaceLimits, ahead: number, willReserve = false): WaitEstimate | Promise<WaitEstimate> {
    const estimate = this.#pacer.estimate(key, limits, ahead, willReserve)
    return isPromise(estimate) ? Promise.resolve(estimate).then(checkedEstimate) : checkedEstimate(estimate)
  }

  /** Whether the pacer has the optional method `pause`. */
  get canPause(): boolean {
    return this.#pacer.pause !== undefined
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

  report(key: string, ticket: Ticket, response: PaceResponse): void {
    this.#contain(key, () => this.#pacer.report(key, ticket, response))
  }

  pause(key: string, pauseMs: number, because: PauseReason): void {
    this.#contain(key, () => this.#pacer.pause?.(key, pauseMs, because))
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void {
    this.#contain(key, () => this.#pacer.end(key, ticket, limits, tookMs))
  }

  /** Counts and publishes a failure of the pacer that no request can be rejected with. */
  failed(key: string, error: unknown): void {
    const { gate, now, counters } = this.#source
    counters.failures++
    if (channels.failure.hasSubscribers) channels.failure.publish({ gate, counters, at: now(), key, error })
  }

  #contain(key: string, call: () => void | Promise<void>): void {
    try {
      const result = call()
      if (isPromise(result)) Promise.resolve(result).catch((error: unknown) => this.failed(key, error))
    } catch (error) {
      this.failed(key, error)
    }
  }
}

function checkedReservation(reservation: Reservation): Reservation {
  const { kind, ticket, delay, startWithinMs, nextAfterMs } = fieldsOf(reservation)
  const isTicket = typeof ticket === 'string' || typeof ticket === 'number'
  const areTimes = [startWithinMs, nextAfterMs].every((ms) => ms === undefined || isDuration(ms))
  if (kind === 'slot' && isTicket && isDelay(delay) && areTimes) return reservation
  if (kind === 'wait' && (isTicket || ticket === undefined) && isWait(reservation, isReason)) return reservation
  throw new PacerError('reserve', reservation, `${SLOT} or ${WAIT}, with times in milliseconds and ${REASON}`)
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
  return typeof because === 'string' && Object.hasOwn(REASONS, because)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
