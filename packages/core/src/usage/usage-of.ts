// usageOf: what may be done with a page, from all channels.
//
// Each channel (robots.txt, tags and headers, tdmrep.json) yields statements, each with its source,
// after its own rule of combination. One rule combines statements across channels: a refusal counts.
// Where a channel can be read in two ways, there is a second list of statements; `compare` answers
// from both lists and reports the purposes whose answers differ. Paths of Content-Usage become the
// rules of a robots.txt, so one matcher serves both.
import { describeValue, withoutCredentials } from '../describe-value.ts'
import { OptionError, otherCopyProblem } from '../errors.ts'
import { headerLines, type ResponseHeaders } from '../http/header-lines.ts'
import { assertKnownOptions } from '../known-options.ts'
import type { RulesVerdict } from '../match/verdict.ts'
import { contentSignalUses, type SignalUse } from '../parse/preference-labels.ts'
import type { ProductTokens } from '../parse/product-tokens.ts'
import { Robots } from '../robots.ts'
import { type UrlInput, urlText } from '../url/origin.ts'
import { type Combination, combinationOf, combinedAnswer } from './combine.ts'
import { compare, type UsageConflict } from './conflicts.ts'
import {
  type Answer,
  type Purpose,
  purposes,
  type Statement,
  shown,
  type UsageProblem,
  usageSourceOf,
} from './purpose.ts'
import { type FoundValues, type LabelValues, parseContentSignal, parseContentUsage } from './robots-txt/label-values.ts'
import {
  licenseConflict,
  licensesInHead,
  licensesInLinks,
  licensesOf,
  type UsageLicense,
} from './robots-txt/licenses.ts'
import { type PolicyToken, policyStatements } from './robots-txt/policy-tokens.ts'
import { problemsIn, robotsPreferences, statementsIn, usesIn } from './robots-txt/robots-preferences.ts'
import type { PageHead } from './tags/page-head.ts'
import {
  describeRobotsProblem,
  pageHeadIn,
  type RobotsDirective,
  type RobotsDirectives,
  type RobotsStatement,
  robotsDirectives,
  statementsOf,
} from './tags/robots-directives.ts'
import { type TdmrepFile, type TdmrepSource, tdmrepFileOf, tdmrepOf } from './tdmrep.ts'
import { widerConflicts } from './wider-readings.ts'

/** What `usageOf` reads. What is undefined was not looked at, and states nothing. */
export interface UsageInput {
  /** The URL of the page: a string, or an object with `href`. */
  readonly url: UrlInput
  /** The crawler's name in robots.txt and in robots tags; or several, as in `forCrawler`. */
  readonly tokens: ProductTokens
  /** The robots.txt of the page's origin, in the version in force when the page was fetched. */
  readonly robots?: Robots | undefined
  /** The headers of the page's response. */
  readonly headers?: ResponseHeaders | undefined
  /** The page: its text, its bytes, or what a `headReader` read of it. Only if it is HTML. */
  readonly html?: string | Uint8Array | PageHead | undefined
  /**
   * The file `/.well-known/tdmrep.json` of the origin: its text, its bytes, the array in it, or the
   * result of `parseTdmrep`.
   */
  readonly tdmrep?: TdmrepSource | TdmrepFile | undefined
  /**
   * The time for `unavailable_after`. Milliseconds since 1970. Without it, that rule states nothing,
   * and `directives` has its date.
   */
  readonly now?: number | undefined
  /**
   * Names of groups in `robots` that stand for a use, and not for a crawler. Experimental. By default
   * none, so that the groups of a file only speak of crawlers.
   * draft-kelley-aipref-training-preference-signal-00.
   */
  readonly policyTokens?: readonly PolicyToken[] | undefined
}

/** The answer about one purpose. JSON-safe. */
export interface PurposeUsage {
  readonly answer: Answer
  /** How the statements make the answer. */
  readonly combination: Combination
  /** Everything that counts, refusals first; at most 100 statements. */
  readonly statements: readonly Statement[]
}

/**
 * What may be done with a page. JSON-safe. Each list has at most its first 100 items, except the lists
 * in `directives`, which have all robots tags.
 */
