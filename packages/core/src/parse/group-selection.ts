// Selects the groups that apply to a crawler. RFC 9309 §2.2.1.
import type { ParsingRules } from '../dialect.ts'
import { CrawlerName, namesEveryone } from './product-token.ts'

/** The rank of a user-agent line that names only other crawlers. */
export const OTHER_CRAWLERS_RANK: number = Number.POSITIVE_INFINITY

/**
 * Ranks user-agent lines for one crawler:
 *
 *   0, 1, …               the line names the first product token, the second, …
 *                         (all have rank 0 if `severalTokens` is `all`)
 *   number of tokens      the line is `*`
 *   OTHER_CRAWLERS_RANK   the line names other crawlers, or it is `*` and `groupsForAll` is `ignored`
 *
 * The groups of the lowest rank in the file apply, and all others are ignored. So a crawler with
 * its own group never falls back to `*`, even for a URL that no rule of the group matches.
 */
export class GroupSelection {
  readonly #productTokens: readonly string[]
  readonly #crawlerNames: readonly CrawlerName[]
  readonly #parsing: ParsingRules

  constructor(productTokens: readonly string[], parsing: ParsingRules) {
    this.#productTokens = productTokens.slice() // the caller may change its list
    this.#crawlerNames = productTokens.map((token) => new CrawlerName(token, parsing.agents))
    this.#parsing = parsing
  }

  /** Returns whether these are its own product tokens and parsing rules. */
  isFor(productTokens: readonly string[], parsing: ParsingRules): boolean {
    const own = this.#productTokens
    return (
      parsing === this.#parsing && productTokens.length === own.length && productTokens.every((t, i) => t === own[i])
    )
  }

  /** Returns the rank of a user-agent line. */
  rankOf(bytes: Uint8Array, start: number, end: number): number {
    if (namesEveryone(bytes, start, end)) {
      return this.#parsing.groupsForAll === 'ignored' ? OTHER_CRAWLERS_RANK : this.#crawlerNames.length
    }
    for (let i = 0; i < this.#crawlerNames.length; i++) {
      if (this.#crawlerNames[i]?.matches(bytes, start, end)) return this.#parsing.severalTokens === 'first' ? i : 0
    }
    return OTHER_CRAWLERS_RANK
  }

  /** Returns whether all groups of this rank apply. Otherwise only the first group does. */
  isMerged(rank: number): boolean {
    const { groups } = this.#parsing
    return groups === 'merged' || (groups === 'first-for-all' && rank !== this.#crawlerNames.length)
  }
}
