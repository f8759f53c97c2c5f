// Which keys have another request by the time of each slot, though none waits in the gate yet: a
// worker that crawls a site page by page takes the next URL when a page is done.
//
// The first `reserve` after a slot comes when the delay is over if a request waits by then. After
// three such calls in a row, the worker counts on the next one. If it is wrong, one turn passes
// unused.
import { LRUCache } from '@politely/fetcher/internal'

interface LastSlot {
  /** When the gate may call `reserve` again, by the worker's clock. Undefined after that call. */
  readonly nextAt: number | undefined
  /** How many of these calls in a row have come in time. */
  readonly inTime: number
}

/** Our choice, as are the others. */
const MAX_KEYS = 10_000
const MIN_IN_TIME = 3
/** A timer may be so late. Milliseconds. */
const LATE_MS = 50

export class SteadyKeys {
  readonly #lastSlots = new LRUCache<string, LastSlot>({ max: MAX_KEYS })

  /** The gate calls `reserve`. Returns whether another request can be expected after its slot. */
  called(key: string, at: number): boolean {
    const last = this.#lastSlots.get(key)
    if (last === undefined) return false
    const { nextAt } = last
    const inTime = nextAt === undefined ? last.inTime : at <= nextAt + LATE_MS ? last.inTime + 1 : 0
    if (nextAt !== undefined) this.#lastSlots.set(key, { nextAt: undefined, inTime })
    return inTime >= MIN_IN_TIME
  }

  /** No further request waits behind the request that got a slot. */
  gotSlot(key: string, nextAt: number): void {
    this.#lastSlots.set(key, { nextAt, inTime: this.#lastSlots.peek(key)?.inTime ?? 0 })
  }
}
