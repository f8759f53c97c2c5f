// Reads the sitemaps of sites with the flags of crawler, network and store.
import { type ReadSitemapsOptions, readSitemaps, type SitemapReading } from '@politely/sitemaps'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { withGate } from './gate.ts'
import { isFile } from './is-file.ts'

/**
 * Reads the sitemaps of a site, or one sitemap, through a gate.
 * @param given A site such as `https://example.com`, or the URL of a sitemap.
 * @throws {UsageError} for another value.
 */
export async function withSitemaps<T>(
  given: readonly string[],
  args: Arguments,
  options: ReadSitemapsOptions,
  use: (reading: SitemapReading) => Promise<T>,
): Promise<readonly T[]> {
  const sources = given.map(sourceOf)
  return withGate(
    args,
    async ({ polite }) => {
      const results: T[] = []
      for (const source of sources) results.push(await use(readSitemaps(source, { ...options, fetch: polite })))
      return results
    },
    { logsWaits: true },
  )
}

/** A site has no path; a URL with a path is a sitemap. */
export function sourceOf(given: string): string | readonly string[] {
  const url = URL.parse(given)
  if (url !== null && /^https?:$/.test(url.protocol)) return url.pathname === '/' ? url.href : [url.href]
  const shown = JSON.stringify(given)
  if (isFile(given))
    throw new UsageError(
      `${shown}: this is a file; to check the URLs in it, write politely match --urls ${shown}`,
      given,
    )
  throw new UsageError(`${shown} is not the URL of a site or a sitemap; write one such as https://example.com`, given)
}
