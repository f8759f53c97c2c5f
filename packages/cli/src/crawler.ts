// Which crawler a command line names, and how that crawler reads robots.txt. A known crawler that is
// named once reads robots.txt as its operator documents it. Tokens that are given several times are
// used as they are.
import { type Dialect, type DialectName, dialects, isProductToken, productTokenOf } from '@politely/core'
import { type KnownCrawler, readingOf } from '@politely/core/crawlers'
import { describeValue, explainMissingToken } from '@politely/core/engine'
import type { Arguments } from './command-line.ts'
import { UsageError } from './errors.ts'

/** How the crawler of a command line reads robots.txt. */
export interface Reader {
  readonly productTokens: readonly string[]
  readonly dialect: Dialect
  /**
   * The tokens for people, with the operator as the source of what the user did not write:
   * `Googlebot-News, then Googlebot (as Google documents it, 2026-11-25)`.
   */
  readonly text: string
}

/**
 * Returns the crawler of the command line. `check` gets the same messages from the fetcher, which
 * `match` does not load.
 * @throws {UsageError} for a missing or an invalid product token.
 */
export function readerOf(args: Arguments, dialectName: DialectName): Reader {
  const tokens = tokensOf(args)
  const dialect = dialects[dialectName]
  const [token = '', another] = tokens
  if (another !== undefined) return { productTokens: tokens, dialect, text: tokens.join(', then ') }
  const { productTokens, dialect: own, crawler } = readingOf(token, dialect)
  return { productTokens, dialect: own, text: `${token}${habitOf(crawler)}` }
}

/** Returns the crawler of the command line as options of a client, which checks the names. */
export function crawlerOptionsOf(
  args: Arguments,
  dialectName: DialectName,
): { readonly productToken?: readonly string[]; readonly dialect: Dialect } {
  const given = args.all('product-token')
  const token = given.length === 0 ? productTokenOf(args.get('user-agent') ?? '') : given[0]
  const dialect = dialects[dialectName]
  if (given.length > 1 || token === undefined) return { ...(given.length > 0 && { productToken: given }), dialect }
  const reading = readingOf(token, dialect)
  return { productToken: reading.productTokens, dialect: reading.dialect }
}

/**
 * Returns what a known crawler does otherwise than the crawlers that read their own group or the
 * group for `*`: `, then Googlebot (as Google documents it, 2026-11-25)`. Returns an empty string
 * for the others.
 */
export function habitOf(crawler: KnownCrawler | undefined): string {
  if (crawler === undefined) return ''
  const { fallbacks, readsStar, operator, readOn } = crawler
  const then = fallbacks.map((token) => `, then ${token}`).join('')
  const star = readsStar ? '' : ', which does not read the group for *'
  return then + star === '' ? '' : `${then}${star} (as ${operator} documents it, ${readOn})`
}

/** Returns the product tokens of the command line, in order. */
function tokensOf(args: Arguments): readonly string[] {
  const given = givenTokens(args)
  if (given.length > 0) return given
  const userAgent = args.get('user-agent')
  if (userAgent === undefined || userAgent.trim() === '') {
    throw new UsageError(
      '--user-agent: is missing or empty; write one such as "ExampleBot/1.0", or give --product-token',
    )
  }
  const token = productTokenOf(userAgent)
  if (token !== undefined) return [token]
  throw new UsageError(
    `--user-agent: ${explainMissingToken(userAgent)}; write the name to look for in robots.txt as --product-token, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0`,
  )
}

/**
 * Returns the values of `--product-token`, in order.
 * @throws {UsageError} for an invalid one.
 */
export function givenTokens(args: Arguments): readonly string[] {
  const given = args.all('product-token')
  const invalid = given.find((token) => !isProductToken(token))
  if (invalid === undefined) return given
  throw new UsageError(
    `--product-token: ${describeValue(invalid)} is not a product token; write letters, digits, "-" and "_", such as ExampleBot`,
  )
}
