// A list whose items hold the links to their neighbours, so that the list itself needs no memory.
// An item can be in one list at a time.

/** The links of an item. Only the list changes them. */
export interface Linked<T> {
  before: T | undefined
  after: T | undefined
  /** The list that the item is in. */
  list: object | undefined
}

export class LinkedList<T extends Linked<T>> {
  #first: T | undefined
  #last: T | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): T | undefined {
    return this.#first
  }

  get last(): T | undefined {
    return this.#last
  }

  has(item: T): boolean {
    return item.list === this
  }

  /** Adds an item that is in no list at the end. */
  add(item: T): void {
    item.before = this.#last
    item.list = this
    if (this.#last === undefined) this.#first = item
    else this.#last.after = item
    this.#last = item
    this.#size++
  }

  /** Adds an item that is in no list at the front. */
  addFirst(item: T): void {
    item.after = this.#first
    item.list = this
    if (this.#first === undefined) this.#last = item
    else this.#first.before = item
    this.#first = item
    this.#size++
  }

  /** Adds an item that is in no list after an item of this list. */
  addAfter(item: T, before: T): void {
    const { after } = before
    item.before = before
    item.after = after
    item.list = this
    before.after = item
    if (after === undefined) this.#last = item
    else after.before = item
    this.#size++
  }

  /** Removes the item. Returns whether the list contained it. */
  delete(item: T): boolean {
    if (item.list !== this) return false
    const { before, after } = item
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    item.before = undefined
    item.after = undefined
    item.list = undefined
    this.#size--
    return true
  }

  /** Yields the items from the first to the last. Items may be added and removed meanwhile. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    let item = this.#first
    while (item !== undefined) {
      const { after } = item
      yield item
      if (item.list === this) item = item.after
      else item = after?.list === this ? after : undefined
    }
  }
}
