// The interface of robots-parser, answered by core.
import { originOf, parseRobots, type Robots } from '@politely/core'
import { PerCrawler } from './per-crawler.ts'

/** A robots.txt with the methods of robots-parser. It applies to one origin (RFC 9309 §2.3). */
export interface Robot {
  /**
   * May the crawler fetch this URL? Undefined for a URL that the file does not apply to: of another origin, or invalid.
   *
   * @param ua The crawler, by its product token or its whole User-Agent header. Default `*`: one that no group names.
   */
  isAllowed(url: string, ua?: string): boolean | undefined
  /**
   * The opposite of `isAllowed`. Also true where that is undefined, as in robots-parser's code and tests, though not in its README: a crawler
   * that skips disallowed URLs then skips these too.
   */
  isDisallowed(url: string, ua?: string): boolean | undefined
  /**
   * Is it disallowed by a group that names the crawler? A group for everyone (`*`) counts only in questions about `*`. Undefined where
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
/** A name that no site uses. */
const SECOND_NAME = 'politely-or-else-nobody'
/** The base of URLs without a host. No host has this name (RFC 2606 §2). */
const WITHOUT_HOST = 'http://without-host.invalid/'

export class RobotsFile implements Robot {
  readonly #contents: string
  /** Undefined where no robots.txt can have the file's URL: then it applies to no URL. */
  readonly #origin: string | undefined
  readonly #robots: Robots
  readonly #rulesFor = new PerCrawler((ua) => this.#robots.forCrawler(ua))
  #withSecondName: Robots | undefined

  constructor(url: string, contents: string) {
    const text = String(url)
    this.#origin = originOf(text) ?? originOf(URL.parse(text, WITHOUT_HOST)?.href ?? '')
    this.#contents = contents || '' // callers without a file pass undefined or null
    this.#robots = this.#read(this.#contents)
  }

  isAllowed(url: string, ua?: string): boolean | undefined {
    const own = this.#ownUrl(url)
    return own === undefined ? undefined : this.#rulesFor.of(crawlerOf(ua)).isAllowed(own)
  }

  isDisallowed(url: string, ua?: string): boolean {
    return !this.isAllowed(url, ua)
  }

  isExplicitlyDisallowed(url: string, ua: string): boolean | undefined {
    const own = this.#ownUrl(url)
    if (own === undefined) return undefined
    if (crawlerOf(ua) === ANY_CRAWLER) return this.isDisallowed(own)
    // Of several names, the first that has a group is followed. The second name has one here, without rules.
    this.#withSecondName ??= this.#read(`${this.#contents}\nUser-agent: ${SECOND_NAME}\nDisallow:\n`)
    return !this.#withSecondName.isAllowed(own, [ua, SECOND_NAME])
  }

  getMatchingLineNumber(url: string, ua?: string): number {
    const own = this.#ownUrl(url)
    if (own === undefined) return -1
    const verdict = this.#rulesFor.of(crawlerOf(ua)).check(own)
    return verdict.because === 'rule' ? verdict.rule.line : -1
  }

  getCrawlDelay(ua?: string): number | undefined {
    const { crawlDelayMs } = this.#rulesFor.of(crawlerOf(ua))
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

  /** The URL, if it is of the file's origin. Most begin with it; the others are parsed as a client does. */
  #ownUrl(url: string): string | undefined {
    const origin = this.#origin
    if (origin === undefined) return undefined
    if (typeof url === 'string' && url.startsWith(origin) && url.charAt(origin.length) === '/') return url
    const read = URL.parse(url, WITHOUT_HOST)
    return read?.origin === origin ? read.href : undefined
  }

  #valuesOf(field: 'sitemap' | 'host'): string[] {
    // In a line without the colon behind the key, the colon of the URL ends the key: `Sitemap https`.
    const written = this.#robots.records.filter((record) => record.field === field && !record.key.includes(' '))
    return written.map(({ value }) => value.trim()).filter((value) => value !== '')
  }
}

/** A missing or empty name stands for any crawler. */
function crawlerOf(ua: string | undefined): string {
  return ua || ANY_CRAWLER
}
