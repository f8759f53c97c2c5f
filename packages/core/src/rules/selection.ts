// Which groups are a crawler's. RFC 9309 §2.2.1.
import type { Reading } from '../dialect.ts'
import type { WrittenGroup } from './groups.ts'
import { isProductToken, nameOfLine, namesEveryone, productTokenOf, tokenOfLine } from './product-token.ts'

export interface Selection {
  /** The groups that hold for the crawler, in the order of the file; the rules of several count as one group's. */
  readonly groups: readonly WrittenGroup[]
  /** Does a user-agent line with this value speak to the crawler? */
  readonly names: (agent: string) => boolean
}

/** Which user-agent lines are about a crawler. */
export interface AskedNames {
  /** Which name it: one answer for each of its product tokens, in their order, or one for all of them. */
  readonly own: readonly Selection['names'][]
  /** Which name it or everyone. */
  readonly isWanted: Selection['names']
}

/** Most crawlers ask about very many files under one name, so the last one's are kept. */
let last: { readonly token: string; readonly reading: Reading; readonly names: AskedNames } | undefined

export function askedNames(productTokens: readonly string[], reading: Reading): AskedNames {
  const [token] = productTokens
  if (token === undefined || productTokens.length > 1) return namesOf(productTokens, reading)
  if (last?.token !== token || last.reading !== reading) {
    last = { token, reading, names: namesOf(productTokens, reading) }
  }
  return last.names
}

function namesOf(productTokens: readonly string[], reading: Reading): AskedNames {
  const crawlers = productTokens.map((token) => namesCrawler(token, reading.agents))
  const anyOf = (agent: string) => crawlers.some((names) => names(agent))
  return {
    own: reading.severalTokens === 'first' ? crawlers : [anyOf],
    isWanted: (agent) => namesEveryone(agent) || anyOf(agent),
  }
}

/**
 * The groups of the first product token that has any; else those of everyone (`*`). A crawler with a group of its own
 * never falls back to `*`, even where its group says nothing about a URL.
 */
export function selectGroups(groups: readonly WrittenGroup[], asked: AskedNames['own'], reading: Reading): Selection {
  for (const namesIt of asked) {
    const names = (agent: string) => !namesEveryone(agent) && namesIt(agent)
    const own = holding(groups, names)
    if (own.length > 0) return { groups: reading.groups === 'first' ? own.slice(0, 1) : own, names }
  }
  const forAll = holding(groups, namesEveryone)
  return { groups: reading.groups === 'merged' ? forAll : forAll.slice(0, 1), names: namesEveryone }
}

/** The groups that have such a name. */
function holding(groups: readonly WrittenGroup[], names: Selection['names']): readonly WrittenGroup[] {
  const held: WrittenGroup[] = []
  for (const group of groups) if (group.agents.some(names)) held.push(group)
  return held
}

/** Which user-agent lines name a crawler that was asked about as `asked`: a token, or a whole User-Agent header. */
function namesCrawler(asked: string, agents: Reading['agents']): Selection['names'] {
  // google/robotstxt compares what it is given as it stands, so `ExampleBot/1.0`, which is no token, finds nothing.
  const token = (agents === 'token' || isProductToken(asked) ? asked : productTokenOf(asked))?.toLowerCase()
  if (token === undefined) return () => false
  switch (agents) {
    case 'token':
      return (agent) => beginsAlike(agent, token) && tokenOfLine(agent, 'letters') === token
    case 'token-or-digits': {
      // A token of the RFC's characters meets lines as the reference cuts them; only one with digits needs the wider cut.
      const characters = /[0-9]/.test(token) ? 'letters-and-digits' : 'letters'
      return (agent) => beginsAlike(agent, token) && tokenOfLine(agent, characters) === token
    }
    case 'whole-value':
      return (agent) => agent.toLowerCase() === token
    case 'name':
      return (agent) => nameOfLine(agent) === token
    case 'substring':
      return (agent) => nameOfLine(agent) !== '' && token.includes(nameOfLine(agent))
  }
}

/** Most lines name others: they need no more than a look at their first letter. */
function beginsAlike(agent: string, token: string): boolean {
  return token === '' || (agent.charCodeAt(0) | 32) === (token.charCodeAt(0) | 32)
}
