// `politely sitemap`: reads the sitemaps of a site, and reports each file.
import type { SitemapEntry, SitemapFile, SitemapReading } from '@politely/sitemaps'
import { parseLastmod } from '@politely/sitemaps'
import type { Arguments } from '../../command-line.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { numberOf } from '../../input/numbers.ts'
import { entriesOf, isRobotsLost } from '../../input/sitemap.ts'
import { withSitemaps } from '../../input/sitemaps.ts'
import { csvLine } from '../../output/csv.ts'
import { Progress } from '../../output/progress.ts'
import { jsonLine, write } from '../../output/write.ts'
import { formatFile, formatReturnLinks, formatSummary } from './format-files.ts'
import { ReturnLinks } from './return-links.ts'

/** Returns the exit code. */
export async function sitemap(args: Arguments): Promise<number> {
  if (args.operands.length === 0)
    throw new UsageError('no site was given; write one such as https://example.com, or the URL of a sitemap')
  const maxUrls = numberOf(args, 'max-urls', { min: 1, unit: 'URLs', example: 10_000, isInteger: true })
  const maxFiles = numberOf(args, 'max-files', { min: 1, max: 1e6, unit: 'files', example: 100, isInteger: true })
  const since = sinceOf(args)
  const options = {
    guess: args.has('guess'),
    ...(since !== undefined && { since }),
    limits: { ...(maxUrls && { maxEntries: maxUrls }), ...(maxFiles && { maxFiles }) },
  }
  const format = args.get('format')
  if (format === 'csv') await write(csvLine(['url', 'lastmod', 'changefreq', 'priority', 'foreign', 'file']))
  const links = args.has('return-links') ? new ReturnLinks() : undefined
  const all = await withSitemaps(args.operands, args, options, (reading) =>
    format === 'text' ? printFiles(reading, links) : printEntries(reading, format, links),
  )
  const files = all.flat()
  const returnLinks = links?.result(!files.some((file) => isMissing(file) || isLeftOut(file)))
  if (format === 'json') await write(jsonLine({ version: 1, files: files.map(withoutFalse), returnLinks }))
  else if (returnLinks !== undefined) await (format === 'text' ? write : writeError)(formatReturnLinks(returnLinks))
  if (format === 'text') await write(formatSummary(files))
  if (files.some(isRobotsLost)) return EXITS.unreachable.code
  return files.some(isMissing) || (returnLinks?.missing ?? 0) > 0 ? EXITS.disallowed.code : EXITS.success.code
}

/** A file that was read before, or that did not change, is skipped, and nothing is missing. */
function isMissing({ outcome, reason }: SitemapFile): boolean {
  return (
    outcome === 'partial' || outcome === 'failed' || (outcome === 'skipped' && /^limit|not-reached/.test(reason ?? ''))
  )
}

/** Returns whether pages of the file are unknown, since they did not change. */
function isLeftOut({ outcome, reason, skippedEntries }: SitemapFile): boolean {
  return skippedEntries > 0 || reason === 'since' || outcome === 'unchanged'
}

/** @throws {UsageError} for a text that is not a date. */
function sinceOf(args: Arguments): number | undefined {
  const given = args.get('since')
  if (given === undefined) return undefined
  const at = parseLastmod(given)
  if (at !== undefined) return at
  throw new UsageError(`--since: ${JSON.stringify(given)} is not a date; write one such as 2026-11-01`)
}

/** Prints each file when it has been read. */
async function printFiles(reading: SitemapReading, links?: ReturnLinks): Promise<readonly SitemapFile[]> {
  const collect = async () => {
    if (links !== undefined) for await (const entry of entriesOf(reading)) links.add(entry)
  }
  const print = async () => {
    for await (const file of reading.files) await write(formatFile(file))
  }
  await Promise.all([collect(), print()])
  return reading.files.list
}

function writeError(text: string): void {
  process.stderr.write(text)
}

/** Prints the URLs, and the files on stderr. For `json`, which has only the files, prints nothing. */
async function printEntries(
  reading: SitemapReading,
  format: string | undefined,
  links?: ReturnLinks,
): Promise<readonly SitemapFile[]> {
  const progress = new Progress('URLs')
  let count = 0
  for await (const entry of entriesOf(reading)) {
    count++
    links?.add(entry)
    if (format === 'ndjson') await write(jsonLine({ version: 1, ...withoutFalse(entry) }))
    if (format === 'csv') await write(csvOf(entry))
    progress.update(count)
  }
  progress.end(count)
  if (format !== 'json') for (const file of reading.files.list) writeError(formatFile(file))
  return reading.files.list
}

/** JSON has `foreign` only for another host. */
function withoutFalse<T extends { readonly foreign: unknown }>(value: T): object {
  return { ...value, foreign: value.foreign || undefined }
}

function csvOf({ loc, lastmod, changefreq, priority, foreign, file }: SitemapEntry): string {
  const date = lastmod === undefined ? '' : new Date(lastmod).toISOString()
  return csvLine([loc, date, changefreq ?? '', priority ?? '', foreign === false ? '' : foreign.origin, file])
}
