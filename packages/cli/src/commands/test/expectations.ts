// Files of expectations: what a robots.txt is to do, one expectation on each line.
//
//   allow Googlebot /news /about     # the crawler may fetch these paths
//   deny GPTBot /drafts/             # the crawler may not fetch them
//   deny * /                         # a staging host: no crawler that the file does not name may enter
//   deny-only * /admin/ /cart/       # these paths are closed, and nothing else is
//   deny GPTBot use:train-ai         # the file refuses this use of the site, or of paths that follow
//   crawl-delay Bingbot = 5          # in seconds, or none
//   sitemap https://a.example/s.xml  # the file names this sitemap
//   known-crawlers MyBot             # every name in the file is of a known crawler, or MyBot
//   size < 500KiB
//   status 200                       # of the response, if --robots is a URL
//
// `deny-only` needs more than checks of the given paths. It makes paths from the rules of the file.
// Each of them that is closed must be one that the given paths match, as paths of rules do.

import { type CrawlerRules, describeReason, parseRobots, type Robots } from '@politely/core'
import { findCrawler, isCrawlerName, readingOf, rulesFor } from '@politely/core/crawlers'
import { nearestName, samplePaths, sampleUrl } from '@politely/core/review'
import { UsageError } from '../../exit-code.ts'
import { PURPOSES } from '../../flags.ts'
import type { NamedRobots } from '../../input/robots-file.ts'

/** The robots.txt that is tested. */
export type Tested = Pick<NamedRobots, 'robots' | 'bytes' | 'access'>

export interface Expectation {
  readonly kind: Kind
  /** The name of a crawler, or `*`, even if the expectation is not about a crawler. */
  readonly crawler: string
  readonly paths: readonly string[]
  readonly file: string
  readonly line: number
  readonly text: string
  readonly check: Check
}

/** What the check of one expectation found. */
export interface ExpectationOutcome {
  readonly expectation: Expectation
  /** One sentence for each path, name or value that is otherwise. */
  readonly problems: readonly Problem[]
}

interface Problem {
  readonly message: string
  /** The line of robots.txt that decides, if one does. */
  readonly line: number | undefined
}

type Check = (tested: Tested) => readonly Problem[] | Promise<readonly Problem[]>

interface Word {
  readonly text: string
  /** Counted from 1. */
  readonly column: number
}

/** What the words after the kind say. */
type Meaning = Pick<Expectation, 'check'> & Partial<Pick<Expectation, 'crawler' | 'paths'>>

/** A mistake in a line, and what to write instead. @param at Undefined for the end of the line. */
type Fail = (at: Word | undefined, problem: string) => never

type Kind = 'allow' | 'deny' | 'deny-only' | 'crawl-delay' | 'sitemap' | 'known-crawlers' | 'size' | 'status'

const MEANINGS: Readonly<Record<Kind, (words: readonly Word[], fail: Fail) => Meaning>> = {
  allow: (words, fail) => pathsOrUses(words, fail, 'allow'),
  deny: (words, fail) => pathsOrUses(words, fail, 'deny'),
  'deny-only': (words, fail) => pathsOrUses(words, fail, 'deny-only'),
  'crawl-delay': crawlDelay,
  sitemap: sitemaps,
  'known-crawlers': knownCrawlers,
  size,
  status,
}
const KINDS = Object.keys(MEANINGS) as readonly Kind[]
const EXAMPLE = 'write a line such as "allow Googlebot /news" or "deny * /admin"'

