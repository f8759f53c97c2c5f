// Which crawler a command line names, and how that crawler reads robots.txt. A known crawler that is
// named once reads robots.txt as its operator documents it. Tokens that are given several times are
// used as they are.
import { type Dialect, type DialectName, dialects, productTokenOf } from '@politely/core'
import { findCrawler, isCrawlerName, readingOf } from '@politely/core/crawlers'
import { describeValue } from '@politely/core/engine'
import { explainMissingToken } from '@politely/core/internal'
import type { Arguments } from './command-line.ts'
import { UsageError } from './exit-code.ts'
import { errorLine } from './output/style.ts'
import { orList } from './output/wrap.ts'
import { crawlersOfProduct } from './product-names.ts'

/** Says what a User-Agent header lacks if it has neither a URL nor a mail address. */
export function adviceOnContact(userAgent: string): string | undefined {
  return /https?:\/\/|@/.test(userAgent)
    ? undefined
    : 'a URL in the header, such as (+https://example.com/bot), tells a site whom to ask'
}

/**
 * Returns the product tokens, in order. `check` gets the same messages from the fetcher, which
 * `match` does not load.
 * @throws {UsageError} for a missing or an invalid product token.
 */
export function givenTokens(args: Arguments): readonly string[] {
  const given = checkedTokens('product-token', args.all('product-token'))
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

/** @throws {UsageError} for a value that is not a product token. */
function checkedTokens(flag: 'product-token' | 'crawler', given: readonly string[]): readonly string[] {
  const invalid = given.find((name) => !isCrawlerName(name) || (flag === 'product-token' && name === '*'))
  if (invalid === undefined) return given
  throw new UsageError(
    `--${flag}: ${describeValue(invalid)} is not a product token; write letters, digits, "-" and "_", such as ExampleBot`,
  )
}

/**
 * Says on stderr if the command line names a product or a company instead of a crawler: `ChatGPT`. The
 * verdict for such a name is of no use, unless the user's own crawler has it.
 */
export function noteProducts(args: Arguments): void {
  const given = [...args.all('crawler'), ...args.all('product-token')]
  const names = given.length > 0 ? given : [productTokenOf(args.get('user-agent') ?? '') ?? '']
  for (const name of names) {
    const crawlers = findCrawler(name) === undefined ? crawlersOfProduct(name) : []
    if (crawlers.length === 0) continue
    const problem = `no known crawler has the name ${name}; unless it is yours, write ${orList(crawlers)}`
    process.stderr.write(errorLine(problem))
  }
}

/** A crawler, and the names that it looks for in robots.txt, in order. */
export interface Crawler {
  readonly name: string
  readonly tokens: readonly string[]
}

/**
 * Returns the crawlers of `--crawler`, each on its own; otherwise the one of `--user-agent` and
 * `--product-token`.
 * @throws {UsageError} for a missing or an invalid product token.
 */
export function crawlersOf(args: Arguments): readonly Crawler[] {
  const names = checkedTokens('crawler', args.all('crawler'))
  if (names.length > 0) return names.map((name) => ({ name, tokens: [name] }))
  const tokens = givenTokens(args)
  return [{ name: tokens.join(', '), tokens }]
}

/** Returns the crawler of the command line as options of a client, which checks the names. */
export function crawlerOptionsOf(
  args: Arguments,
  dialectName: DialectName,
): { readonly productToken?: readonly string[]; readonly dialect: Dialect } {
  const given = args.all('product-token')
  const token = productTokenOf(args.get('user-agent') ?? '')
  const tokens = given.length > 0 || token === undefined ? given : [token]
  const { productTokens, dialect } = readingOf(tokens, dialects[dialectName])
  return { ...(tokens.length > 0 && { productToken: productTokens }), dialect }
}

/**
 * Returns the tokens for people, with the operator as the source of what the user did not write:
 * `Googlebot-News, then Googlebot (as Google documents it, 2026-11-25)`.
 */
export function crawlerText(tokens: readonly string[]): string {
  const crawler = tokens.length === 1 ? findCrawler(tokens[0] as string) : undefined
  const { fallbacks = [], readsStar = true } = crawler ?? {}
  const names = [...tokens, ...fallbacks].join(', then ')
  if (crawler === undefined || (readsStar && fallbacks.length === 0)) return names
  const star = readsStar ? '' : ', which does not read the group for *'
  return `${names}${star} (as ${crawler.operator} documents it, ${crawler.readOn})`
}
