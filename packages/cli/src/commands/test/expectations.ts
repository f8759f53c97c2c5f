// Files of expectations: what a robots.txt is to do, one expectation on each line.
//
//   allow Googlebot /news /about     # the crawler may fetch these paths
//   deny GPTBot /drafts/             # the crawler may not fetch them
//   deny * /                         # a staging host: no crawler that the file does not name may enter
//   deny-only * /admin/ /cart/       # these paths are closed, and nothing else is
//
// `deny-only` needs more than checks of the given paths. It makes paths from the rules of the file.
// Each of them that is closed must be one that the given paths match, as paths of rules do.
import { type CrawlerRules, describeReason, parseRobots, type Robots } from '@politely/core'
import { findCrawler, isCrawlerName, rulesFor } from '@politely/core/crawlers'
import { samplePaths, sampleUrl } from '@politely/core/internal'
import { UsageError } from '../../errors.ts'

export interface Expectation {
  readonly kind: 'allow' | 'deny' | 'deny-only'
  /** The name of a crawler, or `*`. */
  readonly crawler: string
  readonly paths: readonly string[]
  readonly file: string
  readonly line: number
  readonly text: string
}

/** What the check of one expectation found. */
export interface Outcome {
  readonly expectation: Expectation
  /** One sentence for each path that the robots.txt treats otherwise. */
  readonly problems: readonly Problem[]
}

interface Problem {
  readonly message: string
  /** The line of robots.txt that decides, if one does. */
  readonly line: number | undefined
}

const KINDS = ['allow', 'deny', 'deny-only'] as const
const EXAMPLE = 'write a line such as "allow Googlebot /news" or "deny * /admin"'

/** @throws {UsageError} for a line that is not an expectation. */
export function parseExpectations(text: string, file: string): readonly Expectation[] {
  return text.split(/\r\n|\r|\n/).flatMap((source, i): readonly Expectation[] => {
    const content = source
      .replace(/^\ufeff/, '')
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
    if (content === '') return []
    const [kind = '', ...words] = content.split(/\s+/)
    const { crawler, paths } = crawlerAndPaths(words)
    const at = `${file}:${i + 1}`
    if (!KINDS.includes(kind as Expectation['kind']))
      throw new UsageError(`${at}: ${JSON.stringify(kind)} is not an expectation; ${EXAMPLE}`)
    if (!isCrawlerName(crawler))
      throw new UsageError(`${at}: ${JSON.stringify(crawler)} is not a crawler; write its product token, or *`)
    if (paths.length === 0) throw new UsageError(`${at}: no path follows; ${EXAMPLE}`)
    const wrong = paths.find((path) => !isPath(path))
    if (wrong !== undefined) throw new UsageError(`${at}: ${JSON.stringify(wrong)} is not a path; begin it with /`)
    return [{ kind: kind as Expectation['kind'], crawler, paths, file, line: i + 1, text: content }]
  })
}

/** The names of some known crawlers have several words. */
function crawlerAndPaths(words: readonly string[]): { readonly crawler: string; readonly paths: readonly string[] } {
  const first = words.findIndex(isPath)
  const name = words.slice(0, Math.max(1, first)).join(' ')
  const length = findCrawler(name) === undefined ? 1 : Math.max(1, first)
  return { crawler: words.slice(0, length).join(' '), paths: words.slice(length) }
}

function isPath(word: string): boolean {
  return word.startsWith('/') || URL.canParse(word)
}

export function checkExpectations(expectations: readonly Expectation[], robots: Robots): readonly Outcome[] {
  return expectations.map((expectation) => {
    const { kind, crawler, paths } = expectation
    const rules = rulesFor(robots, crawler)
    const problems = paths.flatMap((path) => problemOf(rules, path, kind === 'allow'))
    return {
      expectation,
      problems: kind === 'deny-only' ? [...problems, ...alsoClosed(rules, robots, expectation)] : problems,
    }
  })
}

function problemOf(rules: CrawlerRules, path: string, shouldAllow: boolean): readonly Problem[] {
  const verdict = rules.check(path)
  if (verdict.allowed === shouldAllow) return []
  const line = verdict.because === 'rule' ? verdict.rule.line : undefined
  return [{ message: `${path} is ${verdict.allowed ? 'allowed' : 'disallowed'}: ${describeReason(verdict)}`, line }]
}

/** Finds paths that the file closes and the expectation does not name. */
function alsoClosed(rules: CrawlerRules, robots: Robots, { paths }: Expectation): readonly Problem[] {
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
