// The pace of one origin: when its next request may leave. Values in, values out; the caller holds the state.
import { retryAfterMs } from '../http/retry-after.ts'
import type { Delay } from './delay.ts'
import { DAY_MS, type Hours, opensAt } from './hours.ts'

/** Who asks for a pause: the caller or the site, beforehand or by an answer. */
export type PauseReason = Delay['because'] | 'retry-after' | 'backoff'

export interface Pace {
  /** No request may leave before this moment. Milliseconds since 1970. */
  readonly nextSlotAt: number
  /** Who asked for that. */
  readonly because: PauseReason
  /** How many slots were taken; the first one is number 1. */
  readonly slots: number
  /** How many answers in a row asked for a pause (429 or 503). Those of requests that were under way together are one. */
  readonly pushbacks: number
  /** How many slots had been taken when the last of them came: requests up to this one left before it was known. */
  readonly heardAt: number
  /** The longest pause that an answer has asked for, also while a longer one holds. */
  readonly pushedBack: PushedBack
}

interface PushedBack {
  /** Milliseconds since 1970. */
  readonly until: number
  readonly because: 'retry-after' | 'backoff'
}

export const startPace: Pace = {
  nextSlotAt: 0,
  because: 'own-delay',
  slots: 0,
  pushbacks: 0,
  heardAt: 0,
  pushedBack: { until: 0, because: 'backoff' },
}

/** When the next request may start, and the reason for the pause. */
export interface Slot {
  /** Milliseconds since 1970. */
  readonly at: number
  /** `none`: it need not wait. */
  readonly because: PauseReason | 'visit-time' | 'none'
}

/** The next slot from `now` on. */
export function nextSlot({ nextSlotAt, because }: Pace, now: number, visitTimes: readonly Hours[] = []): Slot {
  const isLater = nextSlotAt > now
  const at = isLater ? nextSlotAt : now
  const opens = opensAt(visitTimes, at)
  if (opens > at) return { at: opens, because: 'visit-time' }
  return { at, because: isLater ? because : 'none' }
}

/** The pace after a request that leaves now; a longer pause that an answer has asked for stays. */
export function takeSlot(pace: Pace, now: number, { delayMs, because }: Delay): Pace {
  const { nextSlotAt, slots } = pace
  const next = now + delayMs
  return next >= nextSlotAt ? { ...pace, nextSlotAt: next, because, slots: slots + 1 } : { ...pace, slots: slots + 1 }
}

/** The pace where the request whose slot was taken last leaves only now: the pause after it counts from here. */
export function shiftPause(pace: Pace, now: number, { delayMs, because }: Delay): Pace {
  const next = now + delayMs
  return next > pace.nextSlotAt ? { ...pace, nextSlotAt: next, because } : pace
}

/**
 * Returns the pace where the request of this slot did not start: the slot is free again, unless another was taken since. A pause that an
 * answer has asked for stays.
 */
export function returnSlot(pace: Pace, slot: number, now: number): Pace {
  const { until, because } = pace.pushedBack
  const free = Math.max(until, now)
  return slot !== pace.slots || pace.nextSlotAt <= free ? pace : { ...pace, nextSlotAt: free, because }
}

/** What a page's answer says about pace. */
export interface PageResponse {
  readonly status: number
  readonly retryAfter: string | undefined
}

/** The first pause after a 429 or 503 that names none, doubled by each further one up to the longest. Our choice. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000

/** However long a site says, it is asked again the next day: a typing error shall not end a crawl. Our choice. */
const LONGEST_RETRY_AFTER_MS = DAY_MS

/** Does this answer ask for a pause? */
export function isPushback({ status }: Pick<PageResponse, 'status'>): boolean {
  return status === 429 || status === 503
}

/**
 * The pace after the answer to the request of this slot: 429 and 503 push the origin back, by Retry-After or growing pauses; another
 * answer ends that. A request that started before the last pushback arrived brings no news: its 429 does not count again, and
 * its success no end. Its Retry-After still counts, where it is the longer one.
 */
export function applyResponse(pace: Pace, answer: PageResponse, slot: number, now: number): Pace {
  const isOld = pace.pushbacks > 0 && slot <= pace.heardAt
  if (!isPushback(answer)) return isOld || pace.pushbacks === 0 ? pace : { ...pace, pushbacks: 0 }
  const asked = retryAfterMs(answer.retryAfter, now)
  if (isOld && asked === undefined) return pace
  const grown = Math.min(FIRST_PAUSE_MS * 2 ** pace.pushbacks, LONGEST_PAUSE_MS)
  const until = now + Math.min(asked ?? grown, LONGEST_RETRY_AFTER_MS)
  const because = asked === undefined ? 'backoff' : 'retry-after'
  return {
    ...pace,
    ...(!isOld && { pushbacks: pace.pushbacks + 1, heardAt: pace.slots }),
    ...(until > pace.nextSlotAt && { nextSlotAt: until, because }),
    ...(until > pace.pushedBack.until && { pushedBack: { until, because } }),
  }
}

/** Whether nothing is lost by forgetting the pace: its slot is free, and a pause that the site asked for is long over. */
export function canForget({ nextSlotAt, pushbacks }: Pace, now: number): boolean {
  return now >= nextSlotAt + (pushbacks > 0 ? LONGEST_PAUSE_MS : 0)
}
