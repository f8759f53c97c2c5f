// Remembers which permits have reported, or ended, so that each does it once.

/** At least so many ids are remembered, and at most twice as many. Our choice. */
const MAX_IDS = 100_000

export class RecentIds {
  #ids = new Set<string>()
  /** The ids before them. A full set is replaced as a whole: to remove the oldest id each time is slow. */
  #before = new Set<string>()

  /** Returns whether the id is new. */
  add(id: string): boolean {
    if (this.#ids.has(id) || this.#before.has(id)) return false
    if (this.#ids.size >= MAX_IDS) {
      this.#before = this.#ids
      this.#ids = new Set()
    }
    this.#ids.add(id)
    return true
  }
}
