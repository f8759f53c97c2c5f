// Asks one question of each engine and of each form of the rules: all must give the same answer.
import { pick } from '@politely/testkit/random-robots'
import {
  type BoundRules,
  type CrawlerRules,
  type Dialect,
  type DialectName,
  dialects,
  type HasBytes,
  type ParseOptions,
  type ParsingRules,
  type ProductTokens,
  parseRobots,
  type RulesVerdict,
  restoreRules,
} from '../src/index.ts'
import { IndexedMatcher } from '../src/match/indexed.ts'
import { byteClassesOf, RequestPath } from '../src/url/request-path.ts'

export const dialectNames = Object.keys(dialects) as DialectName[]

/** After so many questions rules have an index, if there are enough of them. */
const CHECKS_FOR_INDEX = 65

/** Rules that have an index, if there are enough of them. */
export function checkOften(rules: CrawlerRules): CrawlerRules {
  for (let i = 0; i < CHECKS_FOR_INDEX; i++) rules.check(`/dummy/${i}`)
  return rules
}

/** What `restoreRules` makes of the data, which must be valid. */
export function restored(bound: unknown): CrawlerRules {
  const rules = restoreRules(bound)
  if (rules === undefined) throw new Error(`not restored: ${JSON.stringify(bound)}`)
  return rules
}

export const throughJson = (rules: CrawlerRules): unknown => JSON.parse(JSON.stringify(rules))

export const throughClone = (rules: CrawlerRules): unknown => structuredClone(rules.toJSON())

/** Counts from now on how many questions the indexed engine answers. */
export function countIndexedChecks(): () => number {
  const { find } = IndexedMatcher.prototype
  let count = 0
  IndexedMatcher.prototype.find = function (this: IndexedMatcher, path) {
    count++
    return find.call(this, path)
  }
  return () => count
}

/** A path that is in the form for comparing; one character for each byte. */
export function pathOf(latin1: string): RequestPath {
  const path = new RequestPath()
  path.setPath('/', undefined)
  path.bytes = new Uint8Array(Buffer.from(latin1, 'latin1'))
  path.end = latin1.length
  path.byteClasses = byteClassesOf(path.bytes, 0, latin1.length)
  return path
}

/** A path that counts how often a byte of it is read. */
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

/** The verdict; and the ways to ask that give another one, in words. */
export interface WaysCompared {
  readonly verdict: RulesVerdict
  readonly others: readonly string[]
}

/**
 * Parses a file for one crawler, and returns a function that asks about a URL in every way: unbound, with the linear engine's walk and its
 * entries, with the indexed engine (where there are enough rules), and after each way to store the rules; `check`, `isAllowed`, `explain`.
 */
export function checkEveryWay(
  source: Uint8Array | string | HasBytes,
  options: ParseOptions,
  tokens: ProductTokens,
): (url: string) => WaysCompared {
  const open = () => parseRobots(source, options)
  const again = open()
  again.check('/', tokens)
  const bound = open().forCrawler(tokens).toJSON()
  const kept = open().forCrawler(tokens, { keep: 'file' }).toJSON()
  const isText = typeof source === 'string' || source instanceof Uint8Array
  const ofBytes = parseRobots(isText ? { bytes: Buffer.from(source).toString('latin1') } : source, options)
  const walking = (data: BoundRules) => restored(data)
  const indexed = checkOften(open().forCrawler(tokens))
  const json = checkOften(restored(throughJson(indexed)))
  const clone = checkOften(restored(throughClone(indexed)))
  const withFile = checkOften(restored(JSON.parse(JSON.stringify(kept))))

  return (url) => {
    const verdict = open().check(url, tokens)
    const wanted = JSON.stringify(verdict)
    const others: string[] = []
    const same = (way: string, other: unknown, as: string = wanted) => {
      const got = JSON.stringify(other)
      if (got !== as) others.push(`${way}: ${got} and not ${as}`)
    }
    const walk = walking(bound)
    same('the second question', again.check(url, tokens))
    same('out of bytes as text', ofBytes.forCrawler(tokens).check(url))
    same('rule by rule', walk.check(url))
    same('indexed', indexed.check(url))
    same('out of JSON', json.check(url))
    same('out of a clone', clone.check(url))
    same('with the file', withFile.check(url))
    const allowed = JSON.stringify(verdict.allowed)
    same('plain isAllowed', open().isAllowed(url, tokens), allowed)
    same('isAllowed, the second question', again.isAllowed(url, tokens), allowed)
    for (const [way, rules] of Object.entries({ 'rule by rule': walk, indexed, json, clone, withFile })) {
      same(`isAllowed, ${way}`, rules.isAllowed(url), allowed)
    }
    const explanation = walk.explain(url)
    same('explained', explanation.verdict)
    same('explained, indexed', indexed.explain(url), JSON.stringify(explanation))
    const explained = again.explain(url, tokens)
    same('explained with the file', withFile.explain(url), JSON.stringify(explained))
    const withoutSource = explained.matches.map((match) => ({ ...match, source: undefined }))
    same('explained, but for the lines', { ...explained, matches: withoutSource }, JSON.stringify(explanation))
    return { verdict, others }
  }
}

