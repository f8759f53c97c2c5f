// Matchers for the tests of a site's own robots.txt: `expect(robots).toAllow('Googlebot', '/news')`.
// A test that compares text is wrong in both directions: `Disallow: /` is also in
// `Disallow: /public`, and a group of its own takes a crawler out of the group for `*`.
import { describeReason, OptionError, parseRobots, type Robots } from '@politely/core'
import { findCrawler, isCrawlerName, knownCrawlers, readingOf, rulesFor } from '@politely/core/crawlers'
import { crawlersIn } from '@politely/core/review'
import { type Purpose, purposes, usageOf } from '@politely/core/usage'

/** What a matcher returns to `expect.extend` of Vitest and Jest. */
export interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
}

/** The matchers as methods of `expect(robots)`, for the types of your test runner. */
export interface RobotsMatchers<Result = void> {
  /** The crawler may fetch the path or URL. */
  toAllow(crawler: string, url: string): Result
  /** The crawler may not fetch the path or URL. */
  toDisallow(crawler: string, url: string): Result
  /** The file allows this use. A file that says nothing about it does not. Default of `url`: `/`. */
  toAllowUse(crawler: string, purpose: Purpose, url?: string): Result
  /** The file refuses this use. A file that says nothing about it does not. Default of `url`: `/`. */
  toDisallowUse(crawler: string, purpose: Purpose, url?: string): Result
  /** The Crawl-delay for the crawler, in seconds; undefined for none. */
  toHaveCrawlDelay(crawler: string, seconds: number | undefined): Result
  /** The file names this sitemap. */
  toHaveSitemap(url: string): Result
  /**
   * Each name in the file is of a known crawler that is in use and obeys robots.txt, or one of `own`. So
   * a misspelt name fails.
   */
  toNameKnownCrawlers(...own: string[]): Result
  /** The file has fewer bytes. */
  toBeSmallerThan(bytes: number): Result
}

/**
 * Matchers for `expect.extend` of Vitest and Jest. They take a robots.txt: its text, or what
 * `parseRobots` returns. The crawler is a product token, a documented name such as
 * `archive.org_bot`, or `*` for a crawler that the file does not name. A known crawler, such as
 * `Googlebot-News`, reads the groups that its operator documents. A failed test says which line
 * decided.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { robotsMatchers } from '@politely/testing'
 * import { expect } from 'vitest'
 *
 * expect.extend(robotsMatchers)
 * expect(readFileSync('public/robots.txt', 'utf8')).toAllow('Googlebot', '/news')
 * ```
 * @throws {OptionError} for a value that is not a robots.txt, a crawler or a URL.
 */
