// Prints two request logs side by side: a block for each site, and a table at the end.
import { styleText } from 'node:util'
import { alignFindings } from './align.ts'
import { type Finding, findingsOf, type Share, seconds, totalsOf } from './findings.ts'
import { mebibytes, type RequestLog, ROBOTS_PATH, type Site, sites } from './local-sites.ts'

/** The requests of one crawler, and its heading. */
export interface Column {
  readonly head: string
  /** The code that makes it follow robots.txt. */
  readonly how: string
  readonly log: RequestLog
}

// Widths in characters. With the separators, a line has 119.
const CELL = 57
const LABEL = 45
const VALUE = 35

export function printBlocks(left: Column, right: Column): void {
  console.log(styleText('bold', `  ${fit(left.head, CELL)} │ ${right.head}`))
  console.log(styleText('dim', `  ${fit(left.how, CELL)} │ ${right.how}`))
  const [leftStart, rightStart] = [startOf(left), startOf(right)]
  for (const site of sites) {
    console.log(`\n${styleText('bold', site.name)}  ${styleText('dim', `robots.txt: ${site.robots.says}`)}`)
    const width = Math.max(...[ROBOTS_PATH, ...Object.keys(site.pages)].map((path) => path.length))
    for (const [l, r] of alignFindings(findings(left, site), findings(right, site)))
      console.log(`  ${cell(l, leftStart, width)} │ ${cell(r, rightStart, width)}`.trimEnd())
  }
}

export function printTable(left: Column, right: Column): void {
  const [l, r] = [totalsOf(left.log), totalsOf(right.log)]
  const crawlDelayMs = Math.max(...sites.map(({ robots }) => robots.crawlDelayMs ?? 0))
  const longest = Math.max(...sites.map(({ robots }) => robots.body.length))
  const rows: readonly (readonly [label: string, left: string, right: string])[] = [
    ['in total', left.head, right.head],
    ['allowed pages requested', share(l.allowed), share(r.allowed)],
    ['disallowed pages requested', share(l.disallowed), share(r.disallowed)],
    ['pages requested without knowing robots.txt', share(l.unreachable), share(r.unreachable)],
    [`shortest gap where the site asks for ${seconds(crawlDelayMs)}`, gap(l.shortestGapMs), gap(r.shortestGapMs)],
    [`read of the ${mebibytes(longest)} robots.txt`, mebibytes(l.longestRobots), mebibytes(r.longestRobots)],
    ['User-Agent for robots.txt', summarize(l.robotsUserAgents), summarize(r.robotsUserAgents)],
    ['User-Agent for pages', summarize(l.pageUserAgents), summarize(r.pageUserAgents)],
  ]
  console.log()
  for (const [i, [label, ...cells]] of rows.entries()) {
    const line = `  ${fit(label, LABEL)}${cells.map((text) => fit(text, VALUE)).join('  ')}`.trimEnd()
    console.log(i === 0 ? styleText('bold', line) : line)
  }
}

function findings({ log }: Column, site: Site): readonly Finding[] {
  return findingsOf(site, log.get(site) ?? [])
}

/** Returns the time of a column's first request. Its seconds count from there. */
function startOf({ log }: Column): number {
  return Math.min(...[...log.values()].flat().map(({ at }) => at))
}

function cell(finding: Finding | undefined, start: number, width: number): string {
  if (finding === undefined) return ' '.repeat(CELL)
  const { path, entry, note, obeyed } = finding
  const mark = obeyed === undefined ? ' ' : obeyed ? '✓' : '✗'
  const time = entry === undefined ? '–' : seconds(entry.at - start)
  const text = `${time.padStart(7)}  ${path.padEnd(width)}  ${String(entry?.status ?? '').padStart(3)}  ${mark} ${note}`
  const line = fit(text, CELL)
  if (obeyed !== undefined) return styleText(obeyed ? 'green' : 'red', line)
  return entry === undefined || path === ROBOTS_PATH ? styleText('dim', line) : line
}

function share({ requested, of }: Share): string {
  return `${requested} of ${of}`
}

function gap(ms: number | undefined): string {
  return ms === undefined ? '–' : seconds(ms)
}

/** Returns the first name, and the number of other names. */
function summarize([first = '–', ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : `, ${others.length} more`
  return fit(first, VALUE - more.length).trimEnd() + more
}

/** Pads the text to the width, or cuts it and ends it with `…`. */
function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width)
}
