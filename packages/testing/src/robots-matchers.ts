// Matchers for the tests of a site's own robots.txt: `expect(robots).toAllow('Googlebot', '/news')`.
// A test that compares text is wrong in both directions: `Disallow: /` is also in
// `Disallow: /public`, and a group of its own takes a crawler out of the group for `*`.
import { describeReason, OptionError, parseRobots, type Robots } from '@politely/core'
import { isCrawlerName, rulesFor } from '@politely/core/crawlers'

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
} as const

function match(robots: unknown, crawler: string, url: string, shouldAllow: boolean): MatcherResult {
  if (typeof crawler !== 'string' || !isCrawlerName(crawler))
    throw new OptionError(
      'crawler',
      `${JSON.stringify(crawler)} is not a product token; write one such as "Googlebot", or "*"`,
    )
  const file = isParsed(robots) ? robots : parseRobots(robots as string) // throws for any other type
  const verdict = rulesFor(file, crawler).check(url)
  if (verdict.because === 'invalid-url')
    throw new OptionError('url', `${JSON.stringify(url)}: ${describeReason(verdict)}; a path begins with /`)
  const is = `${crawler} ${verdict.allowed ? 'may' : 'may not'} fetch ${url}: ${describeReason(verdict)}`
  return { pass: verdict.allowed === shouldAllow, message: () => `expected otherwise: ${is}` }
}

function isParsed(robots: unknown): robots is Robots {
  return typeof (robots as Partial<Robots> | null | undefined)?.check === 'function'
}
