// Prints the files of a reading for people.
import { withoutCredentials } from '@politely/core/engine'
import { problemMeanings, type SitemapFile, type SitemapOutcome } from '@politely/sitemaps'
import { describeResult } from '@politely/sitemaps/internal'
import { countText, sizeText } from '../../output/amounts.ts'
import { bold, dim, green, printable, red, yellow } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'

const MARKS: Readonly<Record<SitemapOutcome, string>> = {
  complete: green('✓ complete '),
  unchanged: green('✓ unchanged'),
  partial: yellow('~ partial  '),
  skipped: dim('- skipped  '),
  failed: red('✗ failed   '),
}

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
    ...(reason === 'no-sitemaps' ? ['--guess reads /sitemap.xml of such a site'] : []),
    ...(outcome === 'failed' && status !== undefined && !counts.includes(String(status)) ? [`status ${status}`] : []),
  ]
  const rows = lines.map((line) => `${' '.repeat(INDENT)}${hang(printable(line), INDENT)}\n`)
  return `${MARKS[outcome]}  ${bold(printable(url))}\n${rows.join('')}`
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
  const missing = (['partial', 'failed', 'skipped'] as const)
    .filter((outcome) => of(outcome) > 0)
    .map((outcome) => `${of(outcome)} ${outcome}`)
  return `\n${countText(entries, 'URL')} in ${countText(files.length, 'file')}${missing.length > 0 ? `; ${missing.join(', ')}` : ''}\n`
}
