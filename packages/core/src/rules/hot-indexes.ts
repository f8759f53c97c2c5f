// The indexes on short rules, as long as those are asked often. Such an index takes more memory than the rules do, so only the last
// ones that were made are kept: no more than 4 MiB in all, however many files a crawler holds. Rules that lost theirs are asked one by one
// again, and may have a new one.
import type { RuleIndex } from './rule-index.ts'

/** Where rules have their index, if they have one. */
export interface Seat {
  index: RuleIndex | undefined
}

export const NO_SEAT: Readonly<Seat> = { index: undefined }

const MOST_INDEXES = 1024

/** Packed rules of so many octets are short: as long as their index is kept here, it takes less than 4 KiB. */
export const SHORT = 512

/** Seats stand in a ring; who takes one drives out who had it. */
export class HotIndexes {
  readonly #ring: Seat[] = []
  #next = 0

  put(index: RuleIndex): Seat {
    const before = this.#ring[this.#next]
    if (before !== undefined) before.index = undefined
    const seat = { index }
    this.#ring[this.#next] = seat
    this.#next = (this.#next + 1) % MOST_INDEXES
    return seat
  }
}
