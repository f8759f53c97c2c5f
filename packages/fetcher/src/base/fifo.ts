// A first-in-first-out queue that can remove any item. Each operation takes constant time. In a
// Set, finding the first item scans the holes that removed items leave: removing 100,000 items from
// the front took 1.5 s.

interface Node<T> {
  readonly item: T
  before: Node<T> | undefined
  after: Node<T> | undefined
}

export class Fifo<T> {
  readonly #nodes = new Map<T, Node<T>>()
  #first: Node<T> | undefined
  #last: Node<T> | undefined

  get size(): number {
    return this.#nodes.size
  }

  get first(): T | undefined {
    return this.#first?.item
  }

  has(item: T): boolean {
    return this.#nodes.has(item)
  }

  /** Returns the item behind this one. */
  after(item: T): T | undefined {
    return this.#nodes.get(item)?.after?.item
  }

  /** Adds the item at the end, unless the queue contains it. */
  add(item: T): void {
    if (this.#nodes.has(item)) return
    const node: Node<T> = { item, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = node
    else this.#last.after = node
    this.#last = node
    this.#nodes.set(item, node)
  }

  /** Adds the item at the front, unless the queue contains it. */
  addFirst(item: T): void {
    if (this.#nodes.has(item)) return
    const node: Node<T> = { item, before: undefined, after: this.#first }
    if (this.#first === undefined) this.#last = node
    else this.#first.before = node
    this.#first = node
    this.#nodes.set(item, node)
  }

  /** Removes the item. Returns whether the queue contained it. */
  delete(item: T): boolean {
    const node = this.#nodes.get(item)
    if (node === undefined) return false
    this.#nodes.delete(item)
    const { before, after } = node
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    return true
  }

  /** Removes all items and returns them in order. */
  drain(): readonly T[] {
    const items: T[] = []
    for (let node = this.#first; node !== undefined; node = node.after) items.push(node.item)
    this.#nodes.clear()
    this.#first = undefined
    this.#last = undefined
    return items
  }
}
