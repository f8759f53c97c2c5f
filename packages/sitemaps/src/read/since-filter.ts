// Leaves out the entries that did not change since a time, if the dates of their file can be trusted.
import type { SitemapEntry } from '../entry.ts'
import type { DateCounter } from '../parse/date-trust.ts'

/** The dates of so many entries are read before the first entry is left out. */
const HELD_ENTRIES = 100

export class SinceFilter {
  readonly #since: number | undefined
  readonly #dates: DateCounter
  readonly #counts: { skippedEntries: number }
  #held: SitemapEntry[] | undefined
  /** The number of entries that an earlier reading has yielded. */
  #toSkip: number

  constructor(since: number | undefined, dates: DateCounter, counts: { skippedEntries: number }, skip: number) {
    this.#since = since
    this.#dates = dates
    this.#counts = counts
    this.#held = since === undefined ? undefined : []
    this.#toSkip = skip
  }

  /** Adds the entry to the list, unless it is left out. It may be held back for later. */
  add(entry: SitemapEntry, list: SitemapEntry[]): void {
    if (this.#held === undefined) {
      this.#pass(entry, list)
      return
    }
    this.#held.push(entry)
    if (this.#held.length >= HELD_ENTRIES) list.push(...this.end())
  }

  /** Returns the entries that were held back. */
  end(): SitemapEntry[] {
    const list: SitemapEntry[] = []
    const held = this.#held ?? []
    this.#held = undefined
    for (const entry of held) this.#pass(entry, list)
    return list
  }

  #pass(entry: SitemapEntry, list: SitemapEntry[]): void {
    const isOld = this.#since !== undefined && entry.lastmod !== undefined && entry.lastmod < this.#since
    if (isOld && this.#dates.isTrusted) this.#counts.skippedEntries++
    else if (this.#toSkip > 0) this.#toSkip--
    else list.push(entry)
  }
}
