// Fields -> groups. RFC 9309 §2.1 and §2.2.1.
import type { Reading } from '../dialect.ts'
import { octetsBetween, octetsOf, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { steadyOctets } from '../url/normal-form.ts'
import { isStronger, lookAt, type MatchingRule } from './deciding-rule.ts'
import { Fields, type Interest } from './fields.ts'
import { otherFields, type WrittenRecord } from './other-records.ts'
import { WrittenRules } from './written-rules.ts'

/** One or more user-agent lines and the rules that follow them. */
export interface WrittenGroup {
  /** The values of the user-agent lines, octets. */
  readonly agents: readonly string[]
  /** Its rules are those of the file from this one on, counted from 0. */
  readonly firstRule: number
  /** And up to before this one. */
  readonly endOfRules: number
  /**
   * In a file that is read for one path: of the rules that match it as they are written, the one that decides. `firstRule` to `endOfRules`
   * are then those of which that cannot be told.
   */
  readonly literal: MatchingRule | undefined
  /** The line of the first user-agent line. */
  readonly line: number
}

/** A file, taken apart. Everything is as it stands in it, and nothing is dropped but what is no field. */
export interface WrittenFile {
  readonly source: Source
  /** Those of all groups. */
  readonly rules: WrittenRules
  readonly groups: readonly WrittenGroup[]
  /** All other lines that are fields. §2.2.4. */
  readonly others: readonly WrittenRecord[]
}

/**
 * Takes a file apart. Only allow and disallow close a list of user-agent lines: blank lines, sitemaps and unknown fields
 * between two of them do not, so both name one group (google/robotstxt; it decides who is blocked in 4 % of real files). In
 * the dialects of the nineties a blank line closes the record, and what follows without a user-agent line is nobody's.
 *
 * Our choice: a crawl-delay, and every other record that is about crawlers, speaks to the user-agent lines that stand right above
 * it and to no later ones. Otherwise `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow everyone
 * down.
 *
 * @param isWanted Which user-agent values are of interest: without it all are, and everything is kept; with it, of what is said to others
 * only the user-agent lines are read, and of other records those about crawlers.
 * @param about The path of a single question: only rules that may decide it are kept.
 */
export function groupsOf(
  source: Source,
  reading: Reading,
  isWanted?: (agent: string) => boolean,
  about?: AskedPath,
): WrittenFile {
  const { text } = source
  const steady = steadyOctets(reading.compare)
  const fields = new Fields(source, reading.keys)
  const rules = new WrittenRules()
  const groups: WrittenGroup[] = []
  const others: WrittenRecord[] = []
  /** The group being read; it counts once it names somebody who is wanted. */
  let group: OpenGroup | undefined
  let lastWasAgent = false

  // In the nineties a blank line says something too.
  const ofInterest = isWanted === undefined || reading.groupEnd === 'blank-line' ? undefined : OF_WANTED
  let interest = ofInterest && OF_NAMES // what stands above the first name concerns nobody who is wanted
  while (fields.nextLine(interest)) {
    const hasField = fields.readField()
    if (reading.groupEnd === 'blank-line' && fields.isBlankLine) group = undefined
    if (!hasField) continue
    if (fields.cutsCharacter) return groupsOf({ text: octetsOf(text), unit: 'octet' }, reading, isWanted, about)
    const { directive, line, valueStart: start, contentEnd: end } = fields
    if (directive === 'user-agent') {
      const agent = octetsBetween(source, start, end)
      if (group === undefined || group.hasRules) {
        const { length } = rules
        group = {
          agents: [agent],
          firstRule: length,
          endOfRules: length,
          literal: undefined,
          line,
          latestFrom: 0,
          latest: undefined,
          hasRules: false,
          isWanted: false,
        }
      } else {
        if (!lastWasAgent) group.latestFrom = group.agents.length
        group.agents.push(agent)
        group.latest = undefined
      }
      if (!group.isWanted && (isWanted === undefined || isWanted(agent))) {
        group.isWanted = true
        groups.push(group)
      }
      lastWasAgent = true
      interest = ofInterest
    } else if (directive === 'disallow' || (directive === 'allow' && reading.allow === 'rule')) {
      lastWasAgent = false
      if (group === undefined) continue // Rules before the first user-agent line belong to nobody. §2.2.1.
      group.hasRules = true
      if (!group.isWanted) {
        if (ofInterest !== undefined) interest = OF_NAMES
        continue
      }
      if (group.literal !== undefined && reading.winner === 'first') continue
      const told = about === undefined ? 'unclear' : lookAt(about, steady, text, start, end)
      if (told === 'unclear') {
        rules.add(directive, start, end, line)
        group.endOfRules = rules.length
      } else if (told === 'matches' && (start < end || reading.emptyRules !== 'nothing')) {
        const octets = end - start
        if (isStronger(directive, octets, line, group.literal)) group.literal = { directive, start, end, line, octets }
      }
    } else {
      const field = directive === 'allow' ? 'unknown' : directive
      const isAboutCrawlers = field !== 'unknown' && otherFields[field] === 'agents-above'
      if (isAboutCrawlers) lastWasAgent = false
      if (isWanted !== undefined && !(isAboutCrawlers && group?.isWanted)) continue
      const agents = isAboutCrawlers ? latestOf(group) : undefined
      others.push({
        field,
        key: octetsBetween(source, fields.contentStart, fields.keyEnd),
        value: octetsBetween(source, start, end),
        line,
        agents,
      })
    }
  }
  return { source, rules, groups, others }
}

interface OpenGroup {
  /** A list that is made of its first item takes a tenth of one that was made empty. */
  readonly agents: string[]
  readonly firstRule: number
  endOfRules: number
  literal: MatchingRule | undefined
  readonly line: number
  /** From this one of its agents on, they are the latest: to them the next record about crawlers speaks. */
  latestFrom: number
  /** Those, once there is such a record. Many may share the list. */
  latest: readonly string[] | undefined
  hasRules: boolean
  isWanted: boolean
}

function latestOf(group: OpenGroup | undefined): readonly string[] {
  if (group === undefined) return NOBODY
  group.latest ??= group.agents.slice(group.latestFrom)
  return group.latest
}

/** The first letters of keys, large and small. */
function firstLetters(keys: readonly string[]): Uint8Array {
  const letters = new Uint8Array(128)
  for (const key of keys) for (const letter of [key, key.toUpperCase()]) letters[letter.charCodeAt(0)] = 1
  return letters
}

/** What is of interest where those who are spoken to are not, and their list of names is closed: the next name. */
const OF_NAMES: Interest = { beginnings: firstLetters(['user-agent']), word: /user/gi }
const ABOUT_CRAWLERS = Object.entries(otherFields).flatMap(([key, audience]) =>
  audience === 'agents-above' ? key : [],
)
/** Names, rules, and records about crawlers. A misspelt key begins with the letter of the right one. */
const OF_WANTED: Interest = { beginnings: firstLetters(['user-agent', 'allow', 'disallow', ...ABOUT_CRAWLERS]) }

const NOBODY: readonly string[] = []
