// `politely explain`: draws which line of robots.txt decides about a URL, and why.
import {
  type Deviation,
  type DialectName,
  describeReason,
  dialects,
  type Explanation,
  explainDialects,
  type Match,
  type Robots,
} from '@politely/core'
import { type CrawlerReading, readingOf } from '@politely/core/crawlers'
import { type PatternTrace, tracePattern, withoutCredentials } from '@politely/core/engine'
import type { ClientVerdict } from '@politely/fetcher'
import type { Arguments } from '../../command-line.ts'
import { crawlerText, tokensOf } from '../../crawler.ts'
import { UsageError } from '../../errors.ts'
import { EXITS } from '../../exit-code.ts'
import { dialectOf, formatOf } from '../../flags.ts'
import { isUrl, parseFile } from '../../input/robots-file.ts'
import { bold, dim, green, printable, red } from '../../output/style.ts'
import { jsonLine, write } from '../../output/write.ts'
import { drawFile } from './draw-file.ts'

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
  const tokens = tokensOf(args)
  const reading = readingOf(tokens, dialects[dialectOf(args)])
  const file = args.get('robots')
  const subject = file === undefined ? await fetched(url, args) : await ofFile(url, file, reading)
  await write(
    formatOf(args) === 'json'
      ? jsonLine(reportOf(subject, reading.productTokens))
      : drawingOf(subject, reading, crawlerText(tokens), dialectOf(args)),
  )
  const { allowed, because } = subject.verdict
  if (because === 'invalid-url') return EXITS.usage.code
  if (because === 'unreachable') return EXITS.unreachable.code
  return allowed ? EXITS.success.code : EXITS.disallowed.code
}

async function ofFile(url: string, file: string, { productTokens, dialect }: CrawlerReading): Promise<Subject> {
  if (isUrl(file)) {
    throw new UsageError(
      `--robots: ${withoutCredentials(file)} is a URL; to explain a URL of that site, leave --robots out`,
    )
  }
  const { name, robots } = await parseFile(file, dialect)
  const explanation = robots.explain(url, productTokens)
  return { url, name, robots, explanation, verdict: explanation.verdict }
}

async function fetched(url: string, args: Arguments): Promise<Subject> {
  const { withClient } = await import('../../input/client.ts')
  return withClient(args, async (client) => {
    const { verdict, explanation } = await client.explain(url)
    const robots = explanation === undefined ? undefined : await client.robots(url)
    return { url, name: verdict.access?.url ?? 'robots.txt', robots, explanation, verdict }
  })
}

/** The JSON of `--json`. */
function reportOf({ url, name, explanation, verdict }: Subject, tokens: readonly string[]) {
  return {
    version: 1,
    ...verdict,
    url: withoutCredentials(url),
    robots: withoutCredentials(name),
    productTokens: tokens,
    ...(explanation !== undefined && { explanation: { ...explanation, verdict: undefined } }),
  }
}

function drawingOf(subject: Subject, reading: CrawlerReading, crawler: string, dialect: DialectName): string {
  const { url, name, robots, explanation, verdict } = subject
  const mark = verdict.allowed ? green('✓ allowed') : red('✗ disallowed')
  const head = `${mark}  ${bold(printable(withoutCredentials(url)))}  for ${crawler}\n  ${describeReason(verdict)}\n`
  if (explanation === undefined || robots === undefined || explanation.target === undefined) return head
  const parts = [
    head,
    `${dim(printable(name))}\n${drawFile(robots.text, explanation)}`,
    pathOf(explanation),
    losersOf(explanation),
    dialectsOf(robots, url, reading, dialect, verdict.allowed),
  ]
  return `${parts.filter((part) => part !== '').join('\n')}`
}

/** The path as rules see it, and what each part of the deciding pattern took. */
function pathOf({ target = '', matches: [winner] }: Explanation): string {
  if (winner === undefined) return ''
  const trace = tracePattern(winner.form, target)
  return `${dim('path')}  ${printable(target)}\n      ${carets(trace)}  ${dim(`matched by ${printable(winner.text)}`)}\n`
}

/** Marks literal pieces with `^` and what a `*` took with `~`. */
function carets({ steps }: PatternTrace): string {
  let line = ''
  for (const { part, start, end } of steps) line += (part === '*' ? '~' : '^').repeat(end - start)
  return line
}

function losersOf({ matches: [winner, ...others], wonBy }: Explanation): string {
  if (winner === undefined || others.length === 0) return ''
  const rows = others.map(
    (match) => `  line ${String(match.line).padEnd(5)} ${fieldOf(match)}  ${dim(lossOf(match, winner, wonBy))}`,
  )
  return `${dim('Other rules that match:')}\n${rows.join('\n')}\n`
}

function fieldOf({ directive, text }: Match): string {
  return `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${printable(text)}`
}

/** Why a rule that matches does not decide. RFC 9309 §2.2.2. */
function lossOf(match: Match, winner: Match, wonBy: Explanation['wonBy']): string {
  if (wonBy === 'first-match') return 'comes later; in this dialect the first rule that matches decides'
  if (match.bytes < winner.bytes) return `shorter: ${match.bytes} bytes, and line ${winner.line} has ${winner.bytes}`
  if (match.directive !== winner.directive) return `as long as line ${winner.line}, and Allow wins a tie`
  return `the same as line ${winner.line}, which comes first`
}

/** The dialects that decide differently, each with what makes the difference. */
function dialectsOf(
  robots: Robots,
  url: string,
  { productTokens, dialect }: CrawlerReading,
  own: DialectName,
  allowed: boolean,
): string {
  if (dialect.parsing.groupsForAll === 'ignored') return '' // the built-in dialects use these groups
  const answers = Object.entries(explainDialects(new TextEncoder().encode(robots.text), url, productTokens))
  const rows = answers
    .filter(([name, { explanation }]) => name !== own && explanation.verdict.allowed !== allowed)
    .map(([name, { explanation, parts }]) => {
      const why = parts.map(({ question, answer }: Deviation) => `${question}: ${String(answer)}`).join(', ')
      return `  ${name.padEnd(22)} ${explanation.verdict.allowed ? 'allowed' : 'disallowed'}${why === '' ? '' : dim(`  (${why})`)}`
    })
  return rows.length === 0 ? '' : `${dim('Other readers decide differently:')}\n${rows.join('\n')}\n`
}
