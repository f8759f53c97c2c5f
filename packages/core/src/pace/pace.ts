// The pace of one pace key: when its next request may start. Pure functions; the caller keeps the
// state.
//
// All times are in milliseconds by one clock of the caller, which must never go back. So it may
// differ from UTC, for example after the computer has slept. The functions that read UTC, for
// Visit-time, Request-rate and dates in Retry-After, take the difference as `utcOffsetMs`.
import { MAX_RETRY_AFTER_MS } from '../http/retry-after.ts'
import type { DayRange } from '../timed-records.ts'
import { type Delay, delayOf, type PaceLimits } from './delay.ts'
import { nextVisitTimeAt } from './hours.ts'
import { backoffMs, type PaceResponse, pushbackOf } from './pushback.ts'

/**
 * What a pause comes from: a delay, or a response that asked for one. `rate-limit`: its RateLimit
 * headers say that the quota is used up, or how fast it may be used.
 */
export type PauseReason = Delay['because'] | 'retry-after' | 'backoff' | 'rate-limit'

/**
 * The pace of one pace key: when its next request may start, and the pushbacks that it has had.
 */
export interface Pace {
  /** The earliest start of the next request. Milliseconds, by the caller's clock. */
  readonly nextSlotAt: number
  /** What `nextSlotAt` comes from. */
  readonly because: PauseReason
  /** How many slots were taken. The first slot has number 1. */
  readonly slots: number
  /**
   * How many pushbacks came in a row. Pushbacks of requests that were under way at the same time
   * count as one.
   */
  readonly pushbacks: number
  /**
   * The value of `slots` when the last counted pushback came. Requests with these slot numbers
   * started before it was known.
   */
  readonly slotsAtPushback: number
  /**
   * The longest pause of the backoff of the last counted pushback. If no request starts for this
   * time after the next slot, the series of pushbacks is over. Milliseconds.
   */
  readonly maxBackoffMs: number
  /**
   * The pause that a returned slot does not shorten. Such a pause begins with a pushback, when a
   * request was sent, or at the end of a request (`delayFactor`, `pauseFrom: 'end'`). Of several,
   * this is the pause that ends last. It is kept even if `nextSlotAt` is later for another reason.
   */
  readonly lastingPause: LastingPause
  /**
   * The request whose end begins the next delay. Undefined if none is under way, or if delays begin
   * at the start of requests.
   */
  readonly underWay: RequestUnderWay | undefined
}

/**
 * A request under way whose end begins the next delay (`pauseFrom: 'end'`).
 * @inline
 */
export interface RequestUnderWay {
  /**
   * From this time on the request counts as lost: its crawler may have stopped. Milliseconds, by
   * the caller's clock.
   */
  readonly until: number
  /** The delay after its end. */
  readonly delay: Delay
}

/**
 * How long a request may be under way with `pauseFrom: 'end'` before it counts as lost, in
 * milliseconds. Our choice.
 */
export const MAX_UNDER_WAY_MS = 120_000

/**
 * An estimate of a wait simulates at most this many requests ahead one by one. Each further one
 * adds one delay. Our choice.
 */
export const MAX_SIMULATED_REQUESTS = 100

/**
 * With a delay of 0, a waiting request calls again after this many milliseconds, to learn whether
 * the one under way has ended. Our choice.
 */
export const UNDER_WAY_WAIT_MS = 100

/**
 * A pause that a returned slot does not shorten: after a pushback, after a request was sent, or
 * after the end of a request.
 * @inline
 */
export interface LastingPause {
  /** Milliseconds, by the caller's clock. */
  readonly until: number
  readonly because: PauseReason
}

/** The pace of a pace key without requests: the first request may start at once. */
export const startPace: Pace = {
  nextSlotAt: 0,
  because: 'own-delay',
  slots: 0,
  pushbacks: 0,
  slotsAtPushback: 0,
  maxBackoffMs: 0,
  lastingPause: { until: 0, because: 'backoff' },
  underWay: undefined,
}

