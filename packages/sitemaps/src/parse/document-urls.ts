// The URLs in the text of a sitemap, RSS or Atom, for the playground, which has the whole text.
import { DocumentParser, type NotASitemap } from './document.ts'
import { Problems, type SitemapFormat } from './found.ts'

export interface DocumentUrls {
  /** The URLs of the entries, as written. Those of an index are the URLs of sitemaps. */
  readonly urls: readonly string[]
  /** How many entries have no URL. */
  readonly skipped: number
  /** Undefined for any other document. */
  readonly format: SitemapFormat | undefined
  readonly problem: NotASitemap | undefined
}

/** The limits of `readSitemaps`. A page shows no images. */
const LIMITS = { maxTextLength: 65_536, maxAttributeLength: 65_536, maxItemsPerEntry: 1_000 }

export function documentUrls(text: string): DocumentUrls {
  const problems = new Problems()
  const parser = new DocumentParser(LIMITS, problems)
  parser.write(text.replace(/^[\s\ufeff]+/, ''))
  parser.end()
  const skipped = problems.list.find(({ code }) => code === 'no-loc')?.count ?? 0
  return { urls: parser.found.map(({ loc }) => loc), skipped, format: parser.format, problem: parser.problem }
}
