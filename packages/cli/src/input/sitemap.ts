// The URLs in a sitemap that is a file, and in the sitemaps of a site.
import {
  describeFile,
  readSitemaps,
  type SitemapEntry,
  type SitemapFile,
  SitemapIncompleteError,
  type SitemapReading,
} from '@politely/sitemaps'
import { describeResult } from '@politely/sitemaps/internal'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { rowsWithin } from '../output/report.ts'
import { errorLine } from '../output/style.ts'
import type { Fetch } from './pages.ts'

const BATCH = 1000

/**
 * Yields the URLs of a sitemap in batches.
 * @throws {UsageError} if the input is an index of sitemaps, or has no URLs.
 */
export async function* readSitemap(input: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<readonly string[]> {
  const reading = readSitemaps(input, { base: 'https://file.invalid/sitemap.xml' }) // where it comes from does not matter
  let count = 0
  for await (const entries of batchesOf(reading)) {
    count += entries.length
    yield entries.map(({ loc }) => loc)
  }
  const [file] = reading.files.list
  if (file?.format === 'index')
    throw new UsageError(
      `${name}: this is an index of sitemaps; write --sitemap with the URL of the site, or one of its sitemaps`,
    )
  if (count === 0) throw new UsageError(`${name}: this is no sitemap with URLs; write --input with its format`)
  if (file !== undefined && file.outcome !== 'complete')
    process.stderr.write(errorLine(`${name}: ${describeResult(file)}`))
}

/** Yields the URLs of the sitemaps of a site in batches, as `siteEntries` yields the entries. */
export async function* siteUrls(site: string, args: Arguments): AsyncGenerator<readonly string[]> {
  for await (const entries of siteEntries(site, args)) yield entries.map(({ loc }) => loc)
}

/**
 * Yields the entries of the sitemaps of a site in batches. Says on stderr which files are missing.
 * @param site The URL of a site, or of a sitemap.
 * @param fetch Requests the sitemaps through a gate, each when its entries are wanted. By default, a
 *   gate is opened.
 * @param signal Ends the reading by `fetch`; the iteration then rejects with the signal's reason.
 * @throws {UsageError} if there are none, or a robots.txt is unreachable and none were read.
 */
export async function* siteEntries(
  site: string,
  args: Arguments,
  fetch?: Fetch,
  signal?: AbortSignal,
): AsyncGenerator<readonly SitemapEntry[]> {
  const { sourceOf, withSitemaps } = await import('./sitemaps.ts')
  if (fetch !== undefined) return yield* entriesIn(readSitemaps(sourceOf(site), { fetch, signal }), site, 1)
  yield* rowsWithin<readonly SitemapEntry[]>((pass) =>
    withSitemaps([site], args, {}, async (reading) => {
      for await (const entries of entriesIn(reading, site)) await pass(entries)
    }),
  )
}

async function* entriesIn(
  reading: SitemapReading,
  site: string,
  batch = BATCH,
): AsyncGenerator<readonly SitemapEntry[]> {
  let count = 0
  for await (const entries of batchesOf(reading, batch)) {
    count += entries.length
    yield entries
  }
  const broken = reading.files.list.filter(({ outcome }) => outcome === 'partial' || outcome === 'failed')
  for (const file of broken) process.stderr.write(errorLine(describeFile(file)))
  if (count > 0) return
  if (broken.some(isRobotsLost))
    throw new UsageError(`--sitemap: no URLs of ${site} were read; write politely check ${site}`, site, 'unreachable')
  const problem = broken.some(({ reason }) => reason !== 'no-sitemaps')
    ? `no URLs of ${site} were read`
    : `${site} lists no URLs`
  const why = broken.length === 0 ? ', which says why' : ''
  throw new UsageError(`--sitemap: ${problem}; write politely sitemap ${site}${why}`, site)
}

/** Whether the robots.txt that names the sitemaps, or that decides about the file, is unreachable. */
export function isRobotsLost({ reason, verdict }: SitemapFile): boolean {
  return reason === 'robots-unreachable' || verdict?.because === 'unreachable'
}

/** Yields the entries. A file that broke off is among the results, which each command prints. */
export async function* entriesOf(reading: SitemapReading): AsyncGenerator<SitemapEntry> {
  try {
    yield* reading
  } catch (error) {
    if (!(error instanceof SitemapIncompleteError)) throw error
  }
}

async function* batchesOf(reading: SitemapReading, batch = BATCH): AsyncGenerator<readonly SitemapEntry[]> {
  let entries: SitemapEntry[] = []
  for await (const entry of entriesOf(reading)) {
    entries.push(entry)
    if (entries.length < batch) continue
    yield entries
    entries = []
  }
  if (entries.length > 0) yield entries
}
