// `politely explain`: draws which line of robots.txt decides about a URL, and why.
import { type DialectName, dialects, type Explanation, explainDialects, type Match, type Robots } from '@politely/core'
import { type CrawlerReading, readingOf } from '@politely/core/crawlers'
import { type PatternTrace, tracePattern, withoutCredentials } from '@politely/core/internal'
import { describeDeviations, lossOf, nearRules } from '@politely/core/review'
import type { PolicyToken } from '@politely/core/usage'
import type { ClientVerdict, RobotsClient } from '@politely/fetcher'
import type { Arguments } from '../../command-line.ts'
import { crawlerText, givenTokens, noteProducts } from '../../crawler.ts'
import { EXITS, exitOf, UsageError } from '../../exit-code.ts'
import { dialectOf } from '../../flags.ts'
import { rejectFiles } from '../../input/is-file.ts'
import { policyTokensOf } from '../../input/policy-tokens.ts'
import { loadRobots } from '../../input/robots-file.ts'
import { lateNotice } from '../../output/late-notice.ts'
import { printOne } from '../../output/report.ts'
import { adviceOn, groupNote, reasonText } from '../../output/sentences.ts'
import { bold, dim, green, joined, printable, red, section } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'
import { drawFile } from './draw-file.ts'
import type { PageHop } from './follow.ts'

/** What is explained, and where the file came from. */
interface Subject {
  readonly url: string
  readonly name: string
  readonly robots: Robots | undefined
  readonly explanation: Explanation | undefined
  readonly verdict: ClientVerdict | Explanation['verdict']
}

/** Returns the exit code. */
export async function explain(args: Arguments): Promise<number> {
  const [url, another] = args.operands
  if (url === undefined || another !== undefined) {
    const problem = url === undefined ? 'no URL was given' : 'more than one URL was given'
    throw new UsageError(`${problem}; write one, such as politely explain https://example.com/page`)
  }
  if (url === '-')
    throw new UsageError('explain is about one URL; to check the URLs on stdin, write politely check - < urls.txt', url)
  const crawler = crawlerOf(args)
  const file = args.get('robots')
  if (file === undefined) {
    rejectFiles([url], 'explain')
    return explainSite(url, crawler, args)
  }
  if (args.has('follow')) throw new UsageError('--follow requests the page; leave --robots out, or leave --follow out')
  const named = await loadRobots(file, args)
  if (named === undefined) return EXITS.unreachable.code
  const { dialect, productTokens } = crawler.reading
  const robots = named.robots.dialect === dialect ? named.robots : named.robots.inDialect(dialect)
  const explanation = robots.explain(url, productTokens)
  return print([{ url, name: named.name, robots, explanation, verdict: explanation.verdict }], crawler, args)
}

/** A crawler, what to call it, and how it reads robots.txt. */
interface Crawler {
  readonly text: string
  /** As the command line gives them. */
  readonly names: readonly string[]
  readonly reading: CrawlerReading
}

function crawlerOf(args: Arguments): Crawler {
  const names = givenTokens(args)
  noteProducts(args)
  return { text: crawlerText(names), names, reading: readingOf(names, dialects[dialectOf(args)]) }
}

async function explainSite(url: string, crawler: Crawler, args: Arguments): Promise<number> {
  const { withClient } = await import('../../input/client.ts')
  return withClient(args, async (client, proxy) => {
    const subject = await subjectOf(url, client, args)
    if (!args.has('follow') || subject.verdict.because === 'invalid-url') return print([subject], crawler, args)
    const { follow } = await import('./follow.ts')
    const hops: PageHop[] = []
    for await (const hop of follow(url, client, proxy, args)) hops.push(hop)
    const last = hops.at(-1) as PageHop
    const chain = hops.map(({ verdict }) => verdict.url)
    const isRefused = hops.length > 1 && !last.verdict.allowed
    const refused = isRefused ? [await subjectOf(last.verdict.url, client, args, chain.slice(0, -1))] : []
    return print([subject, ...refused], crawler, args, hops)
  })
}

/** @param redirectedFrom The URLs whose redirects led to this one. */
async function subjectOf(
  url: string,
  client: RobotsClient,
  args: Arguments,
  redirectedFrom: readonly string[] = [],
): Promise<Subject> {
  using _ = lateNotice(args)
  const { verdict, explanation } = await client.explain(url, { redirectedFrom })
  const robots = explanation === undefined ? undefined : await client.robots(url, { redirectedFrom })
  return { url, name: verdict.access?.url ?? 'robots.txt', robots, explanation, verdict }
}

/**
 * Prints the subjects, and the redirects of the page after the first one. Returns the exit code of
 * the last URL.
 */
function print(
  [first, ...others]: readonly [Subject, ...Subject[]],
  crawler: Crawler,
  args: Arguments,
  hops: readonly PageHop[] = [],
): Promise<number> {
  const redirects = hops.map(({ verdict, ...reply }) => ({ ...verdict, ...reply }))
  const json = () => ({
    ...reportOf(first, crawler.reading.productTokens),
    ...(hops.length > 0 && { redirects }),
  })
  const text = async () => {
    const parts = [await drawingOf(first, crawler, args), hopsText(hops)]
    for (const each of others) parts.push(await drawingOf(each, crawler, args))
    return joined(parts)
  }
  return printOne(args, json, text, exitOf(hops.at(-1)?.verdict ?? first.verdict))
}

