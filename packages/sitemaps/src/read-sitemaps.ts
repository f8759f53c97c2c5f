// readSitemaps: the entries of a site's sitemaps as a stream, and a result for each file.
import { OptionError } from '@politely/core'
import type { SitemapEntry } from './entry.ts'
import type { SitemapFiles } from './read/file-results.ts'
import { type ReadSitemapsOptions, readingSettingsOf, type SitemapSource } from './read/options.ts'
import { SiteReading } from './read/reading.ts'
import type { ResumeToken } from './read/resume-token.ts'

/**
 * A reading: iterate it once for the entries. It begins with the first iteration.
 * @throws {OptionError} if it is iterated a second time.
 */
export interface SitemapReading extends AsyncIterable<SitemapEntry> {
  /**
   * The results of the files, also of files that failed or were skipped. `files.list` has the
   * results so far. Iterating `files` waits for more; if the entries are not iterated, this reads
   * the files and drops their entries.
   */
  readonly files: SitemapFiles
  /** Returns where the reading is now, for the option `resume` of a later one. JSON-safe. */
  token(): ResumeToken
}

/**
 * Reads sitemaps as a stream. Memory does not grow with the number of entries, and the caller may take
 * any time for each of them. A file that fails does not end the reading: `files` says what is missing.
 * If the connection of a file broke off, the iteration throws a `SitemapIncompleteError` after the
 * last entry.
 *
 * @example
 * ```ts
 * const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const reading = readSitemaps('https://example.com', { fetch })
 * for await (const { loc } of reading) await fetch(loc)
 * for (const file of reading.files.list) console.log(describeFile(file))
 * ```
 * @param source A site, a list of sitemaps, or bytes.
 * @throws {OptionError} for an invalid source or option.
 */
export function readSitemaps(source: SitemapSource, options: ReadSitemapsOptions): SitemapReading {
  const settings = readingSettingsOf(source, options)
  let isRead: 'entries' | 'files only' | undefined
  const reading = new SiteReading(settings, () => setImmediate(drain))
  const entries = reading.entries()
  // The iterators of the entries and of the files may begin in the same turn of the event loop.
  const drain = async () => {
    if (isRead !== undefined) return
    isRead = 'files only'
    try {
      for await (const _entry of entries);
    } catch {
      // `files` says the same.
    }
  }
  return {
    files: reading.files,
    token: () => reading.token(),
    [Symbol.asyncIterator]: () => {
      if (isRead !== undefined)
        throw new OptionError(
          'reading',
          isRead === 'entries'
            ? 'was iterated before, and keeps no entries; call readSitemaps again'
            : 'dropped its entries, since only `files` was iterated; iterate the entries too, or call readSitemaps again',
        )
      isRead = 'entries'
      return entries
    },
  }
}
