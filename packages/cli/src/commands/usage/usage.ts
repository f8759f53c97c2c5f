// `politely usage`: says what a crawler may do with pages.
import type { InvalidUrl, RulesVerdict } from '@politely/core'
import { explainUrlProblem } from '@politely/core'
import { readingOf } from '@politely/core/crawlers'
import { type Purpose, parseTdmrep, type TdmrepFile, usageOf as usageOfFiles } from '@politely/core/usage'
import {
  type ClientUsage,
  loggableVerdict,
  type RobotsClient,
  type UsageOptions,
  withoutCredentials,
} from '@politely/fetcher'
import { discard, UNSEEN_TAGS } from '@politely/fetcher/internal'
import { type PoliteFetch, politely, refusalOf, usageOf, WaitTooLongError } from '@politely/gate'
import type { Arguments } from '../../command-line.ts'
import { givenTokens, noteProducts } from '../../crawler.ts'
import { EXITS, type ExitName, exitOf, UsageError } from '../../exit-code.ts'
import { requestFailure } from '../../input/failure.ts'
import { withGate } from '../../input/gate.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { retryOptionsOf } from '../../input/numbers.ts'
import type { Fetch } from '../../input/pages.ts'
import { policyTokensOf } from '../../input/policy-tokens.ts'
import { loadRobots, readText } from '../../input/robots-file.ts'
import { assertUrls, type GivenUrl, hasList, urlsOf } from '../../input/url-source.ts'
import { lateNotice } from '../../output/late-notice.ts'
import { printReport } from '../../output/report.ts'
import { waitProblem } from '../../output/sentences.ts'
import { shorten } from '../../output/style.ts'
import { formatUsage, jsonOf, type UsageReport } from './format-usage.ts'
import { type GivenPage, givenPageOf } from './given-page.ts'

/** A report, or the verdict about an invalid URL. */
type Reported = UsageReport | Invalid
type Invalid = InvalidUrl & { readonly url: string }

/** Returns the exit code. */
export async function usage(args: Arguments): Promise<number> {
  assertUrls(args)
  const file = args.get('robots')
  if (file === undefined) rejectFiles(args.operands, 'usage', 'usage')
  const tdmrep = args.get('tdmrep')
  if (file === undefined && tdmrep !== undefined && tdmrep !== 'none')
    throw new UsageError('--tdmrep: a file is read with --robots only; add --robots FILE, or write --tdmrep none')
  const page = await givenPageOf(args)
  if (page !== undefined && (args.operands.length > 1 || hasList(args)))
    throw new UsageError('--header, --headers and --html are for one page, and several URLs were given; write one URL')
  noteProducts(args)
  return file === undefined ? usageOfSites(page, args) : usageByFiles(file, page, args)
}

function usageOfSites(page: GivenPage | undefined, args: Arguments): Promise<number> {
  return withGate(args, async (site) => {
    const { fetch, gate, polite } = site
    const judged = politely(fetch, { gate, onDisallowed: 'response', retry: retryOptionsOf(args) })
    async function* reports() {
      for await (const given of urlsOf(args, polite)) yield await reportOfSite(given, page, args, site.client, judged)
    }
    return print(reports(), args)
  })
}

async function usageByFiles(file: string, page: GivenPage | undefined, args: Arguments): Promise<number> {
  const tokens = givenTokens(args)
  const named = await loadRobots(file, args)
  if (named === undefined) return EXITS.unreachable.code
  const tdmrep = await givenTdmrep(args)
  const policyTokens = await policyTokensOf(args)
  const { dialect, productTokens } = readingOf(tokens, named.robots.dialect)
  const robots = named.robots.inDialect(dialect)
  const files = { robots, tokens: productTokens, headers: page?.headers, html: page?.html, tdmrep, policyTokens }
  const shared = { productTokens, robots: named.name, page: reportOfGiven(page), tdmrep: reportOfTdmrep(tdmrep) }
  async function* reports(): AsyncGenerator<Reported> {
    for await (const { url } of urlsOf(args)) {
      const usage = usageOfFiles({ ...files, url, now: Date.now() })
      const verdict = usage.crawl as RulesVerdict // a robots.txt was given
      yield verdict.because === 'invalid-url' ? { ...verdict, url } : { ...shared, url: usage.url, usage, verdict }
    }
  }
  return print(reports(), args)
}

async function givenTdmrep(args: Arguments): Promise<TdmrepFile | undefined> {
  const file = args.get('tdmrep')
  if (file === undefined || file === 'none') return undefined
  return parseTdmrep(await readText(file, '--tdmrep', 'write the name of a tdmrep.json file'))
}