export interface Usage {
  /** The URL as given, without credentials. */
  readonly url: string
  /** The answer for each purpose. */
  readonly purposes: Readonly<Record<Purpose, PurposeUsage>>
  /** Where two readings of the same statements differ. An answer follows the first reading. */
  readonly conflicts: readonly UsageConflict[]
  /** How far content may be used, by Content Signals; the most restrictive of several. */
  readonly signalUse: SignalUse | undefined
  /** The RSL licenses that the site names. None is fetched; each may allow what nothing else does. */
  readonly licenses: readonly UsageLicense[]
  /** The URL of the policy by which reserved text and data mining may be allowed (TDMRep). */
  readonly tdmPolicy: string | undefined
  /** The robots tags of the page, with their limits, such as `maxSnippet`. */
  readonly directives: RobotsDirectives
  /** Whether the crawler may fetch the page; undefined without `robots`. */
  readonly crawl: RulesVerdict | undefined
  /** What was not read or not used, and why. */
  readonly problems: readonly UsageProblem[]
}

const KNOWN_OPTIONS: Readonly<Record<keyof UsageInput, true>> = {
  url: true,
  tokens: true,
  robots: true,
  headers: true,
  html: true,
  tdmrep: true,
  now: true,
  policyTokens: true,
}

/**
 * Returns what may be done with a page: for each purpose, whether the site allows it, refuses it or
 * states nothing, with every source.
 *
 * A refusal counts more than a permission, even if it is unclear whether it is for this crawler.
 * Where documents leave two readings, the answer follows the newest one, and `conflicts` has both.
 * The function reads only what it is given: it fetches nothing, no license either.
 *
 * @example
 * ```ts
 * import { parseRobots } from '@politely/core'
 * import { usageOf } from '@politely/core/usage'
 *
 * const robots = parseRobots('User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n')
 * const { purposes } = usageOf({ robots, url: 'https://example.com/page', tokens: 'ExampleBot' })
 * console.log(purposes['train-ai'].answer, purposes.search.answer) // disallowed unstated
 * ```
 *
 * @throws {OptionError} for an unknown option, or a value of another type. A mistake of the site is
 * not an error: `problems` names it.
 */
export function usageOf(input: UsageInput): Usage {
  if (input instanceof Robots)
    throw new OptionError(
      'options',
      'a parsed robots.txt was given; write usageOf({ robots, url, tokens: "ExampleBot" })',
    )
  assertKnownOptions(input, KNOWN_OPTIONS, '{ robots, url, tokens: "ExampleBot" }')
  const { robots, tokens, headers, tdmrep, now } = input
  if (robots !== undefined && !(robots instanceof Robots)) {
    throw new OptionError(
      'robots',
      otherCopyProblem('Robots', '@politely/core', robots) ??
        `${describeValue(robots)} is not a parsed robots.txt; write parseRobots(file)`,
    )
  }
  const url = urlText(input.url)
  const head = input.html === undefined ? undefined : pageHeadIn(input.html)
  const inRobots = robotsPreferences(robots, url, tokens)
  const usage = headerPreferences(headers, 'content-usage', parseContentUsage)
  const signals = headerPreferences(headers, 'content-signal', parseContentSignal)
  const directives = robotsDirectives({ headers, html: head, now }, tokens)
  const tags = readingsOf(directives.list, now)
  const unclear = readingsOf(directives.uncertain, now)
  const refused = unclear.followed.filter(isRefusal) // an unclear refusal counts, an unclear permission does not
  const file = tdmrep === undefined ? undefined : tdmrepFileOf(tdmrep, 'tdmrep')
  const tdm = tdmrepOf({ file, url, headers, head })
  const base = withoutCredentials(url)
  const license = licensesOf(inRobots.lines, [...licensesInLinks(headers, base), ...licensesInHead(head, base)])
  const uses = [...inRobots.uses, ...usesIn(signals)]
  const onPage = [...statementsIn(usage), ...statementsIn(signals), ...tags.followed, ...refused]
  const policies = policyStatements(robots, url, input.policyTokens)
  const statements = [...inRobots.statements, ...policies, ...onPage, ...tdm.statements]
  return {
    url: base,
    purposes: Object.fromEntries(purposes.map((one) => [one, purposeUsage(one, statements)])) as Usage['purposes'],
    conflicts: [
      ...disagreements(statements),
      ...searchConflicts([...inRobots.statements, ...statementsIn(usage)]),
      ...inRobots.conflicts,
      ...(inRobots.verdict?.allowed === false ? unseenConflicts(onPage) : []),
      ...scopeConflicts(tags.followed, refused, unclear.followed),
      ...widerConflicts(statements, [...tags.byOperators, ...unclear.byOperators], uses),
      ...compare(
        'later-carrier',
        { how: 'by TDMRep, in which the last place counts', statements: tdm.statements },
        { how: 'if any refusal counted', statements: [...tdm.statements, ...tdm.overridden] },
      ),
      ...licenseConflict(license.licenses, robots),
    ],
    signalUse: contentSignalUses.find((one) => uses.some(({ use }) => use === one)),
    licenses: shown(license.licenses),
    tdmPolicy: tdm.policy,
    directives,
    crawl: inRobots.verdict,
    problems: shown([
      ...inRobots.problems,
      ...problemsIn(usage),
      ...problemsIn(signals),
      ...directives.problems.map((problem) => ({ source: problem.source, why: describeRobotsProblem(problem) })),
      ...tdm.problems,
      ...license.ignored,
    ]),
  }
}