/** @throws {UsageError} for a line that is not an expectation. */
export function parseExpectations(text: string, file: string): readonly Expectation[] {
  return text.split(/\r\n|\r|\n/).flatMap((source, i): readonly Expectation[] => {
    const content = source.replace(/^\ufeff/, '').replace(/(?:^|\s)#.*$/, '')
    const words = Array.from(content.matchAll(/\S+/g), ({ 0: word, index }) => ({ text: word, column: index + 1 }))
    const [first, ...others] = words
    if (first === undefined) return []
    const fail: Fail = (at, problem) => {
      throw new UsageError(`${file}:${i + 1}:${at?.column ?? content.trimEnd().length + 1}: ${problem}`)
    }
    const kind = KINDS.find((one) => one === first.text)
    if (kind === undefined) {
      const near = nearestName(first.text, KINDS)
      return fail(
        first,
        `${JSON.stringify(first.text)} is not an expectation; ${near === undefined ? EXAMPLE : `write ${near}`}`,
      )
    }
    const meaning: Meaning = MEANINGS[kind](others, fail)
    return [{ kind, crawler: '*', paths: [], file, line: i + 1, text: content.trim(), ...meaning }]
  })
}

export async function checkExpectations(
  expectations: readonly Expectation[],
  tested: Tested,
): Promise<readonly ExpectationOutcome[]> {
  const outcomes: ExpectationOutcome[] = []
  for (const expectation of expectations) outcomes.push({ expectation, problems: await expectation.check(tested) })
  return outcomes
}

const USE = 'use:'

function pathsOrUses(words: readonly Word[], fail: Fail, kind: 'allow' | 'deny' | 'deny-only'): Meaning {
  const isArgument = ({ text }: Word) => isPath(text) || text.startsWith(USE)
  const { crawler, rest } = crawlerAnd(words, isArgument, fail)
  const uses = rest.filter(({ text }) => text.startsWith(USE))
  const others = rest.filter((word) => !uses.includes(word))
  const wrong = others.find(({ text }) => !isPath(text))
  if (wrong !== undefined) fail(wrong, `${JSON.stringify(wrong.text)} is not a path; begin it with /`)
  if (rest.length === 0) fail(undefined, `no path follows; ${EXAMPLE}`)
  const paths = others.map(({ text }) => text)
  const [use] = uses
  if (use === undefined) return { crawler, paths, check: ({ robots }) => checkPaths(robots, crawler, paths, kind) }
  if (kind === 'deny-only') return fail(use, `deny-only is about paths; write deny ${crawler} ${use.text}`)
  const names = uses.map((word) => purposeIn(word, fail))
  return { crawler, paths, check: ({ robots }) => checkUses(robots, crawler, paths, names, kind) }
}

/** Returns the crawler, and the words after it. The names of some known crawlers have several words. */
function crawlerAnd(
  words: readonly Word[],
  isArgument: (word: Word) => boolean,
  fail: Fail,
): { readonly crawler: string; readonly rest: readonly Word[] } {
  const first = words.findIndex(isArgument)
  const whole = words.slice(0, Math.max(1, first))
  const name = (some: readonly Word[]) => some.map(({ text }) => text).join(' ')
  const length = findCrawler(name(whole)) === undefined ? 1 : whole.length
  const crawler = name(words.slice(0, length))
  if (!isCrawlerName(crawler))
    fail(words[0], `${JSON.stringify(crawler)} is not a crawler; write its product token, or *`)
  return { crawler, rest: words.slice(length) }
}

function isPath(word: string): boolean {
  return word.startsWith('/') || URL.canParse(word)
}

function checkPaths(
  robots: Robots,
  crawler: string,
  paths: readonly string[],
  kind: 'allow' | 'deny' | 'deny-only',
): readonly Problem[] {
  const rules = rulesFor(robots, crawler)
  const problems = paths.flatMap((path) => problemOf(rules, path, kind === 'allow'))
  return kind === 'deny-only' ? [...problems, ...alsoClosed(rules, robots, paths)] : problems
}

function problemOf(rules: CrawlerRules, path: string, shouldAllow: boolean): readonly Problem[] {
  const verdict = rules.check(path)
  if (verdict.allowed === shouldAllow) return []
  const line = verdict.because === 'rule' ? verdict.rule.line : undefined
  return [{ message: `${path} is ${verdict.allowed ? 'allowed' : 'disallowed'}: ${describeReason(verdict)}`, line }]
}

/** Finds paths that the file closes and the expectation does not name. */
function alsoClosed(rules: CrawlerRules, robots: Robots, paths: readonly string[]): readonly Problem[] {
  // The expectation as a robots.txt, so that its paths are compared as paths of rules are.
  const named = parseRobots(`User-agent: *\n${paths.map((path) => `Disallow: ${pathOf(path)}\n`).join('')}`)
  const problems = new Map<number, Problem>()
  for (const path of samplePaths([robots])) {
    const url = sampleUrl(path)
    const verdict = rules.check(url)
    if (verdict.because !== 'rule' || verdict.allowed || !named.isAllowed(url, '*')) continue
    const { line } = verdict.rule
    if (!problems.has(line))
      problems.set(line, { message: `${path} is disallowed too: ${describeReason(verdict)}`, line })
  }
  return [...problems.values()]
}

/** Returns the path and query of a URL; a path unchanged. */
function pathOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`
}

type PurposeName = (typeof PURPOSES)[number]

function purposeIn(word: Word, fail: Fail): PurposeName {
  const given = word.text.slice(USE.length)
  const purpose = PURPOSES.find((one) => one === given)
  if (purpose !== undefined) return purpose
  const near = nearestName(given, PURPOSES)
  const remedy = near === undefined ? `one of ${PURPOSES.join(', ')}` : `${USE}${near}`
  return fail(word, `${JSON.stringify(given)} is not a use; write ${remedy}`)
}

/** A use that the file does not mention is neither allowed nor refused, so it meets neither expectation. */
async function checkUses(
  robots: Robots,
  crawler: string,
  paths: readonly string[],
  names: readonly PurposeName[],
  kind: 'allow' | 'deny',
): Promise<readonly Problem[]> {
  const { usageOf } = await import('@politely/core/usage')
  const { productTokens: tokens, dialect } = readingOf(crawler, robots.dialect)
  const file = robots.inDialect(dialect)
  return (paths.length === 0 ? ['/'] : paths).flatMap((path) => {
    const { purposes, crawl } = usageOf({ url: path.startsWith('/') ? sampleUrl(path) : path, tokens, robots: file })
    // Content-Usage states nothing about a page that robots.txt disallows (attach-05 §3.1).
    const nothing =
      crawl?.allowed === false ? `the page is disallowed: ${describeReason(crawl)}` : 'the file says nothing about it'
    return names.flatMap((name) => {
      const { answer, statements } = purposes[name]
      if (answer === (kind === 'allow' ? 'allowed' : 'disallowed')) return []
      const { source } = statements[0] ?? {}
      const by = source === undefined ? nothing : `line ${source.line} says ${JSON.stringify(source.text)}`
      return [{ message: `${USE}${name} is ${answer} for ${path}: ${by}`, line: source?.line }]
    })
  })
}

const COMPARISONS = {
  '=': (a: number, b: number) => a === b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
} as const
type Sign = keyof typeof COMPARISONS

/** Splits `<= 5 s` and `<=5s` into the sign and `5s`. */
function comparisonIn(
  words: readonly Word[],
  fail: Fail,
  example: string,
): { readonly sign: Sign; readonly value: string } {
  const text = words.map((word) => word.text).join('')
  const [, sign, value = ''] = /^(<=|>=|[=<>])(.*)$/.exec(text) ?? []
  if (sign === undefined) return fail(words[0], `no =, <, <=, > or >= follows; write ${example}`)
  return { sign: sign as Sign, value }
}

function crawlDelay(words: readonly Word[], fail: Fail): Meaning {
  const { crawler, rest } = crawlerAnd(words, ({ text }) => /^[=<>]/.test(text), fail)
  const example = `crawl-delay ${crawler} = 5, or = none`
  const { sign, value } = comparisonIn(rest, fail, example)
  const seconds = value === 'none' ? undefined : secondsIn(value)
  if (Number.isNaN(seconds) || (seconds === undefined && sign !== '='))
    fail(rest[0], `${JSON.stringify(value)} is not a number of seconds; write ${example}`)
  return {
    crawler,
    check({ robots }) {
      const { crawlDelayMs } = rulesFor(robots, crawler)
      const found = crawlDelayMs === undefined ? undefined : crawlDelayMs / 1000
      const isMet = found === undefined || seconds === undefined ? found === seconds : COMPARISONS[sign](found, seconds)
      return isMet ? [] : problem(`the Crawl-delay for ${crawler} is ${found === undefined ? 'none' : `${found} s`}`)
    },
  }
}

function secondsIn(value: string): number {
  return /^\d+(?:\.\d+)?s?$/.test(value) ? Number.parseFloat(value) : Number.NaN
}

const BYTES: Readonly<Record<string, number>> = { '': 1, b: 1, bytes: 1, kb: 1000, kib: 1024, mb: 1e6, mib: 2 ** 20 }

function size(words: readonly Word[], fail: Fail): Meaning {
  const { sign, value } = comparisonIn(words, fail, 'size < 500KiB')
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(value) ?? []
  const factor = BYTES[unit.toLowerCase()]
  if (count === undefined || factor === undefined)
    return fail(
      words[0],
      `${JSON.stringify(value)} is not a size; write a number with B, kB, KiB, MB or MiB, such as size < 500KiB`,
    )
  const limit = Number(count) * factor
  return {
    check: ({ bytes }) =>
      COMPARISONS[sign](bytes, limit)
        ? []
        : problem(
            bytes === Number.POSITIVE_INFINITY ? 'the file was cut at the size limit' : `the file has ${bytes} bytes`,
          ),
  }
}

function sitemaps(words: readonly Word[], fail: Fail): Meaning {
  const wrong = words.find(({ text }) => !/^https?:\/\//i.test(text) || !URL.canParse(text))
  if (wrong !== undefined || words.length === 0)
    fail(wrong, 'no URL of a sitemap follows; write sitemap https://example.com/sitemap.xml')
  return {
    check({ robots: { sitemaps: found } }) {
      const named = new Set(found.map((url) => URL.parse(url)?.href))
      const all = found.length === 0 ? 'no sitemap with its whole URL' : found.slice(0, 5).join(', ')
      return words
        .filter(({ text }) => !named.has(new URL(text).href))
        .flatMap(({ text }) => problem(`${text} is not named: the file names ${all}`))
    },
  }
}

/** @param words Names that may stand in the file although the catalogue does not know them. */
function knownCrawlers(words: readonly Word[], fail: Fail): Meaning {
  const wrong = words.find(({ text }) => !isCrawlerName(text) || text === '*')
  if (wrong !== undefined)
    fail(
      wrong,
      `${JSON.stringify(wrong.text)} is not a product token; write known-crawlers, or after it the names of your own crawlers`,
    )
  const own = new Set(words.map(({ text }) => text.toLowerCase()))
  return {
    async check({ robots }) {
      const { namesIn } = await import('../audit/file-names.ts')
      return namesIn(robots)
        .filter(({ name, finding }) => finding !== 'known' && !own.has(name.toLowerCase()))
        .map(({ name, finding, lines, crawler, replacedBy }) => {
          const meant = replacedBy.length > 0 ? replacedBy.join(', ') : finding === 'misspelt' ? crawler : undefined
          const remedy = meant === undefined ? '' : `; write ${meant}`
          return { message: `${name} ${NAME_PROBLEMS[finding as keyof typeof NAME_PROBLEMS]}${remedy}`, line: lines[0] }
        })
    },
  }
}

const NAME_PROBLEMS = {
  misspelt: 'is misspelt',
  retired: 'is retired',
  ignored: 'may ignore robots.txt, as its operator says',
  unknown: 'is not a known crawler',
} as const

function status(words: readonly Word[], fail: Fail): Meaning {
  const [word, other] = words
  if (word === undefined || !/^[1-5]\d\d$/.test(word.text) || other !== undefined)
    fail(other ?? word, 'no status follows; write one such as status 200')
  return {
    check({ access }) {
      if (access === undefined)
        fail(word, 'a file has no status; write --robots with the URL of a site, or leave this line out')
      const { status: found = 'none' } = access as NonNullable<Tested['access']>
      return String(found) === word?.text ? [] : problem(`the status is ${found}`)
    },
  }
}

function problem(message: string): readonly Problem[] {
  return [{ message, line: undefined }]
}
