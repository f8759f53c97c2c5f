// What was made for one crawler is kept for its next question.

/** Of so many crawlers, and no more: names come from the caller, who may have a new one for each question. */
const MOST_CRAWLERS = 32

/** Things by the name of a crawler; those that were made first are forgotten first. */
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
    if (this.#made.size === MOST_CRAWLERS) this.#made.delete(this.#made.keys().next().value as string)
    this.#made.set(ua, made)
    return made
  }
}
