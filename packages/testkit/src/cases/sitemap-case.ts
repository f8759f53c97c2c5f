// The form of a case of sitemaps, and parts of sitemaps.
import type { SitemapReply } from '../servers/sitemap-site.ts'

export interface SitemapCase {
  /** The number of the kind. Several cases may have one kind. */
  readonly kind: number
  readonly name: string
  /** Returns the responses by path. */
  readonly site: (origin: string, otherOrigin: string) => Readonly<Record<string, SitemapReply>>
  /** The sitemaps to read, or `robots`: the sitemaps that robots.txt names. Default: `/sitemap.xml`. */
  readonly start?: 'robots' | readonly string[]
  /** The limits of the reader, by the names of `@politely/sitemaps`. */
  readonly limits?: Readonly<Record<string, number>>
  readonly expected: SitemapExpectation
}

export interface SitemapExpectation {
  /** The URLs of pages, in order. URLs of the site are paths. */
  readonly pages: readonly string[]
  /** The outcome of each file, by path: `complete`, or such as `partial (cut-off)`. */
  readonly files: Readonly<Record<string, string>>
  /** Whether the connection of a file ends early, so that the reading says so after the last entry. */
  readonly breaksOff?: true
  /** The codes of the problems of the first file. */
  readonly problems?: readonly string[]
  /** The dates of the entries: ISO texts, and null for a date that cannot be read. */
  readonly dates?: readonly (string | null)[]
  /** Whether the dates of the first file can be trusted. */
  readonly isTrusted?: boolean
}

export const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** Returns a urlset with these elements. */
export const urlset = (body: string, attributes: string = NAMESPACE): string =>
  `${DECLARATION}<urlset ${attributes}>\n${body}\n</urlset>\n`
/** Returns an entry. */
export const url = (loc: string, more = ''): string => `  <url><loc>${loc}</loc>${more}</url>`
/** Returns an index of these sitemaps. */
export const index = (...locs: readonly string[]): string =>
  `${DECLARATION}<sitemapindex ${NAMESPACE}>\n${locs.map((loc) => `  <sitemap><loc>${loc}</loc></sitemap>`).join('\n')}\n</sitemapindex>\n`

/** Returns a lastmod element. */
export const lastmod = (text: string): string => `<lastmod>${text}</lastmod>`
/** Returns a urlset with the pages /a and /b. */
export const two = (origin: string): string => urlset(`${url(`${origin}/a`)}\n${url(`${origin}/b`)}`)
export const AB: readonly string[] = ['/a', '/b']
/** A case with one file at /sitemap.xml. */
export const oneFile = (
  kind: number,
  name: string,
  body: (origin: string) => string | Uint8Array,
  expected: Omit<SitemapExpectation, 'files'> & { readonly file?: string },
  more: Partial<SitemapCase> & { readonly reply?: SitemapReply } = {},
): SitemapCase => {
  const { file = 'complete', ...rest } = expected
  const { reply, ...options } = more
  return {
    kind,
    name,
    site: (origin) => ({ '/sitemap.xml': { body: body(origin), ...reply } }),
    ...options,
    expected: { files: { '/sitemap.xml': file }, ...rest },
  }
}
