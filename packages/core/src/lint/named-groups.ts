// Compares groups for one crawler with the group for `*`, which they replace. RFC 9309 §2.2.1: a
// crawler with its own group does not read the group for `*`.

import { bytesOfLatin1, textOf } from '../bytes.ts'
import type { Dialect, ParsingRules } from '../dialect.ts'
import type { CrawlerRules } from '../match/crawler-rules.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord, ParsedRule } from '../parse/records.ts'
import { formsOf } from '../parse/rule-forms.ts'
import { parseRobots } from '../parse-robots.ts'
import { parseUrl, urlText } from '../url/origin.ts'
import type { ReportFinding } from './finding.ts'
import { hasRecord } from './groups.ts'
import { nameOf, valueNamesEveryone } from './name.ts'

/** A rule that disallows paths. */
export interface ClosedPath {
  /** As in `RuleForm`. */
  readonly base: string
  /** The parts of the base between its `*`. */
  readonly parts: readonly string[]
  readonly line: number
  /** The rule, to write it again. */
  readonly text: string
}

/**
 * Only so many rules and preferences of `*` are compared, because there may be thousands, and of
 * groups too.
 */
const MAX_COMPARED = 100

/** Longer rules are not compared, which bounds the time for each pair of rules. */
const MAX_LENGTH = 200

/**
 * Crawlers that never read the group for `*`, so that their groups replace nothing; and a line that
 * names no crawler. A test compares them with the catalogue of known crawlers.
 */
const WITHOUT_SHARED_GROUP = /^(?:$|(?:adsbot|mediapartners|apis)-google)/

/**
 * Reports groups that lack rules, or preferences, of the group for `*`.
 *
 * - A group that disallows everything is not reported.
 * - A group whose rules disallow nothing gets no finding about rules: its author meant to allow
 *   everything. A group with a record only, such as a crawl-delay, gets one.
 * - No group gets a finding about rules if `*` disallows everything: the groups are its exceptions.
 *
 * @param unmerged The groups whose crawlers obey no other group.
 * @param records Records in which a License inside a group has names.
 * @param dialect Of the file.
 * @param policyTokens Names that stand for a use. In lower case. A group that names nothing else gets
 * no finding.
 */
export function lintNamedGroups(
  file: ParsedFile,
  unmerged: Iterable<ParsedGroup>,
  records: readonly ParsedRecord[],
  dialect: Dialect,
  policyTokens: readonly string[],
  report: ReportFinding,
): void {
  const { parsing } = dialect
  const isApart = (agent: string) => WITHOUT_SHARED_GROUP.test(agent) || policyTokens.includes(agent)
  const ofStar = file.groups.filter(({ agents }) => agents.some(valueNamesEveryone))
  const star = parsing.groups === 'merged' ? ofStar : ofStar.slice(0, 1)
  const closed = closedPaths(star, parsing)
  const hasExceptions = closed.some(isWholeSite)
  const shown = hasExceptions ? [] : withExamples(star, closed, dialect)
  const { shared, stated } = preferencesIn(records)
  for (const group of unmerged) {
    const agents = group.agents.map(nameOf)
    const own = closedPaths([group], parsing)
    if (agents.includes('*') || agents.every(isApart) || own.some(isWholeSite)) continue
    const isOpen = own.length === 0 && (group.rules.length > 0 || !hasRecord(file, group))
    if (!isOpen) lintMissingRules(group, own, shown, dialect, report)
    const missing = shared.filter(({ field }) => !agents.some((agent) => stated.has(`${field} ${agent}`)))
    if (missing.length > 0) {
      const write = missing.map(({ key, value }) => textOf(`${key}: ${value}`))
      report('named-group-lacks-preferences', { line: group.line, found: linesOf(missing) }, ...write)
    }
  }
}

/** A rule of `*`, and a URL that it disallows. */
interface ShownPath extends ClosedPath {
  readonly path: string
}

/** Returns the first rules with a path that each disallows. An Allow may win against a rule. */
function withExamples(
  star: readonly ParsedGroup[],
  closed: readonly ClosedPath[],
  dialect: Dialect,
): readonly ShownPath[] {
  const seen = new Set<string>()
  const distinct = closed.filter(({ base }) => !seen.has(base) && seen.add(base))
  if (distinct.length === 0) return []
  const rules = rulesOf(star, dialect)
  const lines = star.flatMap((group) => group.rules.map(({ line }) => line))
  return distinct.slice(0, MAX_COMPARED).flatMap((rule) => {
    const path = rule.base.length > MAX_LENGTH ? undefined : exampleOf(rule, dialect.parsing)
    if (path === undefined) return []
    const { verdict, matches } = rules.explain(path)
    const isOwn = matches.some(({ line }) => lines[line - FIRST_LINE] === rule.line)
    return isOwn && !verdict.allowed ? [{ ...rule, path }] : []
  })
}

