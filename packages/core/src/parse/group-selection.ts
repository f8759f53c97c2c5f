// Which user-agent lines name a crawler, and which of its groups hold. RFC 9309 §2.2.1.
import type { ParsingRules } from '../dialect.ts'
import { CrawlerName, namesEveryone } from './product-token.ts'

/** The rank of a line that names other crawlers only. */
export const OTHER_CRAWLERS: number = Number.POSITIVE_INFINITY

/**
 * Ranks user-agent lines for one crawler: the lowest rank in a file holds, and groups of a higher one are ignored. So the groups of the first
 * product token that has any are followed; otherwise those for all crawlers (`*`). A crawler with a group of its own never falls back to `*`,
 * even where its group says nothing about a URL.
 */
export class GroupSelection {
  readonly #names: readonly CrawlerName[]
  readonly #rules: ParsingRules
  /** The rank of `*`. */
  readonly #everyone: number

  constructor(productTokens: readonly string[], rules: ParsingRules) {
    this.#names = productTokens.map((token) => new CrawlerName(token, rules.agents))
    this.#rules = rules
    this.#everyone = productTokens.length
  }

  /** The rank of a user-agent line: 0 is the first product token. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    if (namesEveryone(bytes, start, end)) return this.#everyone
    for (let i = 0; i < this.#names.length; i++) {
      if (this.#names[i]?.matches(bytes, start, end)) return this.#rules.severalTokens === 'first' ? i : 0
    }
    return OTHER_CRAWLERS
  }

  /** Are all groups of this rank merged into one? Otherwise the first one holds. */
  isMerged(rank: number): boolean {
    const { groups } = this.#rules
    return groups === 'merged' || (groups === 'first-for-all' && rank !== this.#everyone)
  }
}
