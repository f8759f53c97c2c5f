// A cache of values by crawler.

/** The size of the cache. It is bounded because a caller may pass a new name in each call. */
const MAX_CRAWLERS = 32

/** Creates a value for each crawler name, and evicts the oldest value when the cache is full. */
export class PerCrawler<T extends object> {
  readonly #make: (ua: string) => T
  readonly #values = new Map<string, T>()

  constructor(make: (ua: string) => T) {
    this.#make = make
  }

  get size(): number {
    return this.#values.size
  }

  of(ua: string): T {
    const cached = this.#values.get(ua)
    if (cached !== undefined) return cached
    const value = this.#make(ua)
    if (this.#values.size === MAX_CRAWLERS) this.#values.delete(this.#values.keys().next().value as string)
    this.#values.set(ua, value)
    return value
  }
}