/**
 * Returns a URL that a rule matches, as a client sends it: each `*` takes one letter. Undefined if
 * no client sends one.
 */
function exampleOf({ base }: ClosedPath, { wildcards }: ParsingRules): string | undefined {
  const path = wildcards === 'literal' ? base : base.replace(/\0$/, '').replaceAll('*', 'x')
  const url = parseUrl(`https://host.invalid${path.startsWith('/') ? '' : '/'}${textOf(path)}`)
  return typeof url === 'string' ? undefined : urlText(url)
}

/** The line of the first rule in the file of `rulesOf`. */
const FIRST_LINE = 2

/** Returns the rules of groups, as a crawler reads them that obeys these groups. */
export function rulesOf(groups: readonly ParsedGroup[], dialect: Dialect): CrawlerRules {
  const rules = groups.flatMap(({ rules }) => rules)
  const lines = rules.map(({ field, value }) => `${field}:${value}\n`)
  return parseRobots(bytesOfLatin1(`user-agent:*\n${lines.join('')}`), { dialect }).forCrawler('*')
}

function lintMissingRules(
  group: ParsedGroup,
  own: readonly ClosedPath[],
  shown: readonly ShownPath[],
  dialect: Dialect,
  report: ReportFinding,
): void {
  // An Allow for the same path says that the author thought of it.
  const allowed = new Set(
    group.rules
      .filter(({ field }) => field === 'allow')
      .flatMap((rule) => formsOf(rule, dialect.parsing).map(({ base }) => base)),
  )
  const uncovered = shown.filter(({ base }) => !allowed.has(base) && !own.some(({ parts }) => covers(parts, base)))
  if (uncovered.length === 0) return
  const rules = rulesOf([group], dialect)
  const missing = uncovered.filter(({ path }) => rules.isAllowed(path))
  if (missing.length === 0) return
  const write = missing.map(({ text }) => text)
  report('named-group-lacks-rules', { line: group.line, found: linesOf(missing) }, ...write)
}

/** Returns whether a group disallows everything. An Allow may still make exceptions. */
export function closesAll(group: ParsedGroup, parsing: ParsingRules): boolean {
  return closedPaths([group], parsing).some(isWholeSite)
}

/** Returns whether one of the first closed paths matches all URLs that a base matches. */
export function isClosed(base: string, closed: readonly ClosedPath[]): boolean {
  if (base.length > MAX_LENGTH) return false
  return closed.slice(0, MAX_COMPARED).some(({ parts }) => covers(parts, base))
}

/** Returns the rules that disallow paths. */
export function closedPaths(groups: readonly ParsedGroup[], parsing: ParsingRules): readonly ClosedPath[] {
  return groups.flatMap(({ rules }) => rules.flatMap((rule) => closedPath(rule, parsing) ?? []))
}

function closedPath(rule: ParsedRule, parsing: ParsingRules): ClosedPath | undefined {
  const [form] = formsOf(rule, parsing)
  if (form === undefined || form.allows) return undefined
  const { base } = form
  const parts = parsing.wildcards === 'literal' ? [base] : base.split('*')
  return { base, parts, line: rule.line, text: `Disallow: ${textOf(rule.value)}` }
}

/** Returns whether a pattern matches all paths of a base, in which a `*` stands for itself. */
function covers(parts: readonly string[], base: string): boolean {
  let end = 0
  return parts.every((part, i) => {
    const at = base.indexOf(part, end)
    end = at + part.length
    return i === 0 ? base.startsWith(part) : at !== -1
  })
}

function isWholeSite({ base }: ClosedPath): boolean {
  return base === '/'
}

/** The records of the file about the use of content: Content-Signal, Content-Usage, License. */
interface Preferences {
  /** The records for `*`. */
  readonly shared: readonly ParsedRecord[]
  /** A field and a crawler that such a record applies to, as in `license a`. */
  readonly stated: ReadonlySet<string>
}

function preferencesIn(records: readonly ParsedRecord[]): Preferences {
  const shared: ParsedRecord[] = []
  const stated = new Set<string>()
  /** Whether a list of names has `*`. Records of one group share the same array of names. */
  const lists = { 'content-signal': new Map(), 'content-usage': new Map(), license: new Map() }
  for (const record of records) {
    const { field, agents } = record
    if (agents === undefined) continue
    if (field !== 'content-signal' && field !== 'content-usage' && field !== 'license') continue
    if (!lists[field].has(agents)) {
      lists[field].set(agents, agents.some(valueNamesEveryone))
      for (const agent of agents) stated.add(`${field} ${nameOf(agent)}`)
    }
    if (lists[field].get(agents) && shared.length < MAX_COMPARED) shared.push(record)
  }
  return { shared, stated }
}

/** Returns `line 3`, or `line 3 (and 6 more)`. */
function linesOf(items: readonly { readonly line: number }[]): string {
  const more = items.length > 1 ? ` (and ${items.length - 1} more)` : ''
  return `line ${items[0]?.line}${more}`
}
