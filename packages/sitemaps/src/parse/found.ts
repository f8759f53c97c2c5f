// What a parser finds in a file: entries, sitemaps of an index, and problems.
import type { SitemapAlternate, SitemapImage, SitemapNews, SitemapVideo } from '../entry.ts'

/**
 * The form of a file.
 * @inline
 */
export type SitemapFormat = 'urlset' | 'index' | 'rss' | 'atom' | 'text'

/** An entry as written. `loc` is trimmed and not empty. */
export interface FoundEntry {
  readonly kind: 'entry' | 'sitemap'
  readonly loc: string
  readonly lastmodText?: string
  readonly changefreq?: string
  readonly priority?: string
  readonly alternates?: readonly SitemapAlternate[]
  readonly images?: readonly SitemapImage[]
  readonly news?: SitemapNews
  readonly video?: readonly SitemapVideo[]
}

/** What each kind of problem means. A file with problems can be complete. */
export const problemMeanings = {
  'no-loc': 'an entry has no URL, or an empty one; it was left out',
  'several-locs': 'an entry has several URLs; each became an entry',
  'invalid-url': 'a URL is invalid, or is not http or https; its entry, or the alternate, was left out',
  'long-url': 'a URL is longer than 2,048 characters, the limit of sitemaps.org; its entry was left out',
  'private-host': 'a URL is on a private host, which a public site may not name; its entry was left out',
  'relative-url': 'a URL is relative; it was resolved: a page against the file, an alternate against its page',
  'unknown-entity':
    'a text has an entity other than the five of XML, such as &eacute;, or a URL was escaped twice; it was left as written',
  'bad-character':
    'a text has a control character, or bytes or a reference that stand for no character and became U+FFFD',
  unclosed: 'an element was not closed, or an end tag closes no element',
  'before-xml': 'an empty line or other text comes before <?xml or the first element; delete it',
  'after-xml': 'text or an element comes after the end of the first element; delete it',
  unescaped: 'a text or an attribute has a raw & or <; write &amp; or &lt;',
  'bad-attribute': 'an element has an attribute without quotes, a value or a space before it, or the same one twice',
  'wrong-namespace': 'a namespace is missing or wrong; write the xmlns of sitemaps.org and of each extension exactly',
  'bad-link': 'a link has no href or one such as javascript:, or is not rel="alternate"; it was left out',
  'bad-hreflang':
    'the hreflang of an alternate is missing, or no language; write one such as en, en-GB with a hyphen, zh-Hant or x-default',
  'duplicate-hreflang': 'an entry names two pages for one language',
  'bad-date': 'a date could not be read',
  'bad-priority': 'a priority is not a number from 0 to 1',
  'duplicate-file': 'an index lists a sitemap that was listed before; it is read once',
  'wrong-line': 'a line of a text file is not a URL',
  'unknown-encoding': 'the declared encoding is unknown; the file was read as UTF-8',
  'over-50000-entries': 'the file has more than 50,000 entries, the limit of sitemaps.org',
  'over-50-mb': 'the file has more than 50 MB (52,428,800 bytes), the limit of sitemaps.org',
} as const

/**
 * The code of a problem; `problemMeanings` has a sentence for each.
 * @inline
 */
export type ProblemCode = keyof typeof problemMeanings

/** How often a kind of problem was found, and its first example. */
export interface SitemapProblem {
  readonly code: ProblemCode
  readonly count: number
  /** The URL, the line or the date that was found first, cut to 200 characters. */
  readonly example?: string
}

const MAX_EXAMPLE = 200
/** A character that XML does not allow, or U+FFFD. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them; `[^\t\n\r -\uFFFC]` takes twice the time
const BAD_CHARACTER = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFD-\uFFFF]/
const ENTITY = /&[a-z][a-z\d]{1,30};/i

/** Counts the problems of a file. Takes bounded memory, since there are few codes. */
export class Problems {
  readonly #found = new Map<ProblemCode, { count: number; readonly example: string | undefined }>()

  add(code: ProblemCode, example?: string): void {
    const known = this.#found.get(code)
    if (known === undefined) this.#found.set(code, { count: 1, example: example && shortCopy(example) })
    else known.count++
  }

  /** Looks for entities and characters that could not be decoded. */
  checkText(text: string, isUrl: boolean): void {
    if (BAD_CHARACTER.test(text)) this.add('bad-character', text)
    if (isUrl && ENTITY.test(text)) this.add('unknown-entity', text)
  }

  get list(): readonly SitemapProblem[] {
    return [...this.#found].map(([code, { count, example }]) => ({
      code,
      count,
      ...(example !== undefined && { example }),
    }))
  }
}

/** A part of a string keeps the whole string in memory, unless it is copied. */
function shortCopy(text: string): string {
  return JSON.parse(JSON.stringify(text.slice(0, MAX_EXAMPLE))) as string
}
