// A cache by crawler.

/** The size of the cache. A caller may have a new name for each question. */
const MAX_CRAWLERS = 32

/** Values by the name of a crawler. The oldest is evicted first. */
export class PerCrawler<T extends object> {
  readonly #make: (ua: string) => T
  readonly #made = new Map<string, T>()

  constructor(make: (ua: string) => T) {
    this.#make = make
  }

  get size(): number {
    return this.#made.size
  }

  of(ua: string): T {
    const known = this.#made.get(ua)
    if (known !== undefined) return known
    const made = this.#make(ua)
    if (this.#made.size === MAX_CRAWLERS) this.#made.delete(this.#made.keys().next().value as string)
    this.#made.set(ua, made)
    return made
  }
}