/**
 * When the next request may start, and why it has to wait.
 * @inline
 */
export interface Slot {
  /** Milliseconds, by the caller's clock. */
  readonly at: number
  /** `none`: the request may start now. */
  readonly because: PauseReason | 'visit-time' | 'none'
}

/**
 * Returns the next slot from `now` on. While a request is under way whose end begins the next
 * delay, that is the slot after an end right now: a request that waits until then and calls again
 * loses no time, or at most 100 ms with a delay of 0.
 * @param utcOffsetMs UTC minus the caller's clock. Milliseconds. Default 0.
 */
export function nextSlot(pace: Pace, now: number, visitTimes: readonly DayRange[] = [], utcOffsetMs = 0): Slot {
  const slot = slotAfterPause(pace, now)
  const utc = slot.at + utcOffsetMs
  const opens = nextVisitTimeAt(visitTimes, utc)
  return opens > utc ? { at: opens - utcOffsetMs, because: 'visit-time' } : slot
}

function slotAfterPause({ nextSlotAt, because, underWay }: Pace, now: number): Slot {
  if (underWay !== undefined && now < underWay.until) {
    const at = now + (underWay.delay.delayMs || UNDER_WAY_WAIT_MS)
    if (at >= nextSlotAt) return { at, because: underWay.delay.because }
  }
  return nextSlotAt > now ? { at: nextSlotAt, because } : { at: now, because: 'none' }
}

/**
 * A pace that its owner changes in place.
 * @inline
 */
export type MutablePace = { -readonly [Field in keyof Pace]: Pace[Field] }

/**
 * Returns the pace after a request that starts now. A longer pause stays. A series of pushbacks
 * that has become too old is over.
 */
export function takeSlot(pace: Pace, now: number, delay: Delay, pauseFrom?: PaceLimits['pauseFrom']): Pace {
  const next = { ...pace }
  takeSlotOf(next, now, delay, pauseFrom)
  return next
}

/**
 * Like `takeSlot`, but changes the pace itself.
 * @param allowanceMs How much later the request may be sent. Milliseconds. Without a delay it changes
 * nothing.
 */
export function takeSlotOf(
  pace: MutablePace,
  now: number,
  delay: Delay,
  pauseFrom: PaceLimits['pauseFrom'] = 'start',
  allowanceMs = 0,
): void {
  if (pace.pushbacks > 0 && canForget(pace, now)) pace.pushbacks = 0
  pace.slots++
  pace.underWay = pauseFrom === 'end' ? { until: now + MAX_UNDER_WAY_MS, delay } : undefined
  const next = now + delay.delayMs + (delay.delayMs > 0 ? allowanceMs : 0)
  if (next < pace.nextSlotAt) return
  pace.nextSlotAt = next
  pace.because = delay.because
}

/**
 * Returns the pace after the request that took the last slot starts late: the delay after it counts
 * from now.
 */
export function shiftPause(pace: Pace, now: number, { delayMs, because }: Delay): Pace {
  const next = now + delayMs
  return next > pace.nextSlotAt ? { ...pace, nextSlotAt: next, because } : pace
}

/**
 * Returns the pace after a request was sent: the delay after it counts from then. Another slot
 * that is returned does not shorten it.
 * @param slot The slot of the request. If no later slot was taken, the rest of its allowance is given
 * up: the next slot comes earlier. By default none.
 */
export function applySending(pace: Pace, at: number, { delayMs, because }: Delay, slot?: number): Pace {
  const next = addLastingPause(pace, at + delayMs, because)
  if (slot === undefined || slot !== pace.slots) return next
  const { until, because: why } = next.lastingPause
  return { ...next, nextSlotAt: until, because: why }
}

/**
 * Returns the pace after the end of the request with this slot. With `pauseFrom: 'end'` the delay
 * begins now. With `delayFactor`, it grows with the time that the request took.
 * @param tookMs The time since the start of the request. Milliseconds.
 * @param utcOffsetMs UTC minus the caller's clock. Milliseconds. Default 0.
 */
