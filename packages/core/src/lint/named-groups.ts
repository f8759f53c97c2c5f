// Compares groups for one crawler with the group for `*`, which they replace. RFC 9309 §2.2.1: a
// crawler with a group of its own does not read the group for `*`.

import { textOf } from '../bytes.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord } from '../parse/records.ts'
import { ruleForm } from '../url/normal-form.ts'
import type { Report } from './finding.ts'
import { hasRecord } from './groups.ts'
import { nameOf, namesEveryone } from './name.ts'
import { baseOf } from './rule-set.ts'

/** A rule that disallows all paths with a prefix. */
export interface ClosedPath {
  readonly prefix: string
  /** The parts of the prefix between its `*`. */
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
 */
export function lintNamedGroups(
  file: ParsedFile,
  unmerged: Iterable<ParsedGroup>,
  records: readonly ParsedRecord[],
  report: Report,
): void {
  const closed = closedPaths(file.groups.filter(({ agents }) => agents.some(namesEveryone)))
  const hasExceptions = closed.some(isWholeSite)
  const { shared, stated } = preferencesIn(records)
  for (const group of unmerged) {
    const agents = group.agents.map(nameOf)
    const own = closedPaths([group])
    if (agents.includes('*') || agents.every((agent) => WITHOUT_SHARED_GROUP.test(agent)) || own.some(isWholeSite))
      continue
    const isOpen = own.length === 0 && (group.rules.length > 0 || !hasRecord(file.records, group))
    if (!isOpen && !hasExceptions) lintMissingRules(group, own, closed, report)
    const missing = shared.filter(({ field }) => !agents.some((agent) => stated.has(`${field} ${agent}`)))
    if (missing.length > 0) {
      const write = missing.map(({ key, value }) => textOf(`${key}: ${value}`))
      report('named-group-lacks-preferences', { line: group.line, found: linesOf(missing) }, ...write)
    }
  }
}

function lintMissingRules(
  { line, rules }: ParsedGroup,
  own: readonly ClosedPath[],
  closed: readonly ClosedPath[],
  report: Report,
): void {
  // An Allow for the same path says that the author thought of it.
  const allowed = new Set(
    rules.filter(({ directive }) => directive === 'allow').map(({ path }) => baseOf(ruleForm(path))),
  )
  const missing = closed
    .slice(0, MAX_COMPARED)
    .filter(({ prefix }) => prefix.length <= MAX_LENGTH && !allowed.has(prefix))
    .filter(({ prefix }) => !own.some((other) => covers(other.parts, prefix)))
  if (missing.length === 0) return
  const write = missing.map(({ text }) => text)
  report('named-group-lacks-rules', { line, found: linesOf(missing) }, ...write)
}

/** Returns whether a group disallows everything. An Allow may still make exceptions. */
export function closesAll(group: ParsedGroup): boolean {
  return closedPaths([group]).some(isWholeSite)
}

/** Returns whether one of the first closed paths matches all URLs that a pattern matches. */
export function isClosed(pattern: string, closed: readonly ClosedPath[]): boolean {
  if (pattern.length > MAX_LENGTH) return false
  return closed.slice(0, MAX_COMPARED).some(({ parts }) => covers(parts, pattern))
}

/** Returns the rules that disallow paths. */
export function closedPaths(groups: readonly ParsedGroup[]): readonly ClosedPath[] {
  return groups
    .flatMap(({ rules }) => rules)
    .filter(({ directive, path }) => directive === 'disallow' && path !== '')
    .map(({ path, line }) => {
      const prefix = baseOf(ruleForm(path))
      return { prefix, parts: prefix.split('*'), line, text: `Disallow: ${textOf(path)}` }
    })
}

/** Returns whether a pattern matches a path, in which a `*` stands for itself. */
function covers(parts: readonly string[], path: string): boolean {
  let end = 0
  return parts.every((part, i) => {
    const at = path.indexOf(part, end)
    end = at + part.length
    return i === 0 ? path.startsWith(part) : at !== -1
  })
}

function isWholeSite({ prefix }: ClosedPath): boolean {
  return prefix === '/'
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
      lists[field].set(agents, agents.some(namesEveryone))
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
