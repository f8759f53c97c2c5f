// Prints the files of a reading for people.
import { withoutCredentials } from '@politely/core/internal'
import { problemMeanings, type SitemapFile } from '@politely/sitemaps'
import type { SitemapOutcome } from '@politely/sitemaps/internal'
import { describeResult } from '@politely/sitemaps/internal'
import { bold, countText, dim, green, printable, red, sizeText, yellow } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'
import type { ReturnLinksResult } from './return-links.ts'

const MARKS: Readonly<Record<SitemapOutcome, string>> = {
  complete: green('✓ complete '),
  unchanged: green('✓ unchanged'),
  partial: yellow('~ partial  '),
  skipped: dim('- skipped  '),
  failed: red('✗ failed   '),
}

/** A whole file that has problems: search engines may refuse it. */
const WITH_PROBLEMS = yellow('! complete ')
const INDENT = 13

/** Returns one line for the file, one for what was read, and one for each problem. */
export function formatFile(file: SitemapFile): string {
  const { url, outcome, reason, status, bytesOut, gzipLayers, hops, problems, dates, foreignEntries } = file
  const isRead = outcome === 'complete' || outcome === 'partial'
  const counts = describeResult(file)
    .replace(/^(?:complete|failed|skipped): /, '')
    .replace(/^partial \((.*)\): /, '$1; ')
  const size = isRead ? `, ${sizeText(bytesOut)}${gzipLayers > 0 ? ' (gzip)' : ''}` : ''
  const lines = [
    `${counts}${size}`,
    ...hops.map((hop) => `redirected by ${hop.url} (${hop.status})`),
    ...problems.map(({ code, count, example }) => {
      const such = example === undefined ? '' : `, such as ${JSON.stringify(withoutCredentials(example))}`
      return `${countText(count, 'time')}: ${problemMeanings[code]}${such}`
    }),
    ...(isRead && dates.dates > 0 && !dates.isTrusted ? [`its dates cannot be trusted: ${distrust(file)}`] : []),
    ...(foreignEntries > 0 ? [`${countText(foreignEntries, 'URL')} of other hosts`] : []),
    ...(isRobots(file) ? [`politely sitemap ${new URL(url).origin} reads the sitemaps that a robots.txt names`] : []),
    ...(reason === 'no-sitemaps' ? ['--guess reads /sitemap.xml of such a site'] : []),
    ...(outcome === 'failed' && status !== undefined && !counts.includes(String(status)) ? [`status ${status}`] : []),
  ]
  return `${hasProblems(file) ? WITH_PROBLEMS : MARKS[outcome]}  ${bold(printable(url))}\n${rows(lines)}`
}

function rows(lines: readonly string[]): string {
  return lines.map((line) => `${' '.repeat(INDENT)}${hang(printable(line), INDENT)}\n`).join('')
}

function hasProblems({ outcome, problems }: SitemapFile): boolean {
  return outcome === 'complete' && problems.length > 0
}

function isRobots({ url, reason }: SitemapFile): boolean {
  return reason === 'not-a-sitemap' && new URL(url).pathname === '/robots.txt'
}

/** Returns what --return-links found. */
export function formatReturnLinks({ links, missing, otherHosts, examples, complete }: ReturnLinksResult): string {
  const counted = `${countText(links, 'link')} to pages in other languages`
  const partly = [
    ...(complete ? [] : ['links to pages that were not read are left out']),
    ...(otherHosts > 0 ? [`links to ${countText(otherHosts, 'host')} whose sitemaps were not read are left out`] : []),
  ]
  if (links === 0) return `${dim('- returned ')}  no links to check\n${rows(partly)}`
  if (missing === 0) return `${green('✓ returned ')}  ${counted}; each page names the other one too\n${rows(partly)}`
  const lines = examples.map(({ from, to, listed }) => {
    const why = listed ? 'does not name it' : 'is in none of the sitemaps'
    return `${withoutCredentials(from)} names ${withoutCredentials(to)}, which ${why}`
  })
  const more = missing > examples.length ? [`and ${missing - examples.length} more`] : []
  return `${yellow('! no return ')} ${missing} of ${counted} have no return link\n${rows([...lines, ...more, ...partly])}`
}

function distrust({ dates: { equalShare, futureShare, fetchTimeShare } }: SitemapFile): string {
  const shares = [
    [equalShare, 'are equal'],
    [futureShare, 'are in the future'],
    [fetchTimeShare, 'are the time of the request'],
  ] as const
  const [share, what] = shares.reduce((one, other) => (other[0] > one[0] ? other : one))
  return `${Math.round(share * 100)} % ${what}`
}

export function formatSummary(files: readonly SitemapFile[]): string {
  const entries = files.reduce((sum, file) => sum + file.entries - file.skippedEntries, 0)
  const of = (outcome: SitemapOutcome) => files.filter((file) => file.outcome === outcome).length
  const missing = [
    ...[files.filter(hasProblems).length].filter((count) => count > 0).map((count) => `${count} with problems`),
    ...(['partial', 'failed', 'skipped'] as const)
      .filter((outcome) => of(outcome) > 0)
      .map((outcome) => `${of(outcome)} ${outcome}`),
  ]
  return `\n${countText(entries, 'URL')} in ${countText(files.length, 'file')}${missing.length > 0 ? `; ${missing.join(', ')}` : ''}\n`
}
