// `politely diff`: says what a change of robots.txt does to the URLs of a site.
import { originOf } from '@politely/core'
import { rulesFor } from '@politely/core/crawlers'
import { withoutCredentials } from '@politely/core/internal'
import {
  ChangeCounter,
  type CrawlerChange,
  crawlersIn,
  type LineChange,
  samplePaths,
  sampleUrl,
} from '@politely/core/review'
import type { Arguments } from '../../command-line.ts'
import { type Crawler, crawlersOf, crawlerText, noteProducts } from '../../crawler.ts'
import { EXITS, UsageError } from '../../exit-code.ts'
import { dialectOf } from '../../flags.ts'
import { loadRobots, type NamedRobots } from '../../input/robots-file.ts'
import { isStoreFile, loadFromStore } from '../../input/store.ts'
import { openUrls, type UrlSource } from '../../input/url-source.ts'
import { Progress } from '../../output/progress.ts'
import { printOne } from '../../output/report.ts'
import { bold, countText, dim, green, printable, red } from '../../output/style.ts'
import { someOf } from '../../output/wrap.ts'

/** Returns the exit code. */
export async function diff(args: Arguments): Promise<number> {
  const [oldName, newName, another] = args.operands
  if (oldName === undefined || newName === undefined || another !== undefined)
    throw new UsageError('write two files or URLs, such as politely diff live.txt public/robots.txt --urls urls.txt')
  const given = givenCrawlers(args)
  if (given !== undefined) noteProducts(args)
  const before = await load(oldName, newName, args)
  const after = await load(newName, oldName, args)
  if (before === undefined || after === undefined) return EXITS.unreachable.code
  const files = [before.robots, after.robots]
  const crawlers = given ?? crawlersIn(files).map((name) => ({ name, tokens: [name] }))
  const counts = crawlers.map(
    ({ name, tokens }) => new ChangeCounter(name, rulesFor(before.robots, tokens), rulesFor(after.robots, tokens)),
  )
  const isSample = !args.has('urls') && !args.has('sitemap')
  const urls = !isSample ? await countAll(openUrls(args), counts) : countSamples(samplePaths(files), counts)
  const changes = counts.map((count) => count.result())
  const isSame = changes.every(({ disallowed, allowed }) => disallowed.length + allowed.length === 0)
  const report = { old: before.name, new: after.name, urls, isSample, changes }
  return printOne(
    args,
    () => ({ isSame, ...report }),
    () => textOf(report),
    isSame ? 'success' : 'disallowed',
  )
}

/**
 * Loads one side: a file, what a site sends, or what a store keeps of an origin.
 * @param other The other side. If it is a URL, it names the origin.
 */
async function load(name: string, other: string, args: Arguments): Promise<NamedRobots | undefined> {
  if (!isStoreFile(name)) return loadRobots(name, args, 'diff')
  const origin = originOf(args.get('origin') ?? other)
  if (origin !== undefined) return loadFromStore(name, origin, dialectOf(args))
  throw new UsageError(`${JSON.stringify(name)} is a store of many sites; write --origin https://example.com`, name)
}

/** Undefined if the command line names no crawler. */
function givenCrawlers(args: Arguments): readonly Crawler[] | undefined {
  return args.has('crawler') || args.has('product-token') ? crawlersOf(args) : undefined
}

/** Compares the URLs of an input, in bounded memory. Returns how many there were. */
async function countAll(source: UrlSource, counts: readonly ChangeCounter[]): Promise<number> {
  const progress = new Progress('URLs')
  for await (const urls of source.batches()) {
    for (const url of urls) for (const count of counts) count.add(url)
    progress.update(source.count, source.partRead)
  }
  progress.end(source.count)
  source.reportInvalid(counts[0]?.invalid ?? 0)
  if (source.count > 0) return source.count
  throw new UsageError(`--urls: ${withoutCredentials(source.name)} has no URLs; write one on each line`)
}

function countSamples(paths: readonly string[], counts: readonly ChangeCounter[]): number {
  for (const path of paths) for (const count of counts) count.add(sampleUrl(path), path)
  return paths.length
}

function textOf(report: {
  readonly old: string
  readonly new: string
  readonly urls: number
  readonly isSample: boolean
  readonly changes: readonly CrawlerChange[]
}): string {
  const { urls, isSample, changes } = report
  const of = `of ${countText(urls, isSample ? 'sample path' : 'URL')}`
  const changed = changes.filter(({ disallowed, allowed }) => disallowed.length + allowed.length > 0)
  const head = `${dim('old')}  ${printable(report.old)}\n${dim('new')}  ${printable(report.new)}\n`
  const hint = isSample ? dim('The paths were made from the rules; --urls FILE compares the URLs of your site.\n') : ''
  const crawlers = someOf(
    changes.map(({ crawler }) => crawler),
    5,
  )
  if (changed.length === 0) return `${head}${green(`✓ none ${of} changes, for ${crawlers}`)}\n${hint}`
  const blocks = changed.map(({ crawler, disallowed, allowed }) =>
    [
      `${bold(printable(crawlerText([crawler])))}`,
      ...sideOf(disallowed, `${red('become disallowed')}`, of),
      ...sideOf(allowed, `${green('become allowed')}`, of),
    ].join('\n'),
  )
  const same = changes.length - changed.length
  const rest = same === 0 ? '' : dim(`Nothing changes for ${same} other ${same === 1 ? 'crawler' : 'crawlers'}.\n`)
  return `${head}\n${blocks.join('\n\n')}\n\n${rest}${hint}`
}

function sideOf(changes: readonly LineChange[], what: string, of: string): readonly string[] {
  if (changes.length === 0) return []
  const total = changes.reduce((sum, { count }) => sum + count, 0)
  const rows = changes.map(({ file, line, rule, count, examples }) => {
    const by =
      line === undefined
        ? 'no rule decides any more'
        : `${file === 'new' ? 'by' : 'without'} line ${line} of the ${file} file, ${printable(rule ?? '')}`
    return `    ${count.toLocaleString('en')} ${by}\n      ${dim(`such as ${examples.map(printable).join(', ')}`)}`
  })
  return [`  ${total.toLocaleString('en')} ${of} ${what}`, ...rows]
}
