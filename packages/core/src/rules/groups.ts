// Lines -> groups. RFC 9309 §2.1 and §2.2.1.
import { fieldOf } from './field.ts'
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
 * between two of them do not, so both name one group (google/robotstxt; it decides who is blocked in 4 % of real files).
 *
 * Our choice: a crawl-delay speaks to the user-agent lines that stand right above it and to no later ones. Otherwise
 * `User-agent: slow`, `Crawl-delay: 30`, `User-agent: *`, `Disallow: /x` would slow everyone down.
 */
export function groupsOf(octets: string): WrittenFile {
  const groups: WrittenGroup[] = []
  const delays: WrittenDelay[] = []
  const sitemaps: string[] = []
  // The group being read. `speakers` are the agents of it that the next crawl-delay speaks to.
  let agents: string[] = []
  let rules: WrittenRule[] = []
  let speakers: string[] = []
  let speakersClosed = false

  visitLines(octets, (start, end, line) => {
    const field = fieldOf(octets.slice(start, end))
    switch (field?.directive) {
      case 'user-agent': {
        if (rules.length > 0 || groups.length === 0) {
          agents = []
          rules = []
          groups.push({ agents, rules, line })
        }
        if (speakersClosed) speakers = []
        speakersClosed = false
        agents.push(field.value)
        speakers.push(field.value)
        break
      }
      case 'allow':
      case 'disallow':
        speakersClosed = true
        // Rules before the first user-agent line belong to nobody. §2.2.1.
        if (groups.length > 0) rules.push({ directive: field.directive, path: field.value, line })
        break
      case 'crawl-delay':
        speakersClosed = true
        if (groups.length > 0) delays.push({ agents: speakers, value: field.value, line })
        break
      case 'sitemap':
        sitemaps.push(field.value)
        break
      default: // blank, comment, or a field that is not read
    }
  })
  return { groups, delays, sitemaps }
}
