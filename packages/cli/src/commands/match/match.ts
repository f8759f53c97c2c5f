// `politely match`: checks any number of URLs against robots.txt files, in bounded memory.
import { parseRobots } from '@politely/core'
import { withoutCredentials } from '@politely/core/internal'
import { fieldsOf } from '@politely/core/review'
import type { Arguments } from '../../command-line.ts'
import { type Crawler, crawlersOf, crawlerText, noteProducts } from '../../crawler.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { isFile } from '../../input/is-file.ts'
import { isTooLong, TOO_LONG_VERDICT } from '../../input/read-lines.ts'
import { openUrls, type UrlSource } from '../../input/url-source.ts'
import { Progress } from '../../output/progress.ts'
import { countText, errorLine, shorten } from '../../output/style.ts'
import { CSV_HEADER, FORMAT_VERDICT, formatFor, type VerdictFormat } from './format-verdicts.ts'
import { type CheckUrl, type MatchVerdict, openRules } from './rule-books.ts'
import { openOutput, type VerdictOutput } from './verdict-file.ts'

/** What a run has seen. */
interface Totals {
  urls: number
  disallowed: number
  invalid: number
  /** URLs of origins without a file. */
  unknown: number
}

/** Returns the exit code. */
export async function match(args: Arguments): Promise<number> {
  if (args.has('by-agent')) return (await import('./by-agent.ts')).matchByAgent(args)
  if (args.has('ranges'))
    throw new UsageError('--ranges: is about the clients of an access log; write --by-agent --ranges NAME=FILE')
  const crawlers = crawlersOf(args)
  noteProducts(args)
  const format = formatFor(args)
  const check = await openRules(args, crawlers)
  if (check === undefined) return EXITS.unreachable.code
  const source = openUrls(args)
  const output = await openOutput(args, format === 'csv' ? CSV_HEADER : '')
  try {
    const totals = await matchAll(source, check, crawlers, format, output)
    if (format === 'text') process.stderr.write(`${summaryOf(totals, crawlers)}\n`)
    if (totals.unknown > 0) return EXITS.unreachable.code
    const isFailure = args.get('fail-on') === 'disallowed' && totals.disallowed > 0
    return isFailure ? EXITS.disallowed.code : EXITS.success.code
  } finally {
    await output.close()
  }
}

async function matchAll(
  source: UrlSource,
  check: CheckUrl,
  crawlers: readonly Crawler[],
  format: VerdictFormat,
  output: VerdictOutput,
): Promise<Totals> {
  const formatVerdict = FORMAT_VERDICT[format]
  const names = crawlers.map(({ name }) => name)
  const isNamed = crawlers.length > 1 || format === 'csv' // its column is always there
  const totals: Totals = { urls: 0, disallowed: 0, invalid: 0, unknown: 0 }
  const progress = new Progress('URLs')
  // A verdict of a URL for one of several crawlers may be missing at the end of an earlier run.
  let skip = output.done
  let isOtherInput = false
  for await (const urls of source.batches()) {
    if (totals.urls === 0) isOtherInput = warnOfOtherInput(urls)
    let text = ''
    for (const url of urls) {
      totals.urls++
      if (skip >= crawlers.length) {
        skip -= crawlers.length
        continue
      }
      const verdicts: readonly MatchVerdict[] = isTooLong(url)
        ? crawlers.map(() => ({ ...TOO_LONG_VERDICT, url }))
        : check(url)
      for (let i = skip; i < verdicts.length; i++) {
        const verdict = verdicts[i] as MatchVerdict
        if (verdict.because === 'no-file') totals.unknown++
        else if (verdict.because === 'invalid-url') totals.invalid++
        else if (!verdict.allowed) totals.disallowed++
        text += formatVerdict(url, verdict, isNamed ? names[i] : undefined)
      }
      skip = 0
    }
    await output.write(text)
    progress.update(totals.urls, source.partRead)
  }
  progress.end(totals.urls)
  if (!isOtherInput && totals.urls > 0 && totals.invalid === totals.urls * crawlers.length) {
    const name = withoutCredentials(source.name)
    process.stderr.write(errorLine(`${name}: no line is a URL or a path; write --input with the format of the file`))
  }
  return totals
}

/** Says what to write if the input is a robots.txt file, or a name of a file. Returns whether it is. */
function warnOfOtherInput(lines: readonly string[]): boolean {
  const { fields } = fieldsOf(parseRobots(new TextEncoder().encode(lines.join('\n'))))
  const isRobots = fields.some(({ field, group }) => field !== 'user-agent' && group !== undefined)
  if (isRobots)
    process.stderr.write(errorLine('stdin looks like a robots.txt file; write --robots robots.txt < urls.txt'))
  const [line = ''] = lines
  if (line.startsWith('/') || !isFile(line)) return isRobots
  const name = JSON.stringify(shorten(line))
  process.stderr.write(errorLine(`${name}: this is a file; to check the URLs in it, write < ${name}`))
  return true
}

function summaryOf({ urls, disallowed, invalid, unknown }: Totals, crawlers: readonly Crawler[]): string {
  const of = `${countText(urls, 'URL')}${crawlers.length === 1 ? habitOf(crawlers[0] as Crawler) : ` for ${crawlers.length} crawlers`}`
  const rest = [
    `${disallowed.toLocaleString('en')} disallowed`,
    ...(invalid === 0 ? [] : [`${invalid.toLocaleString('en')} invalid`]),
    ...(unknown === 0 ? [] : [`${unknown.toLocaleString('en')} of origins without a file`]),
  ]
  return `${of}: ${rest.join(', ')}`
}

/** Names a crawler that also reads other groups than the one that the command line names. */
function habitOf({ name, tokens }: Crawler): string {
  const text = crawlerText(tokens)
  return text === name ? '' : ` for ${text}`
}
