// What robots-parser gives its callers: core's answers in its form.
import { originOf, parseRobots, type Robots } from '@politely/core'
import { PerCrawler } from './per-crawler.ts'

/** A robots.txt, to be asked as robots-parser's documentation says. It speaks about one origin (RFC 9309 §2.3). */
export interface Robot {
  /**
   * May the crawler fetch this URL? Undefined for a URL that the file does not speak about: of another origin, or no URL at all.
   *
   * @param ua The crawler, by its product token or its whole User-Agent header. Default `*`: one that no group names.
   */
  isAllowed(url: string, ua?: string): boolean | undefined
  /**
   * The opposite of `isAllowed`; true as well where that is undefined, as robots-parser's code and tests have it and its README has not:
   * whoever passes over what is disallowed stays away then.
   */
  isDisallowed(url: string, ua?: string): boolean | undefined
  /**
   * Is it disallowed by a group that names the crawler? A group for everyone (`*`) counts only for who asks about `*`. Undefined where
   * `isAllowed` is. robots-parser's repository has it, and 3.0.1 has not.
   */
  isExplicitlyDisallowed(url: string, ua: string): boolean | undefined
  /** The line, counted from 1, of the rule that decides; -1 where none does. */
  getMatchingLineNumber(url: string, ua?: string): number
  /** The pause that the site asks the crawler for, in seconds: the longest, where it names several; undefined where it names none. */
  getCrawlDelay(ua?: string): number | undefined
  /** The values of the sitemap lines, as written and in the order of the file, in an array of the caller's own. */
  getSitemaps(): string[]
  /** What the last host line says, in lower case; null without one. */
  getPreferredHost(): string | null
}

/** A crawler that no group names; no product token looks so. */
const ANY_CRAWLER = '*'
/** A name that no site knows. */
const SECOND_NAME = 'politely-or-else-nobody'
/** What URLs without a host are relative to, the file's own and those asked about. No host is called so (RFC 2606 §2). */
const WITHOUT_HOST = 'http://without-host.invalid/'

export class RobotsFile implements Robot {
  readonly #contents: string
  /** Undefined where the file's own URL is none that has a robots.txt: then it speaks about no URL. */
  readonly #origin: string | undefined
  readonly #robots: Robots
  /** The file, for each crawler: `Robots` is at its best with who asks about one. */
  readonly #perCrawler = new PerCrawler(() => this.#read(this.#contents))
  readonly #bound = new PerCrawler((ua) => this.#robots.forCrawler(ua))
  #withSecondName: Robots | undefined

  constructor(url: string, contents: string) {
    const text = String(url)
    this.#origin = originOf(text) ?? originOf(URL.parse(text, WITHOUT_HOST)?.href ?? '')
    this.#contents = contents || '' // who has no file hands over undefined or null
    this.#robots = this.#read(this.#contents)
  }

  isAllowed(url: string, ua?: string): boolean | undefined {
    const own = this.#ownUrl(url)
    const crawler = crawlerOf(ua)
    return own === undefined ? undefined : this.#perCrawler.of(crawler).isAllowed(own, crawler)
  }

  isDisallowed(url: string, ua?: string): boolean {
    return !this.isAllowed(url, ua)
  }

  isExplicitlyDisallowed(url: string, ua: string): boolean | undefined {
    const own = this.#ownUrl(url)
    if (own === undefined) return undefined
    if (crawlerOf(ua) === ANY_CRAWLER) return this.isDisallowed(own)
    // Of several names the first is followed that has a group: here the second one has, and it says nothing.
    this.#withSecondName ??= this.#read(`${this.#contents}\nUser-agent: ${SECOND_NAME}\nDisallow:\n`)
    return !this.#withSecondName.isAllowed(own, [ua, SECOND_NAME])
  }

  getMatchingLineNumber(url: string, ua?: string): number {
    const own = this.#ownUrl(url)
    if (own === undefined) return -1
    const crawler = crawlerOf(ua)
    const verdict = this.#perCrawler.of(crawler).check(own, crawler)
    return verdict.because === 'rule' ? verdict.rule.line : -1
  }

  getCrawlDelay(ua?: string): number | undefined {
    const { crawlDelayMs } = this.#bound.of(crawlerOf(ua))
    return crawlDelayMs === undefined ? undefined : crawlDelayMs / 1000
  }

  getSitemaps(): string[] {
    return this.#valuesOf('sitemap')
  }

  getPreferredHost(): string | null {
    return this.#valuesOf('host').at(-1)?.toLowerCase() ?? null
  }

  #read(contents: string): Robots {
    return parseRobots(contents, this.#origin === undefined ? {} : { origin: this.#origin })
  }

  /** The URL, if it is of the file's origin. Most begin with it as it is; the others are read as a client reads them. */
  #ownUrl(url: string): string | undefined {
    const origin = this.#origin
    if (origin === undefined) return undefined
    if (typeof url === 'string' && url.startsWith(origin) && url.charAt(origin.length) === '/') return url
    const read = URL.parse(url, WITHOUT_HOST)
    return read?.origin === origin ? read.href : undefined
  }

  #valuesOf(field: 'sitemap' | 'host'): string[] {
    // Where the colon was forgotten, that of a URL was taken for it: `Sitemap https` is the key then, and the value is no address.
    const written = this.#robots.records.filter((record) => record.field === field && !record.key.includes(' '))
    return written.map(({ value }) => value.trim()).filter((value) => value !== '')
  }
}

/** Who gives no name, or an empty one, asks about any crawler. */
function crawlerOf(ua: string | undefined): string {
  return ua || ANY_CRAWLER
}
