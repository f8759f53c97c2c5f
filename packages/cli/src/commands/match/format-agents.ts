// Prints what `politely match --by-agent` found. `ndjson` is a contract; the text is for people and
// may change.
import type { Rule } from '@politely/core'
import type { KnownCrawler } from '@politely/core/crawlers'
import { textWithoutCredentials } from '@politely/core/internal'
import { bold, countText, dim, green, printable, red, yellow } from '../../output/style.ts'
import { jsonLine } from '../../output/write.ts'
import { UNCLEAR } from './agent-name.ts'
import type { IdentityClaim } from './ip-ranges.ts'

/** A rule that a crawler broke. */
interface BrokenRule {
  readonly rule: Rule
  requests: number
  /** The URL of the first of these requests, cut after 500 characters. */
  readonly example: string
}

/** The requests of one crawler, with one identity. */
export interface AgentRow {
  /** `UNCLEAR` for names that are not clear, and for unknown names after the first thousand. */
  readonly crawler: string
  readonly identity: IdentityClaim
  readonly known: KnownCrawler | undefined
  /** The first User-Agent that named the crawler. */
  readonly userAgent: string
  allowed: number
  disallowed: number
  /** Requests for robots.txt, which are always allowed and count nowhere else. */
  robotsTxt: number
  /** By line. */
  readonly rules: Map<number, BrokenRule>
}

/** Lines of the log that are in no row. */
export interface LeftOut {
  browsers: number
  withoutAgent: number
  otherHosts: number
  /** Lines without a request that robots.txt could allow or disallow. */
  odd: number
  firstOdd: string
}

/** How many rules of a crawler are printed as JSON. */
const MAX_SHOWN_RULES = 20

export function formatAgents(rows: readonly AgentRow[], format: 'text' | 'ndjson'): string {
  return format === 'ndjson' ? rows.map(jsonOf).join('') : tableOf(rows)
}

function jsonOf(row: AgentRow): string {
  const { crawler, identity, known, userAgent, allowed, disallowed, robotsTxt } = row
  return jsonLine({
    version: 1,
    crawler,
    identity,
    userAgent,
    ...(known !== undefined && { operator: known.operator, obeys: known.obeys }),
    requests: allowed + disallowed,
    allowed,
    disallowed,
    robotsTxt,
    rules: worstRules(row).slice(0, MAX_SHOWN_RULES),
  })
}

function worstRules({ rules }: AgentRow): readonly BrokenRule[] {
  return [...rules.values()].sort((a, b) => b.requests - a.requests)
}

const IDENTITIES = { claimed: '', verified: ' (verified)', 'not-in-ranges': ' (not in the ranges)' } as const

/** One line for each crawler; below a crawler that broke rules, the rule that it broke most often. */
function tableOf(rows: readonly AgentRow[]): string {
  if (rows.length === 0) return 'No request names a crawler.\n'
  const names = rows.map(({ crawler, identity }) => {
    const name = crawler === UNCLEAR ? 'other names' : printable(crawler)
    return `${name}${IDENTITIES[identity]}`
  })
  const width = Math.max(7, ...names.map(({ length }) => length))
  const columns = (name: string, ...counts: readonly string[]) =>
    `${name.padEnd(width)}${counts.map((count) => count.padStart(12)).join('')}`
  const lines = rows.flatMap((row, i) => {
    const { allowed, disallowed, robotsTxt, known, identity } = row
    const counts = [allowed + disallowed, allowed, disallowed].map((count) => count.toLocaleString('en'))
    const mark = disallowed === 0 ? green('✓') : red('✗')
    const line = `${mark} ${columns(names[i] as string, ...counts)}`
    const [worst] = worstRules(row)
    if (worst === undefined) return [line]
    const { rule, requests, example } = worst
    const more = row.rules.size > 1 ? `, and ${countText(row.rules.size - 1, 'other rule')}` : ''
    return [
      `${line}${robotsTxt === 0 ? dim('  never asked for robots.txt') : ''}`,
      `    line ${rule.line}: ${printable(`Disallow: ${rule.text}`)}  ${dim(`${countText(requests, 'request')}, such as ${printable(example)}${more}`)}`,
      ...(known?.obeys === 'no' && identity !== 'not-in-ranges'
        ? [yellow(`    ${known.operator} says that this crawler may ignore robots.txt`)]
        : []),
    ]
  })
  return `${bold(`  ${columns('crawler', 'requests', 'allowed', 'disallowed')}`)}\n${lines.join('\n')}\n`
}

/** Says on stderr what the counts mean, and which lines they leave out. */
export function summaryOf(rows: readonly AgentRow[], leftOut: LeftOut, robots: string): string {
  const sum = (count: (row: AgentRow) => number) => rows.reduce((total, row) => total + count(row), 0)
  const left = [
    [leftOut.browsers, 'by browsers'],
    [sum(({ robotsTxt }) => robotsTxt), 'for robots.txt'],
    [leftOut.withoutAgent, 'without a User-Agent'],
    [leftOut.otherHosts, 'to other hosts'],
  ] as const
  const parts = left.filter(([count]) => count > 0).map(([count, what]) => `${count.toLocaleString('en')} ${what}`)
  const disallowed = sum((row) => row.disallowed)
  const requests = disallowed + sum(({ allowed }) => allowed)
  const lines = [
    `${countText(requests, 'request')} of ${countText(new Set(rows.map(({ crawler }) => crawler)).size, 'crawler')}: ${disallowed.toLocaleString('en')} disallowed by ${printable(robots)} as it is today`,
    ...(parts.length === 0 ? [] : [`Left out: ${parts.join(', ')}`]),
    ...(leftOut.odd === 0
      ? []
      : [`${countText(leftOut.odd, 'line')} without a request for a URL; the first: ${printable(leftOut.firstOdd)}`]),
    rows.some(({ identity }) => identity === 'claimed')
      ? 'Names are as claimed: anyone can send any User-Agent. --ranges NAME=FILE checks IP addresses.'
      : 'Names are as claimed, and checked with the IP ranges that you gave.',
  ]
  return `${textWithoutCredentials(lines.join('\n'))}\n`
}
