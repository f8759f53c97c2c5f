// Which keys have another request by the time of each slot, though none waits in the gate yet: a
// worker that crawls a site page by page takes the next URL when a page is done.
//
// If the first `reserve` after a slot comes by the end of the delay, twice in a row, the worker
// counts on the next one. If it is wrong, one turn passes unused.
import { LRUCache } from '@politely/fetcher/internal'
import type { PaceReason } from '@politely/gate/internal'

interface LastSlot {
  /** When the next slot may be free, by the worker's clock. Undefined after the next `reserve`. */
  readonly nextAt: number | undefined
  readonly because: PaceReason
  /** How often in a row the next `reserve` has come in time. */
  readonly inTime: number
}

interface Expectation {
  /** Whether another request can be expected after the slot of this one. */
  readonly isSteady: boolean
  /** What the request has to wait for, as is known without a call. */
  readonly early?: { readonly waitMs: number; readonly because: PaceReason }
}

/** Our choice, as are the others. */
const MAX_KEYS = 10_000
const MIN_IN_TIME = 2
/** A timer may be so late. Milliseconds. */
const LATE_MS = 50
const UNKNOWN: Expectation = { isSteady: false }

export class SteadyKeys {
  readonly #lastSlots = new LRUCache<string, LastSlot>({ max: MAX_KEYS })

  /** The gate calls `reserve`. */
  called(key: string, at: number, waiting: number | undefined): Expectation {
    const last = waiting === 0 ? this.#lastSlots.get(key) : undefined
    if (last === undefined) return UNKNOWN
    const { nextAt, because } = last
    if (nextAt === undefined) return { isSteady: last.inTime >= MIN_IN_TIME }
    if (last.inTime >= MIN_IN_TIME && at < nextAt) return { isSteady: true, early: { waitMs: nextAt - at, because } }
    const inTime = at <= nextAt + LATE_MS ? last.inTime + 1 : 0
    this.#lastSlots.set(key, { nextAt: undefined, because, inTime })
    return { isSteady: inTime >= MIN_IN_TIME }
  }

  /** A request has got a slot. No other one waits. */
  gotSlot(key: string, nextAt: number, because: PaceReason): void {
    this.#lastSlots.set(key, { nextAt, because, inTime: this.#lastSlots.peek(key)?.inTime ?? 0 })
  }

  forget(key: string): void {
    this.#lastSlots.delete(key)
  }
}