export function endRequest(
  pace: Pace,
  limits: PaceLimits,
  slot: number,
  now: number,
  tookMs: number,
  utcOffsetMs = 0,
): Pace {
  const { pauseFrom, delayFactor } = limits
  if (pauseFrom !== 'end' && !delayFactor) return pace
  const from = pauseFrom === 'end' ? now : now - tookMs
  const delay = delayOf(limits, from + utcOffsetMs, tookMs)
  return addLastingPause(withoutRequest(pace, slot), from + delay.delayMs, delay.because)
}

/**
 * Returns the pace after a request gave back its slot without a start. The slot is free again,
 * unless another was taken since. A pause that a response or the end of another request caused
 * stays.
 */
export function returnSlot(pace: Pace, slot: number, now: number): Pace {
  const { until, because } = pace.lastingPause
  const free = Math.max(until, now)
  const next = withoutRequest(pace, slot)
  return slot !== pace.slots || pace.nextSlotAt <= free ? next : { ...next, nextSlotAt: free, because }
}

/** Returns the pace without the request under way, if that is the request with this slot. */
function withoutRequest(pace: Pace, slot: number): Pace {
  return pace.underWay !== undefined && slot === pace.slots ? { ...pace, underWay: undefined } : pace
}

/**
 * Returns the pace after the response to the request with this slot. A pushback causes a pause: the
 * time in Retry-After, or a growing backoff if the header is absent, invalid, zero or in the past.
 * Any other response ends the growth.
 *
 * A request that started before the last pushback came says nothing new: its pushback does not
 * count again, and its success does not end the growth. Its Retry-After still applies if it ends
 * later.
 * @param utcOffsetMs UTC minus the caller's clock. Milliseconds. Default 0.
 */
export function applyResponse(pace: Pace, response: PaceResponse, slot: number, now: number, utcOffsetMs = 0): Pace {
  const isOld = pace.pushbacks > 0 && slot <= pace.slotsAtPushback
  const pushback = pushbackOf(response, now + utcOffsetMs)
  if (pushback === undefined) return isOld || pace.pushbacks === 0 ? pace : { ...pace, pushbacks: 0 }
  const { requestedMs, backoff } = pushback
  if (isOld && requestedMs === undefined) return pace
  const pauseMs = requestedMs ?? backoffMs(backoff, pace.pushbacks)
  const next = addLastingPause(pace, now + pauseMs, requestedMs === undefined ? 'backoff' : 'retry-after')
  if (isOld) return next
  return { ...next, pushbacks: pace.pushbacks + 1, slotsAtPushback: pace.slots, maxBackoffMs: backoff.maxMs }
}

/**
 * Returns the pace after the site has asked for a pause, and not by the response to the request of
 * a slot. A longer pause stays.
 * @param pauseMs Milliseconds; a day if it is longer.
 */
export function applyPause(pace: Pace, pauseMs: number, because: PauseReason, now: number): Pace {
  return addLastingPause(pace, now + Math.min(pauseMs, MAX_RETRY_AFTER_MS), because)
}

/** Returns the pace with a pause that a returned slot does not shorten. A longer pause stays. */
function addLastingPause(pace: Pace, until: number, because: PauseReason): Pace {
  return {
    ...pace,
    ...(until > pace.nextSlotAt && { nextSlotAt: until, because }),
    ...(until > pace.lastingPause.until && { lastingPause: { until, because } }),
  }
}

/**
 * Returns whether the pace may be forgotten without consequence: its next slot is free, no request
 * is under way whose end begins a delay, and after a pushback the longest pause of its backoff has
 * passed once more.
 */
export function canForget({ nextSlotAt, pushbacks, maxBackoffMs, underWay }: Pace, now: number): boolean {
  const until = nextSlotAt + (pushbacks > 0 ? maxBackoffMs : 0)
  return now >= until && now >= (underWay?.until ?? 0)
}