/** The JSON of `--json`. */
function reportOf({ url, name, robots, explanation, verdict }: Subject, tokens: readonly string[]) {
  return {
    ...verdict,
    url: withoutCredentials(url),
    robots: withoutCredentials(name),
    productTokens: tokens,
    ...(explanation !== undefined &&
      robots !== undefined && {
        explanation: { ...explanation, verdict: undefined, nearRules: nearRules(robots, explanation, url) },
      }),
  }
}

/** The URLs that `follow` requested, and at the end perhaps a URL that robots.txt disallows. */
function hopsText(hops: readonly PageHop[]): string {
  const rows = hops.map(({ verdict, status, failure }) => {
    const mark = verdict.allowed ? green('✓') : red('✗')
    const reply = verdict.allowed ? (status ?? 'no response') : 'not requested'
    return `  ${mark} ${printable(verdict.url)}  ${dim(hang(`${reply}${failure === undefined ? '' : `, ${printable(failure)}`}`, 4))}`
  })
  return section('Requested (GET), with the redirects:', rows)
}

async function drawingOf(subject: Subject, { text, names, reading }: Crawler, args: Arguments): Promise<string> {
  const { url, name, robots, explanation, verdict } = subject
  const mark = verdict.allowed ? green('✓ allowed') : red('✗ disallowed')
  const { productTokens } = reading
  const crawler = `${text}${productTokens.length > 1 ? groupNote(verdict, productTokens) : ''}`
  const lines = [reasonText(verdict), ...adviceOn('access' in verdict ? verdict.access : undefined, args.get('proxy'))]
  const head = `${mark}  ${bold(printable(withoutCredentials(url)))}  for ${crawler}\n${lines.map((line) => `  ${hang(line, 2)}\n`).join('')}`
  if (explanation === undefined || robots === undefined || explanation.target === undefined) return head
  const parts = [
    head,
    `${dim(printable(name))}\n${drawFile(robots, explanation)}`,
    pathOf(explanation, reading.dialect.parsing.wildcards),
    losersOf(explanation),
    nearRulesOf(robots, explanation, url),
    await usageOf(robots, url, productTokens, await policyTokensOf(args)),
    reading.dialect.parsing.groupsForAll === 'ignored' // the built-in dialects use these groups
      ? ''
      : dialectsOf(robots, url, names, dialectOf(args), verdict.allowed),
  ]
  return joined(parts)
}

/** The path as rules see it, and what each part of the deciding pattern took. */
function pathOf({ target = '', matches: [winner] }: Explanation, wildcards: 'special' | 'literal'): string {
  if (winner === undefined) return ''
  const trace = tracePattern(winner.form, target, wildcards)
  return `${dim('path')}  ${printable(target)}\n      ${carets(trace)}  ${dim(`matched by ${printable(winner.text)}`)}\n`
}

/** Marks literal pieces with `^` and what a `*` took with `~`. */
function carets({ steps }: PatternTrace): string {
  let line = ''
  for (const { part, start, end } of steps) line += (part === '*' ? '~' : '^').repeat(end - start)
  return line
}

function losersOf({ matches: [winner, ...others], wonBy }: Explanation): string {
  if (winner === undefined) return ''
  const rows = others.map(
    (match) => `  line ${String(match.line).padEnd(5)} ${fieldOf(match)}  ${dim(lossOf(match, winner, wonBy))}`,
  )
  return section('Other rules that match:', rows)
}

/** The rules that would change the verdict, and what keeps each from matching. */
function nearRulesOf(robots: Robots, explanation: Explanation, url: string): string {
  const rows = nearRules(robots, explanation, url).map(
    (rule) => `  line ${String(rule.line).padEnd(5)} ${fieldOf(rule)}  ${dim(hang(printable(rule.why), 4))}`,
  )
  return section('Rules that nearly match:', rows)
}

function fieldOf({ directive, text }: Pick<Match, 'directive' | 'text'>): string {
  return `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${printable(text)}`
}

const USAGE_FIELDS: ReadonlySet<string> = new Set(['content-usage', 'content-signal', 'license'])

/** What the file says about the use of the page. Most files say nothing, and need no parser for it. */
async function usageOf(
  robots: Robots,
  url: string,
  tokens: readonly string[],
  policyTokens: readonly PolicyToken[],
): Promise<string> {
  const isStated = policyTokens.length > 0 || robots.records.some(({ field }) => USAGE_FIELDS.has(field))
  return isStated ? (await import('./usage-lines.ts')).usageLines(robots, url, tokens, policyTokens) : ''
}

/** The dialects that decide differently, each with what makes the difference. */
function dialectsOf(robots: Robots, url: string, names: readonly string[], own: DialectName, allowed: boolean): string {
  // Some dialects compare a whole name, such as `archive.org_bot`.
  const tokens = [...new Set([...readingOf(names, dialects.rfc9309).productTokens, ...names])]
  const answers = Object.entries(explainDialects(new TextEncoder().encode(robots.text), url, tokens))
  const rows = answers
    .filter(([name, { explanation }]) => name !== own && explanation.verdict.allowed !== allowed)
    .map(([name, { explanation, parts }]) => {
      const why = describeDeviations(parts)
      return `  ${name.padEnd(22)} ${explanation.verdict.allowed ? 'allowed' : 'disallowed'}${why === '' ? '' : `  ${dim(hang(`(${why})`, 37))}`}`
    })
  return section('Other readers decide differently:', rows)
}
