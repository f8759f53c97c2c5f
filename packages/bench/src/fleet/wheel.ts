// A timing wheel: the events of millions of origins, at most one for each, in the order of their
// times. One list for each millisecond.

const SLOTS = 2 ** 19 // 524 s; a later event goes round again

export class Wheel {
  readonly #heads = new Int32Array(SLOTS).fill(-1)
  readonly #next: Int32Array
  readonly #at: Float64Array
  #now = 0
  /** How many events there are. */
  size = 0

  /**
   * @param next Links an origin to the next one of its list. The caller may use it for origins that
   * are not in the wheel.
   */
  constructor(next: Int32Array) {
    this.#next = next
    this.#at = new Float64Array(next.length)
  }

  /** Adds the event of an origin. `at` is an integer after the time of the wheel. */
  add(id: number, at: number): void {
    this.#at[id] = at
    this.#link(id)
    this.size++
  }

  #link(id: number): void {
    const slot = Math.min(this.#at[id] as number, this.#now + SLOTS - 1) % SLOTS
    this.#next[id] = this.#heads[slot] as number
    this.#heads[slot] = id
  }

  /**
   * Moves to the next millisecond that has events and calls `each` for them. Returns at once if the
   * wheel is empty.
   */
  turn(each: (id: number, now: number) => void): void {
    const heads = this.#heads
    if (this.size === 0) return
    let now = this.#now + 1
    while (heads[now % SLOTS] === -1) now++
    this.#now = now
    let id = heads[now % SLOTS] as number
    heads[now % SLOTS] = -1
    while (id !== -1) {
      const following = this.#next[id] as number
      if (this.#at[id] === now) {
        this.size--
        each(id, now)
      } else this.#link(id)
      id = following
    }
  }
}
