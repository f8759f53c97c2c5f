// The indexes on short rules, as long as those are asked often. Such an index takes more memory than the rules do, so only the last
// ones that were made are kept: no more than 2 MiB in all, however many files a crawler holds. Rules that lost theirs are asked one by one
// again, and may have a new one.
import type { RuleIndex } from './rule-index.ts'

/** Where rules have their index, if they have one. */
export interface Seat {
  index: RuleIndex | undefined
}

export const NO_SEAT: Readonly<Seat> = { index: undefined }

/** Those of some 2,000 usual files. */
const MOST_BYTES = 2 * 2 ** 20

/** Packed rules of so many octets are short: as long as their index is kept here, it takes less than 4 KiB. */
export const SHORT = 512

/** Who takes a seat drives out those who took theirs first, until there is room. */
export class HotIndexes {
  /** What each index takes, in the order in which they were made. */
  readonly #taken = new Map<Seat, number>()
  #bytes = 0

  put(index: RuleIndex): Seat {
    const seat: Seat = { index }
    this.#taken.set(seat, index.memoryBytes)
    this.#bytes += index.memoryBytes
    for (const [first, bytes] of this.#taken) {
      if (this.#bytes <= MOST_BYTES) break
      first.index = undefined
      this.#taken.delete(first)
      this.#bytes -= bytes
    }
    return seat
  }
}
