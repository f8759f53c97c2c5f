// The pace of one pace key: when its next request may start. Pure functions; the caller keeps the state.
import { retryAfterMs } from '../http/retry-after.ts'
import type { Delay } from './delay.ts'
import { DAY_MS, type Hours, nextVisitTimeAt } from './hours.ts'

/** What a pause comes from: a delay, or a response that asked for one. */
export type PauseReason = Delay['because'] | 'retry-after' | 'backoff'

/** The pace of one pace key: when its next request may start, and the pushbacks (429 or 503) that it has had. */
export interface Pace {
  /** The earliest start of the next request. Milliseconds since 1970. */
  readonly nextSlotAt: number
  /** What `nextSlotAt` comes from. */
  readonly because: PauseReason
  /** How many slots were taken. The first slot has number 1. */
  readonly slots: number
  /** How many pushbacks (429 or 503) came in a row. Those of requests that were under way at the same time count as one. */
  readonly pushbacks: number
  /** The value of `slots` when the last counted pushback came. Requests with these slot numbers started before it was known. */
  readonly slotsAtPushback: number
  /** The pushback pause that ends last. It is kept even if `nextSlotAt` is later for another reason. */
  readonly pushbackPause: PushbackPause
}

/** A pause that a response with status 429 or 503 caused. */
export interface PushbackPause {
  /** Milliseconds since 1970. */
  readonly until: number
  readonly because: 'retry-after' | 'backoff'
}

/** The pace of a pace key without requests: the first one may start at once. */
export const startPace: Pace = {
  nextSlotAt: 0,
  because: 'own-delay',
  slots: 0,
  pushbacks: 0,
  slotsAtPushback: 0,
  pushbackPause: { until: 0, because: 'backoff' },
}

/** When the next request may start, and why it has to wait. */
export interface Slot {
  /** Milliseconds since 1970. */
  readonly at: number
  /** `none`: the request may start now. */
  readonly because: PauseReason | 'visit-time' | 'none'
}

/** Returns the next slot from `now` on. */
export function nextSlot({ nextSlotAt, because }: Pace, now: number, visitTimes: readonly Hours[] = []): Slot {
  const isLater = nextSlotAt > now
  const at = isLater ? nextSlotAt : now
  const opens = nextVisitTimeAt(visitTimes, at)
  if (opens > at) return { at: opens, because: 'visit-time' }
  return { at, because: isLater ? because : 'none' }
}

/** Returns the pace after a request that starts now. A longer pause stays. */
export function takeSlot(pace: Pace, now: number, { delayMs, because }: Delay): Pace {
  const { nextSlotAt, slots } = pace
  const next = now + delayMs
  return next >= nextSlotAt ? { ...pace, nextSlotAt: next, because, slots: slots + 1 } : { ...pace, slots: slots + 1 }
}

/** Returns the pace after the request that took the last slot starts late: the delay after it counts from now. */
export function shiftPause(pace: Pace, now: number, { delayMs, because }: Delay): Pace {
  const next = now + delayMs
  return next > pace.nextSlotAt ? { ...pace, nextSlotAt: next, because } : pace
}

/**
 * Returns the pace after a request gave back its slot without a start. The slot is free again, unless another was taken since. A pushback
 * pause stays.
 */
export function returnSlot(pace: Pace, slot: number, now: number): Pace {
  const { until, because } = pace.pushbackPause
  const free = Math.max(until, now)
  return slot !== pace.slots || pace.nextSlotAt <= free ? pace : { ...pace, nextSlotAt: free, because }
}

/** The parts of a response that affect the pace. */
export interface PaceResponse {
  readonly status: number
  /** The Retry-After header. */
  readonly retryAfter: string | undefined
}

/** The pause after the first pushback without Retry-After. Each further pushback doubles it, up to the maximum. Our choice. */
const FIRST_BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 300_000

/** The longest pause that Retry-After can cause: a mistyped value must not end a crawl. Our choice. */
const MAX_RETRY_AFTER_MS = DAY_MS

/** Returns whether a response is a pushback. */
export function isPushback({ status }: Pick<PaceResponse, 'status'>): boolean {
  return status === 429 || status === 503
}

/**
 * Returns the pace after the response to the request with this slot. A pushback causes a pause: the time in Retry-After, or a growing
 * backoff. Any other response ends the growth.
 *
 * A request that started before the last pushback came says nothing new: its pushback does not count again, and its success does not
 * end the growth. Its Retry-After still applies if it ends later.
 */
export function applyResponse(pace: Pace, response: PaceResponse, slot: number, now: number): Pace {
  const isOld = pace.pushbacks > 0 && slot <= pace.slotsAtPushback
  if (!isPushback(response)) return isOld || pace.pushbacks === 0 ? pace : { ...pace, pushbacks: 0 }
  const requestedMs = retryAfterMs(response.retryAfter, now)
  if (isOld && requestedMs === undefined) return pace
  const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** pace.pushbacks, MAX_BACKOFF_MS)
  const until = now + Math.min(requestedMs ?? backoffMs, MAX_RETRY_AFTER_MS)
  const because = requestedMs === undefined ? 'backoff' : 'retry-after'
  return {
    ...pace,
    ...(!isOld && { pushbacks: pace.pushbacks + 1, slotsAtPushback: pace.slots }),
    ...(until > pace.nextSlotAt && { nextSlotAt: until, because }),
    ...(until > pace.pushbackPause.until && { pushbackPause: { until, because } }),
  }
}

/**
 * Returns whether the pace may be forgotten without consequence: its next slot is free, and after a pushback another five minutes have
 * passed.
 */
export function canForget({ nextSlotAt, pushbacks }: Pace, now: number): boolean {
  return now >= nextSlotAt + (pushbacks > 0 ? MAX_BACKOFF_MS : 0)
}
