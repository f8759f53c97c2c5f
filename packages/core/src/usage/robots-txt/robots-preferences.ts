// What a robots.txt states about the use of one URL, in the fields Content-Usage and Content-Signal.
//
// Both fields may begin with a path. Of the lines whose path matches the URL, those with the longest
// path count, and a line without a path is the shortest (draft-ietf-aipref-attach-05 §3.1). So a
// longer path replaces a shorter one, with all of its labels.
import { textOf } from '../../bytes.ts'
import { dialects } from '../../dialect.ts'
import type { CrawlerRules } from '../../match/crawler-rules.ts'
import type { Match } from '../../match/explanation.ts'
import type { RulesVerdict } from '../../match/verdict.ts'
import type { SignalUse } from '../../parse/preference-labels.ts'
import { isSame, type ProductTokens } from '../../parse/product-tokens.ts'
import { Robots } from '../../robots.ts'
import { type ComparedReading, compare, type UsageConflict } from '../conflicts.ts'
import { type Statement, type UsageProblem, type UsageSource, usageSourceOf } from '../purpose.ts'
import { type FoundValues, parseContentSignal, parseContentUsage } from './label-values.ts'
import { type UsageLine, usageLinesOf } from './robots-lines.ts'

/** What a robots.txt states about the use of a URL. */
export interface RobotsPreferences {
  /** Whether the crawler may fetch the URL; undefined without a robots.txt. */
  readonly verdict: RulesVerdict | undefined
  readonly lines: readonly UsageLine[]
  readonly statements: readonly Statement[]
  /** The values of the key `use` of Content Signals. */
  readonly uses: readonly FoundUse[]
  readonly conflicts: readonly UsageConflict[]
  readonly problems: readonly UsageProblem[]
}

/** A value of the key `use` of Content Signals. */
export interface FoundUse {
  readonly use: SignalUse
  readonly source: UsageSource
}

const NO_FILE: RobotsPreferences = {
  verdict: undefined,
  lines: [],
  statements: [],
  uses: [],
  conflicts: [],
  problems: [],
}

/** Returns what a robots.txt states about the use of a URL by a crawler. */
export function robotsPreferences(robots: Robots | undefined, url: string, tokens: ProductTokens): RobotsPreferences {
  if (robots === undefined) return NO_FILE
  const { rules, lines, isMisspelt } = readingOf(robots, tokens)
  const verdict = rules.check(url)
  // Another site's file states nothing about this URL.
  if (verdict.because === 'other-origin' || verdict.because === 'invalid-url') return { ...NO_FILE, verdict }
  const misspelt = isMisspelt ? misspeltSignals(robots) : []
  if (lines.length === 0) return { ...NO_FILE, verdict, problems: misspelt }
  const usage = preferencesOf('content-usage', lines, url)
  const signals = preferencesOf('content-signal', lines, url)
  return {
    verdict,
    lines,
    statements: [...(verdict.allowed ? usage.followed.statements : []), ...signals.followed.statements],
    uses: usesIn(signals.counting),
    conflicts: [...(verdict.allowed ? usageConflicts(usage) : pageConflicts(usage)), ...signalConflicts(signals)],
    problems: [...usage.problems, ...signals.problems, ...misspelt],
  }
}

/** What a file says to one crawler, about whatever URL. */
interface FileReading {
  readonly rules: CrawlerRules
  readonly lines: readonly UsageLine[]
  readonly isMisspelt: boolean
}

/** The last reading of each file: a client asks about the pages of a site for one crawler. */
const readings = new WeakMap<Robots, FileReading>()
/** A reading with more lines is not kept: a hostile file may have thousands. */
const MAX_KEPT_LINES = 100

function readingOf(robots: Robots, tokens: ProductTokens): FileReading {
  const known = readings.get(robots)
  if (known !== undefined && isSame(known.rules.productTokens, tokens)) return known
  const rules = robots.forCrawler(tokens)
  const lines = usageLinesOf(robots, rules.productTokens)
  const reading = { rules, lines, isMisspelt: /^[\t ]*content-signals[\t ]*:/im.test(robots.text) }
  if (lines.length <= MAX_KEPT_LINES) readings.set(robots, reading)
  return reading
}

/** Reports lines with the key `Content-Signals`, which crawler-commons reads too since 2026. */
function misspeltSignals(robots: Robots): readonly UsageProblem[] {
  return robots
    .fields()
    .fields.filter(({ key }) => key.toLowerCase() === 'content-signals')
    .map(({ key, value, line }) => ({
      source: usageSourceOf('content-signal', 'robots.txt', textOf(key), textOf(value), line),
      why: 'only crawlers with crawler-commons read this misspelling of Content-Signal',
    }))
}

/** A line with a preference. */
interface PreferenceLine extends FoundValues {
  readonly audience: UsageLine['audience']
  /** The path, one character for each byte; empty if the line has none. */
  readonly path: string
  /** Whether the line has nothing but a path. */
  readonly isEmpty: boolean
}

/** The lines of one field. */
interface Preferences {
  readonly lines: readonly PreferenceLine[]
  readonly url: string
  readonly followed: ComparedReading
  /** The shorter paths that match too, and the lines without a path. */
  readonly replaced: readonly PreferenceLine[]
  readonly counting: readonly PreferenceLine[]
  readonly problems: readonly UsageProblem[]
}

