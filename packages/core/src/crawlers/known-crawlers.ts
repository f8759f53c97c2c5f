// The catalogue of known crawlers, and how each of them reads robots.txt.
import type { Dialect, ParsingRules } from '../dialect.ts'
import type { CrawlerRules } from '../match/crawler-rules.ts'
import type { ProductTokens } from '../parse/product-tokens.ts'
import { isProductToken, leadingToken } from '../parse/user-agent-name.ts'
import type { BindOptions, Robots } from '../robots.ts'
import { catalogueDate, operatorPages } from './catalogue.ts'
import { type KnownCrawler, listed } from './known-crawler.ts'

/** The date of the data in `knownCrawlers`. */
export const knownCrawlersDate: string = catalogueDate

/** Crawlers that sites meet, as their operators document them. */
export const knownCrawlers: readonly KnownCrawler[] = listed(operatorPages)

const BY_NAME: ReadonlyMap<string, KnownCrawler> = new Map(
  knownCrawlers.flatMap((crawler) => [
    [crawler.name.toLowerCase(), crawler],
    [crawler.token.toLowerCase(), crawler],
  ]),
)

/** Returns the crawler with this product token or name, in any case. */
export function findCrawler(name: string): KnownCrawler | undefined {
  return BY_NAME.get(name.toLowerCase())
}

/**
 * Returns whether a text names one crawler, or `*`: a product token, or a name in the catalogue with
 * other characters, such as `archive.org_bot` and `Sogou web spider`.
 */
export function isCrawlerName(text: string): boolean {
  return text === '*' || isProductToken(text) || findCrawler(text) !== undefined
}

/** A name on a user-agent line, as `archive.org_bot`; not a header with a version or a comment. */
const NAME_WITH_DOTS = /^[\w-]+(?:\.[\w-]+)+$/

/** Returns the name that a dialect compares with user-agent lines. */
function comparedName(name: string, { agents }: ParsingRules): string {
  const comparesTokens = agents === 'token' || agents === 'token-or-digits'
  // RFC 9309 §2.2.1, google/robotstxt: the line names the part before the first other character.
  const { token, name: whole } = findCrawler(name) ?? { token: name, name }
  if (comparesTokens) return token !== whole || NAME_WITH_DOTS.test(name) ? leadingToken(name) : name
  return token === whole ? name : whole
}

/** How a crawler reads robots.txt. */
export interface CrawlerReading {
  /** Its product token, then the tokens whose groups it reads if no group names it. */
  readonly productTokens: readonly string[]
  readonly dialect: Dialect
  /** Undefined if the crawler is not in the catalogue, or given by several tokens. */
  readonly crawler: KnownCrawler | undefined
}

/**
 * Returns how a crawler reads robots.txt. A crawler that is not in the catalogue has no other token
 * and the given dialect. So does a crawler that is given by several tokens: they are used as they
 * are.
 *
 * @param dialect One of `dialects`, or a custom one.
 */
export function readingOf(tokens: ProductTokens, dialect: Dialect): CrawlerReading {
  const { parsing } = dialect
  const names = typeof tokens === 'string' ? [tokens] : tokens
  const compared = names.map((name) => comparedName(name, parsing))
  const [name, ...others] = names
  if (name === undefined || others.length > 0) return { productTokens: compared, dialect, crawler: undefined }
  const crawler = findCrawler(name)
  const { fallbacks = [], readsStar = true } = crawler ?? {}
  const productTokens = [...compared, ...fallbacks]
  if (fallbacks.length === 0 && readsStar) return { productTokens, dialect, crawler }
  return {
    productTokens,
    dialect: {
      ...dialect,
      parsing: {
        ...parsing,
        severalTokens: fallbacks.length === 0 ? parsing.severalTokens : 'first',
        groupsForAll: readsStar ? parsing.groupsForAll : 'ignored',
      },
    },
    crawler,
  }
}

/**
 * Returns the rules of a file for a crawler, as that crawler reads them: a known crawler as its
 * operator documents it, and others as `robots.forCrawler` does.
 *
 * @example
 * ```ts
 * import { parseRobots } from '@politely/core'
 * import { rulesFor } from '@politely/core/crawlers'
 *
 * const robots = parseRobots('User-agent: Googlebot\nDisallow: /drafts/\n\nUser-agent: *\nDisallow: /\n')
 * rulesFor(robots, 'Googlebot-News').isAllowed('/drafts/1') // false: it reads the group for Googlebot
 * rulesFor(robots, 'Googlebot-News').isAllowed('/news/1') // true
 * rulesFor(robots, 'AdsBot-Google').isAllowed('/news/1') // true: it does not read the group for *
 * ```
 * @throws {OptionError} if an option is unknown.
 */
export function rulesFor(robots: Robots, tokens: ProductTokens, options?: BindOptions): CrawlerRules {
  const { productTokens, dialect } = readingOf(tokens, robots.dialect)
  return (dialect === robots.dialect ? robots : robots.inDialect(dialect)).forCrawler(productTokens, options)
}
