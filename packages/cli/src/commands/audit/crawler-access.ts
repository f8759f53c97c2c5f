// What each known crawler may read.
import type { CrawlerRules, Robots, Rule } from '@politely/core'
import { type KnownCrawler, knownCrawlers, rulesFor } from '@politely/core/crawlers'
import { sampleUrl } from '@politely/core/review'
import type { FileName } from './file-names.ts'

export interface CrawlerAccess {
  readonly name: string
  readonly token: string
  readonly operator: string
  readonly purpose: KnownCrawler['purpose']
  readonly obeys: 'yes' | 'no' | 'unclear'
  /** Whether it is only a name in robots.txt, which no request carries. */
  readonly isControl: boolean
  /** Whether the file names it. */
  readonly isNamed: boolean
  /** The paths that the file closes to it, whether it obeys or not. */
  readonly disallowed: readonly string[]
  /** The rules that decide about the paths, in the order of the file. */
  readonly rules: readonly Rule[]
}

/** @param purposes Only crawlers that fetch pages for one of these; an empty list means all. */
export function crawlerAccesses(
  robots: Robots,
  paths: readonly string[],
  names: readonly FileName[],
  purposes: readonly string[],
): readonly CrawlerAccess[] {
  const named = new Set(names.filter(({ finding }) => finding !== 'misspelt').map(({ crawler }) => crawler))
  /** Most crawlers have the same rules, those for `*`. */
  const checked = new Map<string, Access>()
  return knownCrawlers
    .filter(({ retired, purpose }) => retired === undefined && (purposes.length === 0 || purposes.includes(purpose)))
    .map(({ name, token, operator, purpose, obeys, isControl }) => {
      const rules = rulesFor(robots, token)
      const key = rules.toJSON().packed
      const access = checked.get(key) ?? accessBy(rules, paths)
      checked.set(key, access)
      return { name, token, operator, purpose, obeys, isControl, isNamed: named.has(name), ...access }
    })
}

type Access = Pick<CrawlerAccess, 'disallowed' | 'rules'>

function accessBy(rules: CrawlerRules, paths: readonly string[]): Access {
  const disallowed: string[] = []
  const deciding = new Map<number, Rule>()
  for (const path of paths) {
    const verdict = rules.check(path.startsWith('/') ? sampleUrl(path) : path)
    if (!verdict.allowed) disallowed.push(path)
    if (verdict.because === 'rule') deciding.set(verdict.rule.line, verdict.rule)
  }
  return { disallowed, rules: [...deciding.values()].sort((one, other) => one.line - other.line) }
}
