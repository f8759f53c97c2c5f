// Notes about crawlers of search engines: what keeps them from rendering pages, and how Bing reads a
// Crawl-delay.
import type { Dialect } from '../dialect.ts'
import { crawlDelayMsOf } from '../parse/pace-records.ts'
import type { ParsedFile, ParsedGroup, ParsedRecord } from '../parse/records.ts'
import type { ReportFinding } from './finding.ts'
import { nameOf } from './name.ts'
import { closesAll, rulesOf } from './named-groups.ts'

/**
 * Names of search engines that render pages, and `*`. In lower case; a test compares them with the
 * catalogue of known crawlers.
 */
const SEARCH = /^(?:\*|applebot|baiduspider|bingbot|googlebot|yandex(?:bot)?)$/

/** A rule for all style sheets or scripts of a folder or the site. */
const EXTENSION = /(?:^|\/)\*+\.(css|m?js)(?:\?\*?|[*$]*)$/i

/** Folders of style sheets, of scripts, or of both, with little else that a search engine shows. */
const FOLDERS: readonly (readonly [path: RegExp, kinds: readonly Kind[]])[] = [
  [/^[/*]*(?:[^/]+\/)?(?:css|stylesheets?)\/?\*?$/i, ['css']],
  [/^[/*]*(?:[^/]+\/)?(?:js|javascripts?)\/?\*?$/i, ['js']],
  [/\/(?:_next(?:\/static)?|wp-includes|wp-content(?:\/(?:plugins|themes))?)\/?\*?$/i, ['css', 'js']],
]

type Kind = 'css' | 'js'

const KIND_NAMES: Readonly<Record<Kind, string>> = { css: 'style sheets', js: 'scripts' }

/**
 * Reports rules that keep search engines from style sheets and scripts. Google renders pages, and
 * asks sites to let it fetch both (Search Central, "Understand the JavaScript SEO basics"). A rule for
 * a single file is not reported, nor one whose files, or a part of whose folder, an Allow opens.
 *
 * @param unmerged The groups whose crawlers obey no other group.
 */
export function lintPageResources(unmerged: Iterable<ParsedGroup>, dialect: Dialect, report: ReportFinding): void {
  if (dialect.parsing.wildcards === 'literal') return
  for (const group of unmerged) {
    if (!group.agents.some((agent) => SEARCH.test(nameOf(agent))) || closesAll(group, dialect.parsing)) continue
    const rules = group.rules.filter(
      ({ field, value }) => field === 'disallow' && kindsOf(value).length > 0 && !isPartlyOpen(value, group),
    )
    const own = rules.length === 0 ? undefined : rulesOf([group], dialect)
    for (const { value, line } of rules) {
      const isFolder = !EXTENSION.test(value)
      const folder = folderOf(value)
      const closed = kindsOf(value).filter(
        (kind) => own?.isAllowed(sampleOf(isFolder ? `${folder}x.${kind}` : value)) === false,
      )
      if (closed.length === 0) continue
      const found = closed.map((kind) => KIND_NAMES[kind]).join(' and ')
      report(
        'closes-page-resources',
        { line, found },
        ...(isFolder ? closed.map((kind) => `Allow: ${folder}*.${kind}`) : []),
      )
    }
  }
}

/** Returns what a rule for all files of a kind, or for a folder, is about. */
function kindsOf(pattern: string): readonly Kind[] {
  const extension = EXTENSION.exec(pattern)?.[1]
  if (extension !== undefined) return [extension.toLowerCase() === 'css' ? 'css' : 'js']
  return FOLDERS.find(([path]) => path.test(pattern))?.[1] ?? []
}

/** Whether an Allow opens a part of a folder, as `/wp-includes/js/` does: the author has chosen. */
function isPartlyOpen(pattern: string, { rules }: ParsedGroup): boolean {
  const folder = folderOf(pattern)
  return rules.some(
    ({ field, value }) => field === 'allow' && value.startsWith(folder) && /^[^*$]/.test(value.slice(folder.length)),
  )
}

/** Returns the folder that a rule is for, with its slash. */
function folderOf(pattern: string): string {
  return pattern.replace(/\/?\*?$/, '/')
}

/** Returns a path that a pattern matches. */
function sampleOf(pattern: string): string {
  return `/${pattern.replace(/\$$/, '').replaceAll('*', 'x')}`.replace('//', '/')
}

/**
 * Reports a group of bingbot without a Crawl-delay, if the group for `*` has one. Bing obeys it then,
 * as the only line of that group: blogs.bing.com/webmaster/2012/05/03, and F. Dubut of Bing, 2019.
 */
export function lintBingDelay(
  { groups }: ParsedFile,
  records: readonly ParsedRecord[],
  { parsing }: Dialect,
  report: ReportFinding,
): void {
  const delays = records.filter(({ field, agents = [] }) => field === 'crawl-delay' && agents.length > 0)
  const names = ({ agents = [] }: Pick<ParsedRecord, 'agents'>, name: string) =>
    agents.some((agent) => nameOf(agent) === name)
  const shared = delays.find((delay) => names(delay, '*') && (crawlDelayMsOf(delay.value) ?? 0) > 0)
  const own = groups.filter((group) => names(group, 'bingbot'))
  const [first] = own
  if (shared === undefined || first === undefined || delays.some((delay) => names(delay, 'bingbot'))) return
  if (own.some((group) => names(group, '*') || closesAll(group, parsing))) return
  report('bing-obeys-shared-delay', { line: first.line, found: `line ${shared.line}` })
}