function reportOfGiven(page: GivenPage | undefined): ClientUsage['page'] {
  if (page === undefined) return { reading: 'not-given', why: 'neither headers nor HTML were given' }
  if (page.html === undefined) return { reading: 'headers-only', why: 'no HTML was given' }
  return { reading: 'read', why: undefined }
}

function reportOfTdmrep(file: TdmrepFile | undefined): UsageReport['tdmrep'] {
  if (file === undefined) return { reading: 'not-given', why: 'no tdmrep.json was given' }
  if (file.isReadable) return { reading: 'read', why: 'the file was given' }
  return { reading: 'unreadable', why: file.problems[0]?.why ?? 'the file cannot be read' }
}

async function reportOfSite(
  { url, redirectedFrom }: GivenUrl,
  given: GivenPage | undefined,
  args: Arguments,
  client: RobotsClient,
  fetch: PoliteFetch<Fetch>,
): Promise<Reported> {
  using _ = lateNotice(args)
  const options: UsageOptions = {
    tdmrep: args.get('tdmrep') === 'none' ? 'ignore' : 'fetch',
    policyTokens: await policyTokensOf(args),
    redirectedFrom,
  }
  const first = await client.check(url, { redirectedFrom })
  if (first.because === 'invalid-url') return first
  const report = (usage: ClientUsage, page: UsageReport['page']): UsageReport => ({
    url: withoutCredentials(url),
    productTokens: client.productTokens,
    usage,
    verdict: loggableVerdict(usage.verdict),
    robots: usage.verdict.access?.url ?? '',
    page,
    tdmrep: usage.tdmrep,
  })
  if (given !== undefined) return report(await client.usage(url, given, options), reportOfGiven(given))
  const withoutPage = async (why: string, isMissing?: true, usage?: ClientUsage) =>
    report(usage ?? (await client.usage(url, undefined, options)), {
      reading: 'not-given',
      why,
      ...(isMissing && { isMissing }),
    })
  if (args.has('no-page')) return withoutPage('not requested, because of --no-page')
  const response = await fetch(url, { redirectedFrom }).catch((error: unknown) => error as Error)
  if (response instanceof Error) {
    const failure = requestFailure(response)
    if (failure === undefined) throw response
    return withoutPage(`did not arrive: ${failure.text}`, true)
  }
  const refusal = refusalOf(response)
  if (refusal?.verdict.because === 'invalid-url')
    return withoutPage(
      `did not arrive: it redirects to an invalid URL, ${withoutCredentials(refusal.verdict.url)}`,
      true,
    )
  const usage = await usageOf(response, options)
  if (refusal instanceof WaitTooLongError) return withoutPage(`not requested: ${waitProblem(refusal)}`, true, usage)
  if (refusal !== undefined)
    return withoutPage(`not requested, because the crawler may not fetch it; ${UNSEEN_TAGS}`, undefined, usage)
  void discard(response.body)
  const { status } = response
  return report(usage, { ...usage.page, status, ...(usage.page.reading === 'not-the-page' && { isMissing: true }) })
}

function print(rows: AsyncIterable<Reported>, args: Arguments): Promise<number> {
  const wanted = args.all('purpose') as readonly Purpose[]
  return printReport(args, {
    rows,
    list: 'pages',
    between: '\n',
    exit: (report) => ('because' in report ? 'usage' : exitOfReport(report, wanted)),
    problem: (report) => ('because' in report ? describeInvalid(report) : undefined),
    json: (report) => ('because' in report ? jsonOfInvalid(report) : jsonOf(report)),
    text: (report) => ('because' in report ? '' : formatUsage(report, wanted, args.get('proxy'))),
  })
}

function describeInvalid({ url, problem }: Invalid): string {
  return `${JSON.stringify(shorten(withoutCredentials(url)))}: ${explainUrlProblem(problem, url)}`
}

function jsonOfInvalid(verdict: Invalid): object {
  const url = withoutCredentials(verdict.url)
  return { url, verdict: { ...verdict, url } }
}

function exitOfReport(report: UsageReport, wanted: readonly Purpose[]): ExitName {
  const { usage, verdict } = report
  const exit = exitOf(verdict)
  if (exit === 'unreachable' || exit === 'usage') return exit
  if (wanted.length === 0) return 'success'
  const isRefused = wanted.some((purpose) => usage.purposes[purpose].answer === 'disallowed')
  return isRefused || !verdict.allowed || isSourceMissing(report, wanted) ? 'disallowed' : 'success'
}

/** Returns whether something could not be read that may refuse a purpose. */
function isSourceMissing({ page, tdmrep }: UsageReport, wanted: readonly Purpose[]): boolean {
  if (page.isMissing || page.reading === 'incomplete') return true
  return wanted.includes('text-and-data-mining') && tdmrep.reading === 'unreachable'
}
