// What each known crawler may read.
import type { Robots, Rule } from '@politely/core'
import { type CrawlerPurpose, knownCrawlers, rulesFor } from '@politely/core/crawlers'
import type { FileName } from './file-names.ts'

export interface CrawlerAccess {
  readonly name: string
  readonly token: string
  readonly operator: string
  readonly purpose: CrawlerPurpose
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
  return knownCrawlers
    .filter(({ retired, purpose }) => retired === undefined && (purposes.length === 0 || purposes.includes(purpose)))
    .map(({ name, token, operator, purpose, obeys, isControl }) => {
      const rules = rulesFor(robots, token)
      const verdicts = paths.map((path) => ({ path, ...rules.check(path) }))
      const disallowed = verdicts.filter(({ allowed }) => !allowed).map(({ path }) => path)
      const deciding = new Map(
        verdicts.flatMap((verdict) => (verdict.because === 'rule' ? [[verdict.rule.line, verdict.rule] as const] : [])),
      )
      const inOrder = [...deciding.values()].sort((one, other) => one.line - other.line)
      return { name, token, operator, purpose, obeys, isControl, isNamed: named.has(name), disallowed, rules: inOrder }
    })
}
