// Formats an audit for people. Crawlers that may read the same paths are printed together, by what
// they fetch pages for. The names that do nothing follow.
import type { KnownCrawler } from '@politely/core/crawlers'
import { bold, countText, dim, green, joined, printable, red, yellow } from '../../output/style.ts'
import { hanging, orList, someOf, wrap } from '../../output/wrap.ts'
import type { CrawlerAccess } from './crawler-access.ts'
import type { FileName } from './file-names.ts'

/** What the audit of a file found. `--format json` prints it. */
export interface Audit {
  /** The name of the file. */
  readonly robots: string
  /** The date of the catalogue. */
  readonly date: string
  readonly paths: readonly string[]
  /** Whether the paths were made from the rules of the file. */
  readonly isSample: boolean
  /** The crawlers of the catalogue that are in use. With `--purpose`, only its crawlers. */
  readonly crawlers: readonly CrawlerAccess[]
  /** The names in the user-agent lines of the file, without `*`. */
  readonly names: readonly FileName[]
}

/** Crawlers that the file does not name are shown as examples. */
const EXAMPLES = 3
/** Paths and lines in a heading. */
const MAX_ITEMS = 4
/** Names that are not in the catalogue. */
const MAX_UNKNOWN = 12

const PURPOSES: Readonly<Record<KnownCrawler['purpose'], string>> = {
  search: 'search',
  'ai-training': 'AI training',
  'ai-search': 'AI search',
  'ai-assistant': 'AI assistants',
  'ai-agent': 'AI agents',
  preview: 'previews',
  seo: 'SEO tools',
  archive: 'archives',
  monitoring: 'monitoring',
  advertising: 'advertising',
  scraper: 'data services',
  other: 'others',
}
const LABEL_WIDTH = Math.max(...Object.values(PURPOSES).map(({ length }) => length)) + 2

/** The age of the catalogue from which on the audit mentions it. Days. */
const OLD_DAYS = 181

/** @param listsAll Whether to list all crawlers that the file does not name. */
export function formatAudit(audit: Audit, listsAll: boolean): string {
  const { robots, date, paths, crawlers } = audit
  const obedient = crawlers.filter(({ obeys }) => obeys !== 'no')
  // Crawlers with the same rules share one list of paths, which may be long.
  const texts = new Map(
    [...new Set(obedient.map(({ disallowed }) => disallowed))].map((list) => [list, list.join('\n')]),
  )
  const byPaths = Map.groupBy(obedient, ({ disallowed }) => texts.get(disallowed))
  const blocks = [...byPaths.values()]
    .sort((a, b) => (b[0]?.disallowed.length ?? 0) - (a[0]?.disallowed.length ?? 0))
    .map((group) => blockOf(headOf(group, audit), group, listsAll))
  const ignoring = crawlers.filter(({ obeys }) => obeys === 'no')
  if (ignoring.length > 0) {
    const head = `${yellow('!')} ${bold(`${countText(ignoring.length, 'crawler')} may ignore robots.txt, as the operators say`)}`
    blocks.push(blockOf(head, ignoring, listsAll))
  }
  const head = `${dim('robots.txt')}  ${printable(robots)}\n${dim('compared')}    with ${countText(crawlers.length, 'crawler')} known on ${date}, on ${countText(paths.length, 'path')}\n`
  const names = namesText(audit.names, listsAll)
  return joined([head, ...blocks, names, unnamedText(crawlers, listsAll), unclearText(crawlers), ageText(date)])
}

function headOf(group: readonly CrawlerAccess[], { paths, isSample }: Audit): string {
  const { disallowed } = group[0] as CrawlerAccess
  const who = countText(group.length, 'crawler')
  if (disallowed.length === 0) return `${green('✓')} ${bold(`${who} may read every path`)}`
  const rules = [...new Set(group.map((crawler) => crawler.rules))].flat().sort((one, other) => one.line - other.line)
  const closing = rules.filter(({ directive }) => directive === 'disallow')
  const lines = [...new Set(closing.map(({ line }) => String(line)))]
  const by = lines.length === 0 ? '' : dim(` (${lines.length === 1 ? 'line' : 'lines'} ${someOf(lines, MAX_ITEMS)})`)
  if (disallowed.length === paths.length) return `${red('✗')} ${bold(`${who} may read no path`)}${by}`
  // Either all is closed but a few paths, or a few paths are closed. The patterns of the rules say
  // more than paths that were made from them.
  const isMostlyClosed = disallowed.includes('/')
  const shown = isMostlyClosed ? rules.filter(({ directive }) => directive === 'allow') : closing
  const closed = new Set(disallowed)
  const isShown = (path: string) => closed.has(path) !== isMostlyClosed
  const texts = isSample ? [...new Set(shown.map(({ text }) => text))] : paths.filter(isShown)
  const what = isMostlyClosed ? 'may only read' : 'may read all but'
  return `${yellow('~')} ${bold(`${who} ${what}`)}${by}\n${indented(someOf(texts.map(printable), MAX_ITEMS))}`
}

