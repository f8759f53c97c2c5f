// Repairs what the linter finds, as far as no verdict changes: `politely lint --fix`, and the quick
// fixes of the playground.
//
// A fix replaces one line, or removes it. It is safe if both of these are so:
//
// 1. It adds no rule, writes no spelling that Google reads differently, and does not change which
//    of two contradicting rules is longer. A rule without its trailing `*` matches the same paths,
//    but it is shorter, and then an Allow of a length in between wins where it lost before
//    (RFC 9309 §2.2.2).
// 2. No verdict changes on paths made from the rules, in two dialects, for every crawler that the
//    file names and one that it does not name.
//
// All fixes are tried together first; if a verdict changes, halves of them are.
import { encodeText } from '../bytes.ts'
import type { Finding } from '../lint/finding.ts'
import type { FindingCode } from '../lint/finding-kinds.ts'
import { lintRobots } from '../lint/lint-robots.ts'
import { parseRobots } from '../parse-robots.ts'
import { ignoredFindings } from './ignored-findings.ts'
import { crawlersIn, samplePaths } from './sample-paths.ts'

/** One repaired line. */
export interface Fix {
  readonly code: FindingCode
  /** The line in the file before this pass. Counted from 1. */
  readonly line: number
  readonly before: string
  /** Undefined if the line is removed. */
  readonly after: string | undefined
  /** A verdict that the fix changes; undefined if it changes none. */
  readonly changes: string | undefined
}

export interface FixedFile {
  readonly text: string
  readonly applied: readonly Fix[]
  /** Fixes that change a verdict, and were not applied. */
  readonly left: readonly Fix[]
}

/**
 * A file may name hundreds of crawlers and have thousands of rules, and each fix may be tried
 * alone. So the more crawlers there are, the fewer paths are compared for each.
 */
const MAX_QUESTIONS = 200_000
const MIN_PATHS = 300

/** Each pass may make a finding of another line or kind visible, such as a duplicate. */
const MAX_PASSES = 4

/** @param isAll Whether to apply fixes that change a verdict, too. */
export function fixRobots(source: string, isAll: boolean): FixedFile {
  let text = source
  const applied: Fix[] = []
  let left: Fix[] = []
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const fixes = fixesOf(text)
    if (fixes.length === 0) break
    const { safe, unsafe } = tryFixes(text, fixes, comparison(text))
    const chosen = isAll ? [...safe, ...unsafe] : safe
    left = isAll ? [] : [...unsafe]
    if (chosen.length === 0) break
    text = applyFixes(text, chosen)
    applied.push(...chosen)
  }
  return { text, applied, left }
}

// An editor asks for quick fixes after each pause in typing, so the work has bounds: the questions
// of one comparison, the comparisons, and the characters that are parsed for one of them.
const MAX_QUICK_QUESTIONS = 4_000
const MAX_QUICK_COMPARISONS = 50
const MAX_QUICK_CHARACTERS = 3_000_000

/** Why a quick fix of a large file may change a verdict. */
const NOT_COMPARED = 'not compared with the file before, because the file is too large'

/**
 * Returns a verdict that a change of the file changes; undefined if it changes none. The changed
 * file is written only if it is compared: thousands of fixes would write thousands of files.
 */
type Compare = (write: () => string) => string | undefined

/** Returns the fix of each line, with what it changes. */
export function quickFixes(text: string): readonly Fix[] {
  const fixes = fixesOf(text)
  if (fixes.length === 0) return fixes
  const isLarge = 2 * (crawlersIn([text]).length + 1) * text.length > MAX_QUICK_CHARACTERS
  const compare: Compare = isLarge ? () => NOT_COMPARED : comparison(text, MAX_QUICK_QUESTIONS, 1)
  let comparisons = 0
  const boundedCompare: Compare = (write) => (comparisons++ < MAX_QUICK_COMPARISONS ? compare(write) : NOT_COMPARED)
  const { unsafe } = tryFixes(text, fixes, boundedCompare)
  const changes = new Map(unsafe.map((fix) => [fix.line, fix.changes]))
  return fixes.map((fix) => ({ ...fix, changes: changes.get(fix.line) }))
}

/** Sorts fixes into those that change no verdict, and those that may change one. */
function tryFixes(text: string, fixes: readonly Fix[], compare: Compare): TriedFixes {
  const rules = rulesOf(text)
  const byPrefix = Map.groupBy(rules, ({ path }) => path.replace(/\*+$/, ''))
  const tried = fixes.map((fix) => ({ ...fix, changes: riskOf(fix, rules, byPrefix) }))
  const isHarmless = ({ changes }: Fix) => changes === undefined
  const { safe, unsafe } = sortOut(text, tried.filter(isHarmless), compare)
  return { safe, unsafe: [...tried.filter((fix) => !isHarmless(fix)), ...unsafe] }
}

