// Checks a URL with and without an index, and with each stored form of the rules. All must give the
// same verdict.
import { pick } from '@politely/testkit/random-robots'
import {
  type CrawlerRules,
  type Dialect,
  type DialectName,
  dialects,
  type ParseOptions,
  parseRobots,
  type RulesVerdict,
  restoreRules,
} from '../src/index.ts'
import type { HasBytes, ParsingRules, ProductTokens } from '../src/internal.ts'
import { RuleIndex } from '../src/match/rule-index.ts'
import { byteClassesOf, RequestPath } from '../src/url/request-path.ts'

export const dialectNames = Object.keys(dialects) as DialectName[]

/** After this many checks, rules get an index if there are more than 96 of them. */
const CHECKS_FOR_INDEX = 65

/** Checks so many URLs that the rules get an index, if there are more than 96 of them. */
export function checkOften(rules: CrawlerRules): CrawlerRules {
  for (let i = 0; i < CHECKS_FOR_INDEX; i++) rules.isAllowed(`/dummy/${i}`)
  return rules
}

/** Restores rules from data that must be valid. */
export function restored(bound: unknown): CrawlerRules {
  const rules = restoreRules(bound)
  if (rules === undefined) throw new Error(`not restored: ${JSON.stringify(bound)}`)
  return rules
}

export const throughJson = (rules: CrawlerRules): unknown => JSON.parse(JSON.stringify(rules))

export const throughClone = (rules: CrawlerRules): unknown => structuredClone(rules.toJSON())

/** Returns a function that counts how often an index has been used since this call. */
export function countIndexedChecks(): () => number {
  const { bucketsFor } = RuleIndex.prototype
  let count = 0
  RuleIndex.prototype.bucketsFor = function (this: RuleIndex, path) {
    count++
    return bucketsFor.call(this, path)
  }
  return () => count
}

/** Returns a path that is in normal form already; one character for each byte. */
export function pathOf(latin1: string): RequestPath {
  const path = new RequestPath()
  path.setPath('/', 'google')
  path.bytes = new Uint8Array(Buffer.from(latin1, 'latin1'))
  path.end = latin1.length
  path.byteClasses = byteClassesOf(path.bytes, 0, latin1.length)
  return path
}

/** Returns a path, and a function that counts how many of its bytes have been read. */
export function countingPath(latin1: string): { readonly path: RequestPath; readonly reads: () => number } {
  const path = pathOf(latin1)
  let count = 0
  path.bytes = new Proxy(path.bytes, {
    get(bytes, key) {
      if (typeof key !== 'string' || !/^(-1|\d+)$/.test(key)) throw new Error(`reads ${String(key)} of the path`)
      count++
      return bytes[Number(key)]
    },
  })
  return { path, reads: () => count }
}

export function ruleLineOf(verdict: RulesVerdict): number {
  return verdict.because === 'rule' ? verdict.rule.line : 0
}

/** A verdict; and a description of each way to check that gives another one. */
export interface WaysCompared {
  readonly verdict: RulesVerdict
  readonly others: readonly string[]
}

/**
 * Parses a file for one crawler, and returns a function that checks a URL in every way: with
 * unbound rules, with and without an index (if there are enough rules), and with rules from each
 * stored form; by `check`, `isAllowed` and `explain`.
 */
export function checkEveryWay(
  source: Uint8Array | string | HasBytes,
  options: ParseOptions,
  tokens: ProductTokens,
): (url: string) => WaysCompared {
  const open = () => parseRobots(source, options)
  const checkedBefore = open()
  checkedBefore.check('/', tokens)
  const bound = open().forCrawler(tokens).toJSON()
  const kept = open().forCrawler(tokens, { keep: 'file' }).toJSON()
  const isText = typeof source === 'string' || source instanceof Uint8Array
  const ofBytes = parseRobots(isText ? { bytes: Buffer.from(source).toString('latin1') } : source, options)
  const indexed = checkOften(open().forCrawler(tokens))
  const json = checkOften(restored(throughJson(indexed)))
  const clone = checkOften(restored(throughClone(indexed)))
  const withFile = checkOften(restored(JSON.parse(JSON.stringify(kept))))

  return (url) => {
    const verdict = open().check(url, tokens)
    const expected = JSON.stringify(verdict)
    const others: string[] = []
    const expectSame = (way: string, other: unknown, as: string = expected) => {
      const actual = JSON.stringify(other)
      if (actual !== as) others.push(`${way}: ${actual}, expected ${as}`)
    }
    const fresh = restored(bound)
    expectSame('the second check', checkedBefore.check(url, tokens))
    expectSame('from bytes in a string', ofBytes.forCrawler(tokens).check(url))
    expectSame('without an index', fresh.check(url))
    expectSame('indexed', indexed.check(url))
    expectSame('from JSON', json.check(url))
    expectSame('from a clone', clone.check(url))
    expectSame('with the file', withFile.check(url))
    const allowed = JSON.stringify(verdict.allowed)
    expectSame('isAllowed, unbound', open().isAllowed(url, tokens), allowed)
    expectSame('isAllowed, the second check', checkedBefore.isAllowed(url, tokens), allowed)
    for (const [way, rules] of Object.entries({ fresh, indexed, json, clone, withFile })) {
      expectSame(`isAllowed, ${way}`, rules.isAllowed(url), allowed)
    }
    const explanation = fresh.explain(url)
    expectSame('explained', explanation.verdict)
    expectSame('explained, indexed', indexed.explain(url), JSON.stringify(explanation))
    const explained = checkedBefore.explain(url, tokens)
    expectSame('explained with the file', withFile.explain(url), JSON.stringify(explained))
    const withoutSource = explained.matches.map((match) => ({ ...match, source: undefined }))
    expectSame('explained, without the lines', { ...explained, matches: withoutSource }, JSON.stringify(explanation))
    return { verdict, others }
  }
}