function blockOf(head: string, group: readonly CrawlerAccess[], listsAll: boolean): string {
  const rows = Object.entries(PURPOSES).flatMap(([purpose, label]) => {
    const crawlers = group.filter((crawler) => crawler.purpose === purpose)
    return crawlers.length === 0 ? [] : [`  ${dim(label.padEnd(LABEL_WIDTH))}${crawlersText(crawlers, listsAll)}`]
  })
  return `${head}\n${rows.join('\n')}\n`
}

/** The crawlers that the file names, and examples of the others. */
function crawlersText(crawlers: readonly CrawlerAccess[], listsAll: boolean): string {
  const named = crawlers.filter(({ isNamed }) => isNamed)
  const others = crawlers.filter(({ isNamed }) => !isNamed)
  // One more is shorter than "and 1 more".
  const isShort = others.length <= EXAMPLES + 1
  const shown = listsAll || isShort ? others : others.slice(0, named.length === 0 ? EXAMPLES : 0)
  const names = [...named, ...shown].map(({ name }) => name)
  const rest = others.length - shown.length
  const text = `${names.join(', ')}${rest === 0 ? '' : ` and ${rest} ${named.length === 0 ? 'more' : 'that the file does not name'}`}`
  return hanging(text, LABEL_WIDTH + 2)
}

/** What is wrong with the names in the file. */
function namesText(names: readonly FileName[], listsAll: boolean): string {
  if (names.length === 0) return `${dim('The file names no crawler.')}\n`
  const useless = names.filter(({ finding }) => finding !== 'known' && finding !== 'unknown')
  const rows = [...Map.groupBy(useless, problemOf)].map(([problem, group]) => {
    const items = group.map(({ name, lines }) => `${printable(name)} (${linesText(lines)})`)
    return `${yellow('!')} ${hanging(items.join(', '), 2)}\n${indented(problem)}`
  })
  const head =
    useless.length === 0
      ? green('✓ no name in the file is misspelt, retired or ignored')
      : bold(
          `${countText(useless.length, 'name')} in the file ${useless.length === 1 ? 'does' : 'do'} nothing, or may do nothing`,
        )
  return `${[head, ...rows, ...unknownText(names, listsAll)].join('\n')}\n`
}

function unknownText(names: readonly FileName[], listsAll: boolean): readonly string[] {
  const unknown = names.filter(({ finding }) => finding === 'unknown').map(({ name }) => printable(name))
  if (unknown.length === 0) return []
  const shown = someOf(unknown, listsAll || unknown.length <= MAX_UNKNOWN + 1 ? unknown.length : MAX_UNKNOWN)
  const verb = unknown.length === 1 ? 'is' : 'are'
  return [dim(wrap(`${countText(unknown.length, 'name')} ${verb} not in the catalogue: ${shown}`, 0))]
}

function linesText([first, ...others]: readonly number[]): string {
  return `line ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`
}

function problemOf({ finding, crawler, operator, since, replacedBy }: FileName): string {
  switch (finding) {
    case 'misspelt':
      return replacedBy.length < 2
        ? `no known crawler has this name; write ${crawler} if you mean the crawler of ${operator}`
        : `no known crawler has this name; write ${orList(replacedBy)} if you mean the crawlers of ${operator}`
    case 'retired': {
      const when = since === undefined ? 'no longer sends this name' : `has not sent this name since ${since}`
      const instead = replacedBy.length === 0 ? 'remove the line' : `write ${orList(replacedBy)}`
      return `${operator} ${when}; ${instead}`
    }
    default:
      return `${operator} says that this crawler ignores robots.txt, or may do so; to keep it out, refuse its requests in the server`
  }
}

/** How many of the verdicts may have no effect. */
function unclearText(crawlers: readonly CrawlerAccess[]): string {
  const unclear = crawlers.filter(({ obeys }) => obeys === 'unclear').length
  if (unclear === 0) return ''
  return dim(
    `${wrap(`Whether ${unclear} of these crawlers obey robots.txt is unclear: no statement of their operators was found.`, 0)}\n`,
  )
}

/** Operators add crawlers all the time. */
function ageText(date: string): string {
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000)
  if (days < OLD_DAYS) return ''
  return dim(`The catalogue is ${days} days old; a newer version of politely may know more crawlers.\n`)
}

/** AI crawlers that the file does not name. */
function unnamedText(crawlers: readonly CrawlerAccess[], listsAll: boolean): string {
  const ai = crawlers.filter(({ purpose }) => purpose.startsWith('ai-'))
  const unnamed = ai.filter(({ isNamed }) => !isNamed)
  if (unnamed.length === 0) return ''
  const hint = listsAll ? '' : '; --all lists them'
  return dim(`The file does not name ${unnamed.length} of ${ai.length} known AI crawlers${hint}.\n`)
}

function indented(text: string): string {
  return `    ${hanging(text, 4)}`
}
