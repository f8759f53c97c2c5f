// Lines -> groups. RFC 9309 §2.1 and §2.2.1.
import type { Reading } from '../dialect.ts'
import { type Field, fieldOf, isBlankLine } from './field.ts'
import { visitLines } from './lines.ts'
import { otherFields, type WrittenRecord } from './other-records.ts'

/** A rule as it stands in the file. */
export interface WrittenRule {
  readonly directive: 'allow' | 'disallow'
  /** Octets of the path; may be empty. */
  readonly path: string
  readonly line: number
}

/** One or more user-agent lines and the rules that follow them. */
export interface WrittenGroup {
  /** The values of the user-agent lines, octets. */
  readonly agents: readonly string[]
  readonly rules: readonly WrittenRule[]
  /** The line of the first user-agent line. */
  readonly line: number
}

/** A robots.txt taken apart, nothing judged yet. */
export interface WrittenFile {
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
 */
export function groupsOf(octets: string, { keys, groupEnd, allow }: Reading): WrittenFile {
  const groups: WrittenGroup[] = []
  const others: WrittenRecord[] = []
  /** The group being read; its `latest` agents are those to whom the next record about crawlers speaks. */
  let group: { agents: string[]; rules: WrittenRule[]; line: number; latest: string[] } | undefined
  let lastWasAgent = false

  const agentLine = (value: string, line: number) => {
    if (group === undefined || group.rules.length > 0) {
      group = { agents: [], rules: [], line, latest: [] }
      groups.push(group)
    }
    if (!lastWasAgent) group.latest = []
    group.agents.push(value)
    group.latest.push(value)
    lastWasAgent = true
  }

  const keep = (field: WrittenRecord['field'], { key, value }: Field, line: number) => {
    const isAboutCrawlers = field !== 'unknown' && otherFields[field] === 'agents-above'
    if (isAboutCrawlers) lastWasAgent = false
    others.push({ field, key, value, line, agents: isAboutCrawlers ? (group?.latest ?? NOBODY) : undefined })
  }

  visitLines(octets, (start, end, line) => {
    const content = octets.slice(start, end)
    if (groupEnd === 'blank-line' && isBlankLine(content)) group = undefined
    const field = fieldOf(content, keys)
    if (field === undefined) return // a blank line, a comment, or no field
    switch (field.directive) {
      case 'user-agent':
        agentLine(field.value, line)
        break
      case 'allow':
      case 'disallow':
        if (field.directive === 'allow' && allow === 'unknown') {
          keep('unknown', field, line)
          break
        }
        lastWasAgent = false
        // Rules before the first user-agent line belong to nobody. §2.2.1.
        group?.rules.push({ directive: field.directive, path: field.value, line })
        break
      default:
        keep(field.directive, field, line)
    }
  })
  return { groups, others }
}

const NOBODY: readonly string[] = []
