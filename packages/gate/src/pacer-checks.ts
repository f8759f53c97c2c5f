// What a pacer answers, checked: a pacer of the caller's own may be a service elsewhere.
import { PacerError } from './errors.ts'
import type { PaceReason, Reservation, WaitEstimate } from './pacer.ts'

const REASONS: Readonly<Record<PaceReason, true>> = {
  'own-delay': true,
  'crawl-delay': true,
  'request-rate': true,
  'visit-time': true,
  'retry-after': true,
  backoff: true,
  cap: true,
}

const REASON = `because one of ${Object.keys(REASONS).join(', ')}`
const SLOT = "{ kind: 'slot', ticket, delay: { delayMs, because } }"
const WAIT = "{ kind: 'wait', ticket, waitMs, because }"

/** @throws {PacerError} for an answer of `reserve` that is not a turn. */
export function checkedReservation(turn: Reservation): Reservation {
  const { kind, ticket } = fieldsOf(turn)
  const isTicket = typeof ticket === 'string' || typeof ticket === 'number'
  if (kind === 'slot' && isTicket && isDelay(fieldsOf(turn).delay)) return turn
  if (kind === 'wait' && (isTicket || ticket === undefined) && isWait(turn, isReason)) return turn
  throw new PacerError('reserve', turn, `${SLOT} or ${WAIT}, with times in milliseconds and ${REASON}`)
}

/** @throws {PacerError} for an answer of `foresee` that is not a forecast. */
export function checkedEstimate(foreseen: WaitEstimate): WaitEstimate {
  if (isWait(foreseen, (because) => because === 'none' || isReason(because))) return foreseen
  throw new PacerError('estimate', foreseen, `{ waitMs, because }, with milliseconds and ${REASON}, or none`)
}

function isDelay(delay: unknown): boolean {
  const { delayMs, because } = fieldsOf(delay)
  return typeof delayMs === 'number' && Number.isFinite(delayMs) && delayMs >= 0 && isReason(because)
}

function isWait(answer: unknown, isKnown: (because: unknown) => boolean): boolean {
  const { waitMs, because } = fieldsOf(answer)
  return Number.isFinite(waitMs) && isKnown(because)
}

function isReason(because: unknown): boolean {
  return typeof because === 'string' && Object.hasOwn(REASONS, because)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
