// Lines -> groups. RFC 9309 §2.1 and §2.2.1.
import type { Reading } from '../dialect.ts'
import { fieldOf, isBlankLine } from './field.ts'
import { visitLines } from './lines.ts'

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

/** A crawl-delay line and the crawlers it speaks to. */
export interface WrittenDelay {
  readonly agents: readonly string[]
  readonly value: string
  readonly line: number
}

/** A robots.txt taken apart, nothing judged yet. */
export interface WrittenFile {
  readonly groups: readonly WrittenGroup[]
  readonly delays: readonly WrittenDelay[]
  /** Values of sitemap lines, octets. They belong to no group. */
  readonly sitemaps: readonly string[]
}

/**
 * Takes a file apart. Only allow and disallow close a list of user-agent lines: blank lines, sitemaps and unknown fields
 * between two of them do not, so both name one group (google/robotstxt; it decides who is blocked in 4 % of real files). In
 * the dialects of the nineties a blank line closes the record, and what follows without a user-agent line is nobody's.
 *
 * Our choice: a crawl-delay speaks to the user-agent lines that stand right above it and to no later ones. Otherwise
 * `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow everyone down.
 */
export function groupsOf(octets: string, { keys, groupEnd, allow }: Reading): WrittenFile {
  const groups: WrittenGroup[] = []
  const delays: WrittenDelay[] = []
  const sitemaps: string[] = []
  /** The group being read; its `speakers` are those to whom the next crawl-delay speaks. */
  let group: { agents: string[]; rules: WrittenRule[]; line: number; speakers: string[] } | undefined
  let lastWasAgent = false

  const agentLine = (value: string, line: number) => {
    if (group === undefined || group.rules.length > 0) {
      group = { agents: [], rules: [], line, speakers: [] }
      groups.push(group)
    }
    if (!lastWasAgent) group.speakers = []
    group.agents.push(value)
    group.speakers.push(value)
    lastWasAgent = true
  }

  visitLines(octets, (start, end, line) => {
    const content = octets.slice(start, end)
    if (groupEnd === 'blank-line' && isBlankLine(content)) group = undefined
    const field = fieldOf(content, keys)
    switch (field?.directive) {
      case 'user-agent':
        agentLine(field.value, line)
        break
      case 'allow':
      case 'disallow':
        if (field.directive === 'allow' && allow === 'unknown') break
        lastWasAgent = false
        // Rules before the first user-agent line belong to nobody. §2.2.1.
        group?.rules.push({ directive: field.directive, path: field.value, line })
        break
      case 'crawl-delay':
        lastWasAgent = false
        if (group !== undefined) delays.push({ agents: group.speakers, value: field.value, line })
        break
      case 'sitemap':
        sitemaps.push(field.value)
        break
      default: // blank, comment, or a field that is not read
    }
  })
  return { groups, delays, sitemaps }
}
