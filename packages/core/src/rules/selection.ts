// Which groups are a crawler's. RFC 9309 §2.2.1.
import type { Dialect } from './dialect.ts'
import type { WrittenGroup } from './groups.ts'
import { isProductToken, namesEveryone, productTokenOf, tokenOfLine } from './product-token.ts'

export interface Selection {
  /** All groups that hold for the crawler, in the order of the file; their rules count as one group's. */
  readonly groups: readonly WrittenGroup[]
  /** Does a user-agent line with this value speak to the crawler? */
  readonly names: (agent: string) => boolean
}

/**
 * The groups of the first product token that has any; else those of everyone (`*`). A crawler with a group of its own
 * never falls back to `*`, even where its group says nothing about a URL.
 */
export function selectGroups(
  groups: readonly WrittenGroup[],
  productTokens: readonly string[],
  dialect: Dialect,
): Selection {
  const holding = (names: Selection['names']) => groups.filter(({ agents }) => agents.some(names))
  for (const token of productTokens) {
    const names = namesToken(token, dialect)
    const own = holding(names)
    if (own.length > 0) return { groups: own, names }
  }
  return { groups: holding(namesEveryone), names: namesEveryone }
}

function namesToken(asked: string, dialect: Dialect): Selection['names'] {
  if (dialect.digitsInTokens === 'ignored') {
    // google/robotstxt compares what it is given as it stands, so `ExampleBot/1.0`, which is no token, finds nothing.
    const token = asked.toLowerCase()
    return (agent) => !namesEveryone(agent) && tokenOfLine(agent, 'letters') === token
  }
  const token = (isProductToken(asked) ? asked : productTokenOf(asked))?.toLowerCase()
  if (token === undefined) return () => false
  // A token of the RFC's characters meets lines as the reference cuts them; only one with digits needs the wider cut.
  const characters = /[0-9]/.test(token) ? 'letters-and-digits' : 'letters'
  return (agent) => !namesEveryone(agent) && tokenOfLine(agent, characters) === token
}