export const robotsMatchers = {
  toAllow: (robots: unknown, crawler: string, url: string): MatcherResult => match(robots, crawler, url, true),
  toDisallow: (robots: unknown, crawler: string, url: string): MatcherResult => match(robots, crawler, url, false),
  toAllowUse: (robots: unknown, crawler: string, purpose: Purpose, url?: string): MatcherResult =>
    matchUse(robots, crawler, purpose, url, 'allowed'),
  toDisallowUse: (robots: unknown, crawler: string, purpose: Purpose, url?: string): MatcherResult =>
    matchUse(robots, crawler, purpose, url, 'disallowed'),
  toHaveCrawlDelay(robots: unknown, crawler: string, seconds: number | undefined): MatcherResult {
    if (seconds !== undefined && !Number.isFinite(seconds))
      throw new OptionError(
        'seconds',
        `${JSON.stringify(seconds)} is not a number; write seconds, or undefined for none`,
      )
    const ms = rulesFor(parsed(robots), checked(crawler)).crawlDelayMs
    const found = ms === undefined ? undefined : ms / 1000
    return result(found === seconds, `the Crawl-delay for ${crawler} is ${found === undefined ? 'none' : `${found} s`}`)
  },
  toHaveSitemap(robots: unknown, url: string): MatcherResult {
    const wanted = URL.parse(url)?.href
    if (wanted === undefined)
      throw new OptionError(
        'url',
        `${JSON.stringify(url)} is not a URL; write one such as "https://example.com/sitemap.xml"`,
      )
    const { sitemaps } = parsed(robots)
    const isNamed = sitemaps.some((one) => URL.parse(one)?.href === wanted)
    return result(
      isNamed,
      `the file names ${sitemaps.length === 0 ? 'no sitemap with its whole URL' : sitemaps.join(', ')}`,
    )
  },
  toNameKnownCrawlers(robots: unknown, ...own: string[]): MatcherResult {
    const others = new Set(own.map((name) => name.toLowerCase()))
    const unknown = crawlersIn([parsed(robots)]).filter((name) => {
      const { retired, obeys } = findCrawler(name) ?? {}
      const isKnown = (obeys !== undefined && obeys !== 'no' && retired === undefined) || isFallback(name)
      return name !== '*' && !isKnown && !others.has(name.toLowerCase())
    })
    const names = unknown.length === 0 ? 'each name in the file' : unknown.join(', ')
    const is = unknown.length === 0 ? 'of' : 'not of'
    return result(unknown.length === 0, `${names}: ${is} a known crawler that is in use and obeys robots.txt`)
  },
  toBeSmallerThan(robots: unknown, bytes: number): MatcherResult {
    if (!Number.isFinite(bytes))
      throw new OptionError('bytes', `${JSON.stringify(bytes)} is not a number of bytes, such as 500 * 1024`)
    const size = new TextEncoder().encode(parsed(robots).text).length
    return result(size < bytes, `the file has ${size} bytes`)
  },
} as const

function match(robots: unknown, crawler: string, url: string, shouldAllow: boolean): MatcherResult {
  const name = checked(crawler)
  const verdict = rulesFor(parsed(robots), name).check(url)
  if (verdict.because === 'invalid-url')
    throw new OptionError('url', `${JSON.stringify(url)}: ${describeReason(verdict)}; a path begins with /`)
  const is = `${crawler} ${verdict.allowed ? 'may' : 'may not'} fetch ${url}: ${describeReason(verdict)}`
  return result(verdict.allowed === shouldAllow, is)
}

function matchUse(
  robots: unknown,
  crawler: string,
  purpose: Purpose,
  path: string | undefined,
  wanted: 'allowed' | 'disallowed',
): MatcherResult {
  if (!purposes.includes(purpose))
    throw new OptionError('purpose', `${JSON.stringify(purpose)} is not known; expected one of ${purposes.join(', ')}`)
  const file = parsed(robots)
  const { productTokens: tokens, dialect } = readingOf(checked(crawler), file.dialect)
  const url = URL.parse(path ?? '/', file.origin ?? 'https://site.example')?.href ?? ''
  const { answer, statements } = usageOf({ url, tokens, robots: file.inDialect(dialect) }).purposes[purpose]
  const [first] = statements
  const by =
    first === undefined ? 'nothing says it' : `line ${first.source.line} says ${JSON.stringify(first.source.text)}`
  return result(answer === wanted, `${purpose} is ${answer} for ${crawler} at ${path ?? '/'}: ${by}`)
}

function result(pass: boolean, is: string): MatcherResult {
  return { pass, message: () => `expected otherwise: ${is}` }
}

/** @throws {OptionError} for a name that no crawler can have. */
function checked(crawler: string): string {
  if (typeof crawler === 'string' && isCrawlerName(crawler)) return crawler
  throw new OptionError(
    'crawler',
    `${JSON.stringify(crawler)} is not a product token; write one such as "Googlebot", or "*"`,
  )
}

/** Whether known crawlers read the groups of this name, such as `Yandex`, if no group names them. */
function isFallback(name: string): boolean {
  return knownCrawlers.some(({ fallbacks }) => fallbacks.some((token) => token.toLowerCase() === name.toLowerCase()))
}

function parsed(robots: unknown): Robots {
  return isParsed(robots) ? robots : parseRobots(robots as string) // throws for any other type
}

function isParsed(robots: unknown): robots is Robots {
  return typeof (robots as Partial<Robots> | null | undefined)?.check === 'function'
}