/** A random custom dialect: it answers each question as one of the standards does. */
export function randomDialect(random: () => number): Dialect {
  const questions = Object.keys(dialects.rfc9309.parsing) as (keyof ParsingRules)[]
  const answers = questions.map((question) => {
    const from = dialects[pick(random, dialectNames)]
    return [question, from.parsing[question]] as const
  })
  return { ...dialects.rfc9309, name: 'mine', parsing: Object.fromEntries(answers) as unknown as ParsingRules }
}

function some<T>(random: () => number, from: readonly T[], least: number, most: number): T[] {
  return Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, () => pick(random, from))
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

/** Paths of rules made from few pieces, so that many are alike and match at once; one character for each byte. */
function randomRules(random: () => number): readonly string[] {
  const heads = some(random, HEADS, 1, 5)
  const middles = some(random, MIDDLES, 2, 7)
  const isNumbered = random() < 0.4
  const piece = () => (isNumbered && random() < 0.4 ? String(Math.floor(random() * 60)) : pick(random, middles))
  const count = 30 + Math.floor(random() * (random() < 0.3 ? 370 : 60))
  return Array.from({ length: count }, () => {
    const middle = Array.from({ length: Math.floor(random() * 4) }, piece).join('')
    return pick(random, heads) + middle + (random() < 0.5 ? pick(random, ENDS) : '')
  })
}

/** A robots.txt of 30 to 400 rules and more for ExampleBot, some for other crawlers; and paths to ask about, most of them made from its rules. */
export function randomLargeRobots(random: () => number): { readonly file: string; readonly path: () => string } {
  const rules = randomRules(random)
  const mostlyAllow = random() < 0.3
  const lines = ['User-agent: ExampleBot']
  for (const rule of rules) {
    const allows = random() < (mostlyAllow ? 0.8 : 0.4)
    lines.push(`${allows ? 'Allow' : 'Disallow'}: ${rule}`)
    if (random() < 0.1) lines.push(`${allows ? 'Disallow' : 'Allow'}: ${rule} # on the other hand`)
    if (random() < 0.01)
      lines.push('User-agent: Other', `Disallow: /${pick(random, MIDDLES)}`, 'User-agent: examplebot/2')
  }
  const path = () => {
    const rule = pick(random, rules)
      .replace(/\*/g, () => some(random, MIDDLES, 0, 2).join(''))
      .replace(/\$$/, '')
    const cut = random() < 0.2 ? rule.slice(0, Math.floor(random() * rule.length)) : rule
    const tail = random() < 0.5 ? some(random, [...MIDDLES, 'index.html'], 0, 3).join('') : ''
    // Long paths are searched in another way.
    const long = random() < 0.2 ? some(random, MIDDLES, 60, 120).join('') : ''
    const whole = random() < 0.5 ? `${cut}${tail}${long}` : `${long}${cut}${tail}`
    return whole.startsWith('/') ? whole : `/${whole}`
  }
  return { file: lines.join('\n'), path }
}
