// Everything that the panel of a cell says: the reason, the rules that lost, a trace, the dialects.
import {
  type DialectName,
  describeReason,
  dialects,
  explainDialects,
  explainUrlProblem,
  type Match,
} from '@politely/core'
import { readingOf } from '@politely/core/crawlers'
import { describeDeviations, fieldsOf, lossOf } from '@politely/core/review'
import { robotsOf } from './matrix.ts'
import { type PatternReport, patternReport } from './pattern-report.ts'
import type { PlaygroundState } from './state.ts'

export interface CellReport {
  readonly url: string
  readonly crawler: string
  readonly allowed: boolean
  readonly isInvalid: boolean
  /** One sentence of core. */
  readonly reason: string
  /** How a known crawler reads the file, if it is more than its own group and then `*`. */
  readonly reading: string | undefined
  /** The line that decides; undefined if no rule does. */
  readonly line: number | undefined
  /** The lines with the user-agent lines of the groups that apply. */
  readonly groupLines: readonly number[]
  /** The URL as rules see it; undefined for an invalid URL. */
  readonly target: string | undefined
  /** Rules that match, the strongest first. */
  readonly matches: readonly RankedMatch[]
  /** The other dialects that decide differently. */
  readonly dialects: readonly OtherDialect[]
}

export interface RankedMatch extends Match {
  /** Why it lost; undefined for the rule that decides. */
  readonly loss: string | undefined
}

export interface OtherDialect {
  readonly name: DialectName
  readonly allowed: boolean
  /** What makes the difference. */
  readonly why: string
}

/** Returns undefined if no cell is open. */
export function cellReport(state: PlaygroundState): CellReport | undefined {
  const url = state.urls[state.open?.url ?? -1]
  const crawler = state.crawlers[state.open?.crawler ?? -1]
  if (url === undefined || crawler === undefined) return undefined
  const given = robotsOf(state.robots, state)
  const { productTokens, dialect, crawler: known } = readingOf(crawler, given.dialect)
  const robots = dialect === given.dialect ? given : given.inDialect(dialect)
  const { verdict, target, groups, matches, wonBy } = robots.explain(url, productTokens)
  const [winner] = matches
  return {
    url,
    crawler,
    allowed: verdict.allowed,
    isInvalid: verdict.because === 'invalid-url',
    reason: verdict.because === 'invalid-url' ? explainUrlProblem(verdict.problem, url) : describeReason(verdict),
    reading: known && readingText(known.fallbacks, known.readsStar, known.operator),
    line: verdict.because === 'rule' ? verdict.rule.line : undefined,
    groupLines: groups.map(({ line }) => line),
    target,
    matches: matches.map((match, i) => ({
      ...match,
      loss: i === 0 || winner === undefined ? undefined : lossOf(match, winner, wonBy),
    })),
    // The built-in dialects use the groups for all crawlers.
    dialects: dialect.parsing.groupsForAll === 'ignored' ? [] : otherDialects(state, url, crawler, verdict.allowed),
  }
}

function readingText(fallbacks: readonly string[], readsStar: boolean, operator: string): string | undefined {
  if (!readsStar) return `${operator} documents that this crawler does not read the group for *.`
  if (fallbacks.length === 0) return undefined
  return `${operator} documents that this crawler reads the group for ${fallbacks.join(', then for ')} if no group names it.`
}

function otherDialects(
  { robots, dialect: own }: PlaygroundState,
  url: string,
  crawler: string,
  allowed: boolean,
): readonly OtherDialect[] {
  // Some dialects compare a whole name, such as `archive.org_bot`.
  const tokens = [...new Set([...readingOf(crawler, dialects.rfc9309).productTokens, crawler])]
  const answers = Object.entries(explainDialects(new TextEncoder().encode(robots), url, tokens))
  return answers
    .filter(([name, { explanation }]) => name !== own && explanation.verdict.allowed !== allowed)
    .map(([name, { explanation, parts }]) => ({
      name: name as DialectName,
      allowed: explanation.verdict.allowed,
      why: describeDeviations(parts),
    }))
}

/** A rule of the file that the panel can trace over the URL. */
export interface TraceableRule {
  readonly line: number
  readonly text: string
  /** Whether its group applies to the crawler of the cell. */
  readonly applies: boolean
  /** The names in its group. */
  readonly agents: readonly string[]
}

/** More rules make a list that no one reads. */
const MAX_TRACEABLE_RULES = 500

export function traceableRules(state: PlaygroundState, { groupLines }: CellReport): readonly TraceableRule[] {
  return rulesIn(state)
    .slice(0, MAX_TRACEABLE_RULES)
    .map(({ line, field, value, group }) => ({
      line,
      text: `${field === 'allow' ? 'Allow' : 'Disallow'}: ${value}`,
      applies: groupLines.includes(group.line),
      agents: group.agents,
    }))
}

/** The rules of the file with their groups, in the order of the file. */
function rulesIn(state: PlaygroundState) {
  const { fields, groups } = fieldsOf(robotsOf(state.robots, state))
  return fields.flatMap(({ line, field, value, group: index }) => {
    const group = groups[index ?? -1]
    return (field === 'allow' || field === 'disallow') && group !== undefined ? [{ line, field, value, group }] : []
  })
}

/**
 * Traces the rule on a line over the URL of the cell. Returns undefined if the line has no rule, or
 * the URL is invalid, or the dialect has no wildcards.
 */
export function traceLine(state: PlaygroundState, { target }: CellReport, line: number): PatternReport | undefined {
  const { parsing } = robotsOf('', state).dialect
  const rule = rulesIn(state).find((each) => each.line === line)
  if (rule === undefined || target === undefined || rule.value === '' || parsing.wildcards === 'literal')
    return undefined
  return patternReport(rule.value, parsing.compare, target)
}
