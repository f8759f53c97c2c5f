// The pace of one origin: when its next request may leave. Values in, values out; whoever waits holds the state.
import { retryAfterMs } from '../http/retry-after.ts'
import type { Delay } from './delay.ts'

export interface Pace {
  /** No request may leave before this moment. Milliseconds since 1970. */
  readonly nextSlotAt: number
  /** How many answers in a row asked for a pause (429 or 503). */
  readonly pushbacks: number
}

export const startPace: Pace = { nextSlotAt: 0, pushbacks: 0 }

/** The pace after a request that leaves now; a longer pause that an answer has asked for stays. */
export function takeSlot(pace: Pace, now: number, { delayMs }: Delay): Pace {
  return { ...pace, nextSlotAt: Math.max(pace.nextSlotAt, now + delayMs) }
}

/** What a page's answer says about pace. */
export interface PageAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

/** The first pause after a 429 or 503 that names none, doubled by each further one up to the longest. Our choice. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000

/** However long a site says, it is asked again the next day: a typing error shall not end a crawl. Our choice. */
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

/** The pace after an answer: 429 and 503 push the origin back, by Retry-After or growing pauses; another answer ends that. */
export function heedAnswer(pace: Pace, { status, retryAfter }: PageAnswer, now: number): Pace {
  if (status !== 429 && status !== 503) return pace.pushbacks === 0 ? pace : { ...pace, pushbacks: 0 }
  const grown = Math.min(FIRST_PAUSE_MS * 2 ** pace.pushbacks, LONGEST_PAUSE_MS)
  const pauseMs = Math.min(retryAfterMs(retryAfter, now) ?? grown, LONGEST_RETRY_AFTER_MS)
  return { nextSlotAt: Math.max(pace.nextSlotAt, now + pauseMs), pushbacks: pace.pushbacks + 1 }
}

/** Whether nothing is lost by forgetting the pace: its slot is free, and a pause that the site asked for is long over. */
export function canForget({ nextSlotAt, pushbacks }: Pace, now: number): boolean {
  return now >= nextSlotAt + (pushbacks > 0 ? LONGEST_PAUSE_MS : 0)
}