/** Returns a random custom dialect. Each of its answers comes from some built-in dialect. */
export function randomDialect(random: () => number): Dialect {
  const questions = Object.keys(dialects.rfc9309.parsing) as (keyof ParsingRules)[]
  const answers = questions.map((question) => {
    const from = dialects[pick(random, dialectNames)]
    return [question, from.parsing[question]] as const
  })
  return { ...dialects.rfc9309, name: 'mine', parsing: Object.fromEntries(answers) as unknown as ParsingRules }
}

/** Returns `min` to `max` random items. */
function some<T>(random: () => number, from: readonly T[], min: number, max: number): T[] {
  return Array.from({ length: min + Math.floor(random() * (max - min + 1)) }, () => pick(random, from))
}

const HEADS = [
  '/',
  '/a',
  '/aa',
  '/aaa',
  '/aaaa/',
  '/a/b/',
  '/*?',
  '/*?x',
  '/*/',
  '/*.',
  '*',
  '/*a*',
  '/~',
  '/%7E',
  '/caf\xc3\xa9',
  '/caf%c3%a9',
  '/a%2Fb',
  '',
]
const MIDDLES = [
  'a',
  'aa',
  'b',
  'abcd',
  'xabcd',
  'abcde',
  'bcde',
  'sort=',
  'page=',
  '&',
  '=',
  '*',
  '*',
  '*abcd',
  '*a',
  '/',
  '.php',
  '/index.html',
  '%61',
  '%2a',
  '%24',
  '$',
  "'",
  '%27',
  '~',
  '%',
  '%zz',
  '\xc3\xa9',
  '%C3%A9',
  '\xff',
  '{',
  '^',
]
const ENDS = ['', '', '', '', '$', '*', '*$', '$$', '/', '/index.html', '/index.htm$', 'index.html']

/**
 * Returns patterns made from few pieces, so that many of them match one path; one character for
 * each byte.
 */
function randomRules(random: () => number): readonly string[] {
  const heads = some(random, HEADS, 1, 5)
  const middles = some(random, MIDDLES, 2, 7)
  const isNumbered = random() < 0.4
  const piece = () => (isNumbered && random() < 0.4 ? String(Math.floor(random() * 60)) : pick(random, middles))
  const count = 30 + Math.floor(random() * (random() < 0.6 ? 370 : 60))
  return Array.from({ length: count }, () => {
    const middle = Array.from({ length: Math.floor(random() * 4) }, piece).join('')
    return pick(random, heads) + middle + (random() < 0.5 ? pick(random, ENDS) : '')
  })
}

/**
 * Returns a robots.txt with at least 30 rules for ExampleBot and some for other crawlers; and a
 * function for paths, most of them made from its rules.
 */
export function randomLargeRobots(random: () => number): { readonly file: string; readonly path: () => string } {
  const rules = randomRules(random)
  const mostlyAllow = random() < 0.3
  const lines = ['User-agent: ExampleBot']
  for (const rule of rules) {
    const allows = random() < (mostlyAllow ? 0.8 : 0.4)
    lines.push(`${allows ? 'Allow' : 'Disallow'}: ${rule}`)
    if (random() < 0.1) lines.push(`${allows ? 'Disallow' : 'Allow'}: ${rule} # the opposite`)
    if (random() < 0.01)
      lines.push('User-agent: Other', `Disallow: /${pick(random, MIDDLES)}`, 'User-agent: examplebot/2')
  }
  const path = () => {
    const rule = pick(random, rules)
      .replace(/\*/g, () => some(random, MIDDLES, 0, 2).join(''))
      .replace(/\$$/, '')
    const cut = random() < 0.2 ? rule.slice(0, Math.floor(random() * rule.length)) : rule
    const tail = random() < 0.5 ? some(random, [...MIDDLES, 'index.html'], 0, 3).join('') : ''
    // Long paths make `findPieceEnd` use its automaton.
    const long = random() < 0.2 ? some(random, MIDDLES, 60, 120).join('') : ''
    const whole = random() < 0.5 ? `${cut}${tail}${long}` : `${long}${cut}${tail}`
    return whole.startsWith('/') ? whole : `/${whole}`
  }
  return { file: lines.join('\n'), path }
}