interface TriedFixes {
  readonly safe: readonly Fix[]
  readonly unsafe: readonly Fix[]
}

/**
 * Tries all fixes together, then halves, so that few unsafe fixes among thousands of safe ones cost
 * few comparisons. A fix that is safe only without the others is in neither list: of two equal
 * rules, each is superfluous, and the next pass looks at the other one.
 */
function sortOut(text: string, fixes: readonly Fix[], compare: Compare): TriedFixes {
  const safe: Fix[] = []
  const unsafe: Fix[] = []
  const add = (some: readonly Fix[]): void => {
    const [fix, another] = some
    if (fix === undefined) return
    if (compare(() => applyFixes(text, [...safe, ...some])) === undefined) safe.push(...some)
    else if (another === undefined) {
      const changes = compare(() => applyFixes(text, [fix]))
      if (changes !== undefined) unsafe.push({ ...fix, changes })
    } else {
      const middle = some.length >> 1
      add(some.slice(0, middle))
      add(some.slice(middle))
    }
  }
  add(fixes)
  return { safe, unsafe }
}

/** Codes whose line is superfluous. */
const REMOVED: ReadonlySet<FindingCode> = new Set([
  'duplicate-rule',
  'duplicate-name',
  'empty-allow',
  'empty-disallow-beside-rules',
  'redundant-rule',
  'robots-txt-disallowed',
  'host-deprecated',
])

/** Codes whose `write` is another spelling of the line. */
const RESPELLED: ReadonlySet<FindingCode> = new Set([
  'missing-colon',
  'misspelt-key',
  'url-without-key',
  'trailing-star',
  'double-star',
  'raw-non-ascii',
])

/**
 * Codes about preferences on the use of content whose `write` is the only thing that the line can
 * mean. Preferences change no verdict.
 */
const PREFERENCES: ReadonlySet<FindingCode> = new Set([
  'unreadable-content-usage',
  'unreadable-preference',
  'preference-of-other-field',
  'content-signal-spelling',
])

/**
 * Codes whose `write` means the same by RFC 9309, but not to Google, which compares it unchanged.
 */
const REENCODED: ReadonlySet<FindingCode> = new Set([
  'raw-space-in-path',
  'raw-character-in-path',
  'encoded-unreserved',
])

/**
 * Codes whose line does nothing before the fix, so that the fix adds a rule. It may change verdicts
 * on many paths, so it is left to the user.
 */
const REVIVED: ReadonlySet<FindingCode> = new Set([
  'three-words-without-colon',
  'late-colon',
  'path-without-slash',
  'absolute-url-in-rule',
  'backslash-in-path',
  'malformed-percent',
  'dot-segments',
])

/**
 * Codes whose line crawlers read in another way than its author. The fix changes what they read, so
 * it is left to the user. It may be several lines.
 */
const REREAD: ReadonlySet<FindingCode> = new Set([
  'escaped-line-end',
  'html-in-line',
  'look-alike-character',
  'non-ascii-blank',
  'two-paths-on-one-line',
  'expired-label',
])

/** Codes whose `write` is the name of a user-agent line. */
const RENAMED: ReadonlySet<FindingCode> = new Set(['product-token-with-version', 'product-token-with-other-characters'])

/** At most one fix for each line in a pass. */
export function fixesOf(text: string): readonly Fix[] {
  const lines = linesOf(text)
  const ignored = ignoredFindings(lines.map(({ text: content }) => content)).byLine
  const fixes = new Map<number, Fix>()
  for (const finding of lintRobots(encodeText(text))) {
    const { code, line } = finding
    if (ignored.get(line)?.has(code)) continue
    const before = lines[line - 1]
    if (before === undefined || fixes.has(line)) continue
    const after = replacementOf(finding, before)
    if (after !== before.text) fixes.set(line, { code, line, before: before.text, after, changes: undefined })
  }
  return [...fixes.values()]
}

/**
 * Returns the line to write, or undefined to remove the line. Without a fix it returns the line
 * itself.
 */
function replacementOf({ code, write }: Finding, { text: before, end }: Line): string | undefined {
  if (REMOVED.has(code)) return undefined
  if (REREAD.has(code) && write !== undefined) {
    const [, comment = ''] = /(\s*#.*)$/.exec(before) ?? []
    return `${write.join(end === '' ? '\n' : end)}${code === 'escaped-line-end' ? '' : comment}`
  }
  const [only, another] = write ?? []
  if (only === undefined || another !== undefined) return before
  const comment = /\s*#.*$/.exec(before)?.[0] ?? ''
  if (RESPELLED.has(code) || PREFERENCES.has(code) || REENCODED.has(code) || REVIVED.has(code))
    return `${/^[\s\ufeff]*/.exec(before)?.[0] ?? ''}${only}${comment}`
  return RENAMED.has(code) ? `User-agent: ${only}${comment}` : before
}

const ORIGIN = 'https://site.example'

interface Line {
  readonly text: string
  readonly end: string
}

function linesOf(text: string): readonly Line[] {
  return Array.from(text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g), ([, content = '', end = '']) => ({
    text: content,
    end,
  }))
}

