// Which keys have another request by the time of each slot, though none waits in the gate yet: a
// worker that crawls a site page by page takes the next URL when a page is done.
//
// If the first `reserve` after a slot comes by the end of the delay, many times in a row, the worker
// counts on the next request. When the site is done, one turn passes unused: a small part of its turns.
import { LRUCache } from '@politely/fetcher/internal'

interface LastSlot {
  /** When the next slot may be free, by the worker's clock. Infinity after the next `reserve`. */
  nextAt: number
  /** How often in a row the next `reserve` has come in time. */
  inTime: number
}

/** Our choice, as are the others. */
const MAX_KEYS = 10_000
const MIN_IN_TIME = 20
/** A timer may be so late. Milliseconds. */
const LATE_MS = 50

export class SteadyKeys {
  readonly #lastSlots = new LRUCache<string, LastSlot>({ max: MAX_KEYS })

  /** The gate calls `reserve`. Returns whether another request can be expected after this one. */
  called(key: string, at: number): boolean {
    const last = this.#lastSlots.get(key)
    if (last === undefined) return false
    if (last.nextAt < Number.POSITIVE_INFINITY) {
      last.inTime = at <= last.nextAt + LATE_MS ? last.inTime + 1 : 0
      last.nextAt = Number.POSITIVE_INFINITY
    }
    return last.inTime >= MIN_IN_TIME
  }

  /** A request has got a slot. No other request waits. */
  gotSlot(key: string, nextAt: number): void {
    this.#lastSlots.set(key, { nextAt, inTime: this.#lastSlots.peek(key)?.inTime ?? 0 })
  }
}
