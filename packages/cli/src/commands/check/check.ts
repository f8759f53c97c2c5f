// `politely check`: fetches robots.txt files, or reads one, and prints a verdict for each URL.

import { explainUrlProblem } from '@politely/core'
import { readingOf, rulesFor } from '@politely/core/crawlers'
import {
  type ClientVerdict,
  loggableVerdict,
  type RobotsClient,
  type Store,
  withoutCredentials,
} from '@politely/fetcher'
import type { Arguments } from '../../command-line.ts'
import { crawlerText, givenTokens, noteProducts } from '../../crawler.ts'
import { EXITS, exitOf, UsageError } from '../../exit-code.ts'
import { withClient } from '../../input/client.ts'
import { fileHint, isFile } from '../../input/is-file.ts'
import { isTooLong, TOO_LONG_VERDICT } from '../../input/read-lines.ts'
import { loadRobots, type NamedRobots } from '../../input/robots-file.ts'
import { withOptionalStore } from '../../input/store.ts'
import { assertUrls, type UrlGroup, urlGroupsOf, urlsOf } from '../../input/url-source.ts'
import { printReport } from '../../output/report.ts'
import { shorten } from '../../output/style.ts'
import { compareEdge, type EdgeComparison, type EdgeSide, responseHeaders } from './compare-edge.ts'
import { formatReport, type ReportContext, type ReportedVerdict } from './format-report.ts'

/**
 * URLs that are checked at the same time. Verdicts are printed in input order, so a slow site holds
 * back at most this many.
 */
const CONCURRENCY = 16

/** A verdict, and what else is printed with it. */
interface Checked {
  readonly verdict: ReportedVerdict | Extract<ClientVerdict, { readonly because: 'invalid-url' }>
  readonly context: Omit<ReportContext, 'crawler' | 'now' | 'edge' | 'proxy'>
  readonly edge?: EdgeComparison | undefined
}

/** Returns the exit code. */
export async function check(args: Arguments): Promise<number> {
  assertUrls(args)
  const file = args.get('robots')
  if (file !== undefined && args.has('edge'))
    throw new UsageError('--edge compares two responses of a site; leave --robots out, or leave --edge out')
  if (args.has('sitemap') && args.has('edge'))
    throw new UsageError('--edge and --sitemap cannot be combined; write --edge with one URL of the site')
  noteProducts(args)
  return file === undefined ? checkSites(args) : checkFile(file, args)
}

async function checkSites(args: Arguments): Promise<number> {
  const checkWith = (store: Store | undefined) =>
    withClient(
      args,
      async (client) => {
        if (!args.has('edge')) return print(verdictsOf(client, args), args)
        const revalidating = { httpCaches: 'revalidate' } as const
        return withClient(args, (other) => print(verdictsOf(client, args, other), args), revalidating)
      },
      { store },
    )
  return withOptionalStore(args, checkWith)
}

/** Checks the URLs against one file, whatever their origins are. */
async function checkFile(file: string, args: Arguments): Promise<number> {
  const named = await loadRobots(file, args)
  return named === undefined ? EXITS.unreachable.code : print(verdictsByFile(named, givenTokens(args), args), args)
}

function print(rows: AsyncIterable<Checked>, args: Arguments): Promise<number> {
  return printReport(args, {
    rows,
    list: 'verdicts',
    between: '\n',
    isSlow: true,
    exit: ({ verdict }) => exitOf(verdict),
    problem: ({ verdict }) => (verdict.because === 'invalid-url' ? describeInvalid(verdict) : undefined),
    json: ({ verdict, context: { headers }, edge }) => ({
      ...verdict,
      url: withoutCredentials(verdict.url),
      ...(headers && { headers }),
      ...(edge && { edge: edge.json }),
    }),
    text: ({ verdict, context, edge }) =>
      verdict.because === 'invalid-url'
        ? ''
        : formatReport(verdict, {
            ...context,
            crawler: crawlerText(givenTokens(args)),
            now: Date.now(),
            edge,
            proxy: args.get('proxy'),
          }),
  })
}

function describeInvalid({ url, problem }: Extract<ClientVerdict, { readonly because: 'invalid-url' }>): string {
  const shown = JSON.stringify(shorten(withoutCredentials(url)))
  return `${shown}: ${isFile(url) ? fileHint(url) : explainUrlProblem(problem, url)}`
}

/**
 * Yields one verdict for each URL, in input order.
 * @param revalidated A client that asks caches on the way to revalidate, for `--edge`.
 */
async function* verdictsOf(client: RobotsClient, args: Arguments, revalidated?: RobotsClient): AsyncGenerator<Checked> {
  const plain = { client, headers: responseHeaders(client) }
  const other = revalidated && { client: revalidated, headers: responseHeaders(revalidated) }
  for await (const group of urlGroupsOf(args)) yield* verdictsOfGroup(group, plain, other)
}

async function* verdictsOfGroup(
  { urls: given, redirectedFrom }: UrlGroup,
  plain: EdgeSide,
  other: EdgeSide | undefined,
): AsyncGenerator<Checked> {
  const { client } = plain
  const pending: string[] = []
  async function* urls() {
    for await (const url of given) {
      pending.push(url)
      yield isTooLong(url) ? '' : url // the client must not make a request for a URL whose end was cut off
    }
  }
  for await (const verdict of client.checkMany(urls(), { concurrency: CONCURRENCY, redirectedFrom })) {
    const url = pending.shift() as string
    const context = { productTokens: client.productTokens, headers: plain.headers.get(verdict.origin ?? '') }
    yield isTooLong(url)
      ? { verdict: { url, ...TOO_LONG_VERDICT }, context }
      : { verdict: loggableVerdict(verdict), context, edge: other && (await compareEdge(verdict, plain, other)) }
  }
}

async function* verdictsByFile(
  { name, robots, access }: NamedRobots,
  tokens: readonly string[],
  args: Arguments,
): AsyncGenerator<Checked> {
  const { productTokens } = readingOf(tokens, robots.dialect)
  const rules = rulesFor(robots, tokens)
  const { crawlDelayMs, requestRates, visitTimes } = rules
  const file = { name, bytes: new TextEncoder().encode(robots.text).length }
  for await (const { url } of urlsOf(args)) {
    const verdict = isTooLong(url) ? TOO_LONG_VERDICT : rules.check(url)
    const pace = { crawlDelayMs, requestRates, visitTimes, ...(access && { access }) }
    const checked = verdict.because === 'invalid-url' ? { url, ...verdict } : { url, ...verdict, ...pace }
    yield { verdict: { ...checked, url }, context: { productTokens, file } }
  }
}
