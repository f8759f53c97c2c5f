// Implements the interface of robots-parser with `@politely/core`.
import { originOf, parseRobots, type Robots } from '@politely/core'
import { PerCrawler } from './per-crawler.ts'

/** A robots.txt with the methods of robots-parser. It applies to one origin (RFC 9309 §2.3). */
export interface Robot {
  /**
   * Returns whether the crawler may fetch this URL. Undefined if the file does not apply to the
   * URL, because it is invalid or of another origin.
   *
   * @param ua The crawler's product token or its whole User-Agent header. Default `*`: a crawler
   * that no group names.
   */
  isAllowed(url: string, ua?: string): boolean | undefined
  /**
   * Returns the opposite of `isAllowed`. Also true if `isAllowed` is undefined, so that a crawler
   * that skips disallowed URLs skips these too. robots-parser's code and tests do the same,
   * although its README says undefined.
   */
  isDisallowed(url: string, ua?: string): boolean | undefined
  /**
   * Returns whether a group that names the crawler disallows the URL. A group for every crawler
   * (`*`) counts only if `ua` is `*`. Undefined if `isAllowed` is undefined. robots-parser's
   * repository has this method, but release 3.0.1 does not.
   */
  isExplicitlyDisallowed(url: string, ua: string): boolean | undefined
  /** Returns the line of the deciding rule, counted from 1; -1 if no rule decides. */
  getMatchingLineNumber(url: string, ua?: string): number
  /**
   * Returns the crawl-delay for the crawler in seconds, or the longest of several; undefined if
   * the crawler has no crawl-delay.
   */
  getCrawlDelay(ua?: string): number | undefined
  /** Returns the values of the sitemap lines, unchanged and in file order, in a new array. */
  getSitemaps(): string[]
  /** Returns the value of the last host line in lower case; null if the file has no host line. */
  getPreferredHost(): string | null
}

/** Stands for a crawler that no group names. It is not a valid product token. */
const ANY_CRAWLER = '*'
/** A product token that no site uses. */
const UNUSED_NAME = 'politely-unused-name'
/** The base of URLs without a host. No host has this name (RFC 2606 §2). */
const WITHOUT_HOST = 'http://without-host.invalid/'

/** `URL.parse` would do, but Node 22.0 doesn't have it. */
function resolve(url: string): URL | undefined {
  return URL.canParse(url, WITHOUT_HOST) ? new URL(url, WITHOUT_HOST) : undefined
}

export class RobotsFile implements Robot {
  readonly #contents: string
  /**
   * Undefined if the file's URL is invalid or has a scheme without robots.txt. The file then
   * applies to no URL.
   */
  readonly #origin: string | undefined
  readonly #robots: Robots
  readonly #rulesFor = new PerCrawler((ua) => this.#robots.forCrawler(ua))
  #withUnusedName: Robots | undefined

  constructor(url: string, contents: string) {
    const text = String(url)
    this.#origin = originOf(text) ?? originOf(resolve(text)?.href ?? '')
    this.#contents = contents || '' // callers without a file pass undefined or null
    this.#robots = this.#parse(this.#contents)
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
    // Core follows the first name that has a group. The added group has no rules, so the group for
    // `*` is never followed.
    this.#withUnusedName ??= this.#parse(`${this.#contents}\nUser-agent: ${UNUSED_NAME}\nDisallow:\n`)
    return !this.#withUnusedName.isAllowed(own, [ua, UNUSED_NAME])
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

  #parse(contents: string): Robots {
    // The line end changes no rule. Without it, core would reject a text that is only a URL.
    const text = typeof contents === 'string' ? `${contents}\n` : contents
    return parseRobots(text, this.#origin === undefined ? {} : { origin: this.#origin })
  }

  /**
   * Returns the URL in full if it has the file's origin, otherwise undefined. Most URLs start with
   * the origin; the others are parsed.
   */
  #ownUrl(url: string): string | undefined {
    const origin = this.#origin
    if (origin === undefined) return undefined
    if (typeof url === 'string' && url.startsWith(origin) && url.charAt(origin.length) === '/') return url
    const parsed = resolve(url)
    return parsed?.origin === origin ? parsed.href : undefined
  }

  #valuesOf(field: 'sitemap' | 'host'): string[] {
    // If the colon after the key is missing, the colon of the URL ends the key: `Sitemap https`.
    // Skips such records.
    const records = this.#robots.records.filter((record) => record.field === field && !record.key.includes(' '))
    return records.map(({ value }) => value.trim()).filter((value) => value !== '')
  }
}

/** A missing or empty name means a crawler that no group names. */
function crawlerOf(ua: string | undefined): string {
  return ua || ANY_CRAWLER
}