function preferencesOf(field: 'content-usage' | 'content-signal', all: readonly UsageLine[], url: string): Preferences {
  const parse = field === 'content-usage' ? parseContentUsage : parseContentSignal
  const lines = all
    .filter((line) => line.field === field)
    .map(({ key, value, line, audience }) => {
      // The path ends at the first blank. Nothing else begins with a slash.
      const [path = ''] = /^\/[^ \t]*/.exec(value) ?? []
      const source = usageSourceOf(field, 'robots.txt', textOf(key), textOf(value), line)
      const text = textOf(value.slice(path.length)).trim()
      return { audience, path, isEmpty: text === '', values: parse(text), source }
    })
  const own = lines.filter(({ audience }) => audience === 'own')
  const { counting, replaced } = linesFor(own, url)
  const how = field === 'content-usage' ? 'by attach-05 §3.1' : 'for the group'
  const problems = [
    ...problemsIn(counting),
    ...own
      .filter(({ isEmpty }) => isEmpty)
      .map(({ path, source }) => ({ source, why: path === '' ? EMPTY : ONLY_PATH })),
    ...lines.filter(({ audience }) => audience === 'site').map(({ source }) => ({ source, why: OUTSIDE })),
  ]
  return { lines, url, followed: { how, statements: statementsIn(counting) }, counting, replaced, problems }
}

const EMPTY = 'the line has no preference'
const ONLY_PATH = 'the line has a path and no preference; a preference follows the path after a blank'
const OUTSIDE = 'the line is outside of the groups, so it is for no crawler (RFC 9309 §2.2)'

/** Returns the lines that count for a URL, and those that match too but have a shorter path. */
function linesFor(lines: readonly PreferenceLine[], url: string): Pick<Preferences, 'counting' | 'replaced'> {
  const withPath = lines.filter(({ path }) => path !== '')
  if (withPath.length === 0) return { counting: lines, replaced: [] }
  // The paths are matched as the paths of rules.
  const file = ['User-agent: *', ...withPath.map(({ path }) => `Allow: ${path}`)].join('\n')
  const { matches } = new Robots({ bytes: file }, dialects.rfc9309, undefined).explain(url, '*')
  const lineOf = (match: Match) => withPath[match.line - 2] as PreferenceLine
  const matching = new Set(matches.map(lineOf))
  const longest = new Set(matches.filter(({ bytes }) => bytes === matches[0]?.bytes).map(lineOf))
  const isWithoutPath = ({ path }: PreferenceLine) => path === ''
  if (longest.size === 0) return { counting: lines.filter(isWithoutPath), replaced: [] }
  return {
    counting: lines.filter((line) => longest.has(line)),
    replaced: lines.filter((line) => !longest.has(line) && (isWithoutPath(line) || matching.has(line))),
  }
}

/** Returns what lines, or headers, state. @param list The labels to take. */
export function statementsIn(
  parsed: readonly FoundValues[],
  list: 'answers' | 'older' = 'answers',
): readonly Statement[] {
  return parsed.flatMap(({ values, source }) => values[list].map((one) => ({ ...one, source })))
}

/** Returns what was ignored of lines, or headers. */
export function problemsIn(parsed: readonly FoundValues[]): readonly UsageProblem[] {
  return parsed.flatMap(({ values, source }) => values.ignored.map((why) => ({ source, why })))
}

/** Returns the values of the key `use` in lines, or headers. */
export function usesIn(parsed: readonly FoundValues[]): readonly FoundUse[] {
  return parsed.flatMap(({ values, source }) => values.uses.map((use) => ({ use, source })))
}

/** The conflicts of Content-Usage on a page that may be fetched. */
function usageConflicts({ lines, url, followed, counting, replaced }: Preferences): readonly UsageConflict[] {
  const forAll = linesFor(
    lines.filter(({ audience }) => audience === 'everyone-else'),
    url,
  )
  return [
    ...compare('own-group', followed, {
      how: 'if the group for * counted too',
      statements: [...followed.statements, ...statementsIn(forAll.counting)],
    }),
    ...compare('longer-path', followed, {
      how: 'if the shorter paths counted too',
      statements: [...followed.statements, ...statementsIn(replaced)],
    }),
    ...compare('older-label', followed, {
      how: 'by the older draft',
      statements: [...followed.statements, ...statementsIn(counting, 'older')],
    }),
  ]
}

/** The conflict of Content-Usage on a page that robots.txt disallows. */
function pageConflicts({ followed }: Preferences): readonly UsageConflict[] {
  const nothing = { how: 'by attach-05 §3.1, since the page is disallowed', statements: [] }
  return compare('page-disallowed', nothing, { how: 'if the page were allowed', statements: followed.statements })
}

function signalConflicts({ lines, url, followed, counting, replaced }: Preferences): readonly UsageConflict[] {
  const everywhere = linesFor(lines, url)
  const withoutPaths = [...counting, ...replaced].filter(({ path }) => path === '')
  return [
    ...compare('signal-scope', followed, {
      how: 'for the whole file, as crawler-commons read it until 2026',
      statements: statementsIn(everywhere.counting),
    }),
    ...compare('signal-path', followed, {
      how: 'if the line has no path, as in draft-romm-aipref-contentsignals-00',
      statements: statementsIn(withoutPaths),
    }),
  ]
}