/** Returns the text with its lines replaced. */
export function applyFixes(text: string, fixes: readonly Fix[]): string {
  const byLine = new Map(fixes.map((fix) => [fix.line, fix]))
  return linesOf(text)
    .map(({ text: content, end }, i) => {
      const fix = byLine.get(i + 1)
      if (fix === undefined) return `${content}${end}`
      return fix.after === undefined ? '' : `${fix.after}${end}`
    })
    .join('')
}

/**
 * A line with a rule: what it does, and the shortest and longest length that a reader may give it.
 */
interface RuleLine {
  readonly line: number
  readonly allows: boolean
  readonly path: string
  readonly least: number
  readonly most: number
}

/** Every rule of the file, whatever its group. */
function rulesOf(text: string): readonly RuleLine[] {
  return linesOf(text).flatMap(({ text: content }, i) => ruleLine(content, i + 1) ?? [])
}

function ruleLine(content: string, line: number): RuleLine | undefined {
  const [, key = '', path = ''] = /^[\s\ufeff]*(allow|dis?all?ow)\s*:?\s*([^#]*?)\s*(?:#.*)?$/i.exec(content) ?? []
  if (key === '') return undefined
  // Readers count a rule as written, or with some characters encoded or decoded.
  const lengths = [path, encodeURI(path.toWellFormed()), path.replace(/%[\da-f]{2}/gi, 'x')].map(({ length }) => length)
  return { line, allows: /^allow/i.test(key), path, least: Math.min(...lengths), most: Math.max(...lengths) }
}

/**
 * Returns why a fix may change a verdict on a path that no sample has: it adds a rule, or a rule
 * that contradicts it is of a length in between.
 */
function riskOf({ code, line, after }: Fix, rules: readonly RuleLine[], byPrefix: RulesByPrefix): string | undefined {
  if (REVIVED.has(code)) return 'the line does nothing now, and would do something'
  if (REREAD.has(code)) return 'crawlers would read it in another way than now'
  if (REENCODED.has(code)) return 'Google reads the two spellings differently'
  const before = rules.find((rule) => rule.line === line)
  if (before === undefined) return undefined
  const replaced = after === undefined ? coverOf(before, byPrefix) : ruleLine(after, line)
  if (replaced === undefined || replaced.path === before.path) return undefined
  const [least, most] = [Math.min(before.least, replaced.least), Math.max(before.most, replaced.most)]
  const rival = rules.find((rule) => rule.allows !== before.allows && rule.most >= least && rule.least <= most)
  return rival && `line ${rival.line} would win or lose against it`
}

/**
 * The longest rule that does the same for all paths of a rule that is removed, without that rule.
 */
function coverOf({ line, allows, path }: RuleLine, byPrefix: RulesByPrefix): RuleLine | undefined {
  let longest: RuleLine | undefined
  for (let length = 0; length <= path.length; length++) {
    for (const rule of byPrefix.get(path.slice(0, length)) ?? []) {
      if (rule.line === line || rule.allows !== allows) continue
      if (longest === undefined || rule.least > longest.least) longest = rule
    }
  }
  return longest
}

/** Rules by their path without the stars at its end. They match all paths that begin with it. */
type RulesByPrefix = ReadonlyMap<string, readonly RuleLine[]>

/**
 * Returns a function that names a verdict which another text changes; undefined if it changes none.
 */
function comparison(before: string, maxQuestions = MAX_QUESTIONS, minPaths = MIN_PATHS): Compare {
  const questions = (['rfc9309', 'google'] as const).flatMap((dialect) =>
    [...crawlersIn([before]), 'UnnamedBot'].map((crawler) => ({
      dialect,
      crawler,
      rules: parseRobots(encodeText(before), { dialect }).forCrawler(crawler),
    })),
  )
  return (write) => {
    const after = write()
    const most = Math.max(minPaths, Math.floor(maxQuestions / questions.length))
    // With an origin, because `//a` alone would be a URL without a scheme.
    const paths = spread(samplePaths([before, after]), most).map((path) => `${ORIGIN}${path}`)
    for (const { dialect, crawler, rules } of questions) {
      const others = parseRobots(encodeText(after), { dialect }).forCrawler(crawler)
      for (const path of paths) {
        const allowed = others.isAllowed(path)
        if (allowed !== rules.isAllowed(path))
          return `${path.slice(ORIGIN.length)} becomes ${allowed ? 'allowed' : 'disallowed'} for ${crawler}${dialect === 'google' ? ' (Google)' : ''}`
      }
    }
    return undefined
  }
}

/** Returns at most this many items, evenly spread over the list. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.ceil(items.length / most)
  return step <= 1 ? items : items.filter((_, i) => i % step === 0)
}