/** Returns a header with preferences; an empty list without it. Its lines are one value. RFC 9651 §4.2. */
function headerPreferences(
  headers: ResponseHeaders | undefined,
  channel: 'content-usage' | 'content-signal',
  parse: (value: string) => LabelValues,
): readonly FoundValues[] {
  const lines = headerLines(headers, channel)
  if (lines.length === 0) return []
  const text = lines.map((line) => line.text).join(', ')
  const name = channel === 'content-usage' ? 'Content-Usage' : 'Content-Signal'
  return [{ values: parse(text), source: usageSourceOf(channel, 'header', name, text) }]
}

/** Sorts the statements of robots tags: the answer follows some, and operators have the others. */
function readingsOf(
  rules: readonly RobotsDirective[],
  now: number | undefined,
): { readonly followed: readonly RobotsStatement[]; readonly byOperators: readonly RobotsStatement[] } {
  const all = statementsOf(rules, now)
  return {
    followed: all.filter(({ reading }) => reading !== 'operator'),
    byOperators: all.filter(({ reading }) => reading === 'operator'),
  }
}

/**
 * The conflicts of robots tags whose lines were joined: the answer follows the reading in which a
 * refusal counts. @param refused The refusals of `unclear`.
 */
function scopeConflicts(
  clear: readonly Statement[],
  refused: readonly Statement[],
  unclear: readonly Statement[],
): readonly UsageConflict[] {
  const [one, two] = ['if it is one line', 'if it was two lines']
  const counting = [...clear, ...refused]
  return [
    ...compare('unclear-scope', { how: two, statements: counting }, { how: one, statements: clear }),
    // What an unclear rule permits, and nothing refuses.
    ...compare('unclear-scope', { how: one, statements: counting }, { how: two, statements: [...clear, ...unclear] }),
  ]
}

/** The conflicts of what is said on a page that robots.txt disallows. */
function unseenConflicts(statements: readonly Statement[]): readonly UsageConflict[] {
  return compare(
    'page-disallowed',
    { how: 'by the page that was given', statements },
    { how: 'for a crawler that obeys robots.txt, which never sees the page', statements: [] },
  )
}

function purposeUsage(purpose: Purpose, all: readonly Statement[]): PurposeUsage {
  const about = all.filter((one) => one.purpose === purpose)
  const statements = about.toSorted((a, b) => Number(isRefusal(b)) - Number(isRefusal(a)))
  return { answer: combinedAnswer(about), combination: combinationOf(about), statements: shown(statements) }
}

function isRefusal({ answer }: Statement): boolean {
  return answer === 'disallowed'
}

/** The conflicts between statements about one purpose that differ. */
function disagreements(statements: readonly Statement[]): readonly UsageConflict[] {
  const refusals = statements.filter(isRefusal)
  const refused = new Set(refusals.map(({ purpose }) => purpose))
  const permissions = statements.filter((one) => !isRefusal(one) && refused.has(one.purpose))
  const disputed = new Set(permissions.map(({ purpose }) => purpose))
  return compare(
    'channels-disagree',
    { how: 'by the refusal', statements: refusals.filter(({ purpose }) => disputed.has(purpose)) },
    { how: 'by the permission', statements: permissions },
  )
}

/** In a search application, what AIPREF says of search replaces what it says of the others. */
function searchConflicts(statements: readonly Statement[]): readonly UsageConflict[] {
  const aipref = statements.filter(({ source }) => source.channel === 'content-usage')
  const search = aipref.filter(({ purpose }) => purpose === 'search')
  const others = aipref.filter(({ purpose }) => purpose !== 'search')
  if (search.length === 0) return []
  const inSearch = others.flatMap(({ purpose }) => search.map((one) => ({ ...one, purpose })))
  return compare(
    'search-overrides',
    { how: 'outside of a search application', statements: others },
    { how: 'inside a search application (vocab-08 §4.3)', statements: inSearch },
  )
}
