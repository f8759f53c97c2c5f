// Who says when the next request of a key may leave. The gate keeps the order of those who wait in this process; a pacer keeps the
// pace, here or in one place for a whole fleet.
import type { Delay, PaceLimits, PageResponse, Slot } from '@politely/core'

/**
 * The pace of every key: an origin, or what `paceBy` says. An implementation may answer at once or by a promise. All times that
 * pass here are durations, so that nobody's clock has to agree with anybody's.
 *
 * The gate keeps to this: of one key it asks for one slot at a time; it comes back with the ticket that it was given, or gives that
 * back; each slot that it took is reported once. Where a call rejects, the request that it was for is rejected too.
 */
export interface Pacer {
  /**
   * May a request leave now? A `slot` is taken by asking. `wait`: none is free yet; ask again, with the ticket, after so long. A pacer
   * may keep a place in line for the ticket, or nothing.
   */
  reserve(key: string, wishes: PaceLimits, ticket?: Ticket): Reservation | Promise<Reservation>
  /**
   * The request of this slot leaves now, a moment after the slot was taken: where it matters, the pause counts from here. Optional, since
   * a moment in this process is less than what the way to another one takes.
   */
  started?(key: string, ticket: Ticket, delay: Delay): void
  /** Who has this ticket does not leave after all: its place in line, or its slot, is for others. */
  cancel(key: string, ticket: Ticket): void | Promise<void>
  /** The request of this slot is over, with an answer or without one. 429 and 503 push the key back, `heedAnswer` says how far. */
  report(key: string, ticket: Ticket, answer: PageResponse | undefined): void | Promise<void>
  /** How long a request would have to wait, with so many of its key before it; takes nothing. */
  estimate(key: string, wishes: PaceLimits, ahead: number): WaitEstimate | Promise<WaitEstimate>
}

/** What a pacer knows a request by: the number of its slot, or a word of its own. */
export type Ticket = string | number

export type Reservation =
  | { readonly kind: 'slot'; readonly ticket: Ticket; readonly delay: Delay }
  | {
      readonly kind: 'wait'
      readonly ticket: Ticket | undefined
      readonly waitMs: number
      readonly because: PaceReason
    }

/** Who asks a request to wait for its slot. */
export type PaceReason = Exclude<Slot['because'], 'none'>

export interface WaitEstimate {
  /** Milliseconds; 0 for now. */
  readonly waitMs: number
  readonly because: Slot['because']
}
