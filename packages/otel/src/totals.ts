// Adds up the counters and gauges of all clients, or of all gates, that have published a message.
//
// Messages name the client or gate, and the object that counts for it. This class keeps the
// counting object, and the client or gate itself only weakly. When a client has been garbage
// collected, its last counts join `#ended`. So no count is lost or counted twice, and no client
// stays in memory. Gauges of such a client are gone, as they should be.

/** What counts for one client or gate. */
interface CounterSource<C> {
  snapshot(): C
}

interface Reporter<G> {
  readonly gauges: G
}

/** Numbers by name, or by name and reason. */
type Counts<C> = { [N in keyof C]: number | Record<string, number> }

export class Totals<C extends object, G extends object> {
  readonly #reporters = new Map<CounterSource<C>, WeakRef<Reporter<G>>>()
  /** The counts of clients or gates that are gone. */
  #ended: Counts<C> | undefined

  /** Remembers the client or gate of a message. */
  add(reporter: Reporter<G>, counters: CounterSource<C>): void {
    if (this.#reporters.has(counters)) return
    this.#dropCollected()
    this.#reporters.set(counters, new WeakRef(reporter))
  }

  /** The sum of all counters. Undefined before the first message. */
  counters(): Counts<C> | undefined {
    this.#dropCollected()
    let sum = this.#ended
    for (const source of this.#reporters.keys()) sum = added(sum, source.snapshot())
    return sum
  }

  /** The gauges of each client or gate that still exists. */
  gauges(): readonly G[] {
    return [...this.#reporters.values()].flatMap((ref) => ref.deref()?.gauges ?? [])
  }

  #dropCollected(): void {
    for (const [source, ref] of this.#reporters) {
      if (ref.deref() !== undefined) continue
      this.#reporters.delete(source)
      this.#ended = added(this.#ended, source.snapshot())
    }
  }
}

/** Returns the sums, without changing either argument. Skips values that aren't numbers. */
function added<C extends object>(sum: Counts<C> | undefined, counts: C): Counts<C> {
  const sums = { ...sum } as Record<string, number | Record<string, number>>
  for (const [name, value] of Object.entries(counts) as [string, unknown][]) {
    const before = sums[name]
    if (typeof value === 'number') sums[name] = ((before as number | undefined) ?? 0) + value
    else if (typeof value === 'object' && value !== null)
      sums[name] = added(before as Record<string, number> | undefined, value) as Record<string, number>
  }
  return sums as Counts<C>
}
