// The indexes on short rules, as long as those are asked often. Such an index takes more memory than the rules do, so only the last
// ones that were made are kept: no more than 1 MiB in all, however many files a crawler holds. Rules that lost theirs are asked one by one
// again, and may have a new one.
import type { RuleIndex } from './rule-index.ts'

/** A power of two. */
const MOST_INDEXES = 256

/** Packed rules of so many octets are short: as long as their index is kept here, it takes less than 4 KiB. */
export const SHORT = 512

/** What a new index is kept under. */
export type Ticket = number

/** Indexes stand in a ring, each in the place that its ticket says; the next one that comes to a place drives it out. */
export class HotIndexes {
  readonly #ring: { readonly ticket: Ticket; readonly index: RuleIndex }[] = []
  #lastTicket: Ticket = 0

  put(index: RuleIndex): Ticket {
    this.#lastTicket++
    this.#ring[this.#lastTicket & (MOST_INDEXES - 1)] = { ticket: this.#lastTicket, index }
    return this.#lastTicket
  }

  /** The index, unless it was driven out. */
  get(ticket: Ticket): RuleIndex | undefined {
    const kept = this.#ring[ticket & (MOST_INDEXES - 1)]
    return kept?.ticket === ticket ? kept.index : undefined
  }
}

export const NO_TICKET: Ticket = 0
