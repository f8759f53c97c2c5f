// A binary heap: the first item in order is found at once, and added or removed in O(log n).
export class Heap<T> {
  #items: T[] = []
  readonly #compare: (a: T, b: T) => number

  /** @param compare As for `Array.prototype.sort`. No two items may be equal. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    const items = this.#items
    let at = items.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (this.#compare(items[above] as T, item) <= 0) break
      items[at] = items[above] as T
      at = above
    }
    items[at] = item
  }

  /** Removes the first item and returns it. */
  shift(): T | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length === 0 || last === undefined) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      if (below + 1 < items.length && this.#compare(items[below + 1] as T, items[below] as T) < 0) below++
      if (this.#compare(last, items[below] as T) <= 0) break
      items[at] = items[below] as T
      at = below
    }
    items[at] = last
    return first
  }

  /** Removes all items behind the first `size` ones, and returns them in order. */
  truncate(size: number): readonly T[] {
    if (this.#items.length <= size) return []
    return this.#items.sort(this.#compare).splice(size) // a sorted array is a heap
  }
}
