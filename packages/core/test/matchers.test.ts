import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, parseRobots } from '../src/index.ts'
import { Matcher } from '../src/match/matcher.ts'
import { NO_RULE, nextRuleOffset, ruleAt } from '../src/match/packed-rules.ts'
import { BucketList } from '../src/match/rule-index.ts'
import { countIndexedChecks, countingPath, pathOf, ruleLineOf } from './all-matchers.ts'

const indexedChecks = countIndexedChecks()

const times = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i))

const fileOf = (rules: readonly string[]) => ['User-agent: *', ...rules.map((rule) => `Disallow: ${rule}`)].join('\n')

/** Returns a matcher for rules, the same with an index, and the offsets of the packed rules. */
function matchersFor(rules: readonly string[]) {
  const { packed, groupsAt } = parseRobots(fileOf(rules)).forCrawler('a').toJSON()
  const bytes = new Uint8Array(Buffer.from(packed, 'latin1'))
  const offsets: number[] = []
  for (let at = 0; at < groupsAt; at = nextRuleOffset(bytes, at, bytes.indexOf(10, at))) offsets.push(at)
  const [matcher, indexed] = [new Matcher(), new Matcher()]
  for (const one of [matcher, indexed]) one.load(bytes, groupsAt, offsets.length, false)
  indexed.buildIndex(new BucketList())
  return { bytes, offsets, matcher, indexed }
}

const runs = (length: number) => `/${'a'.repeat(length)}b${'a'.repeat(length)}`

const SHORT = fileOf(times(20, (i) => `/${i}`))
const LONG = fileOf(times(200, (i) => `/${i}`))

/** Checks paths that a rule matches. */
function checkMatching(rules: CrawlerRules, count: number): void {
  for (let i = 0; i < count; i++) expect(ruleLineOf(rules.check(`/${i % 20}$`))).toBeGreaterThan(0)
}

describe('an index is used for many rules after many checks', () => {
  it.each([
    ['never for 20', SHORT, 100, 0],
    ['not for 64 checks of 200', LONG, 64, 0],
    ['for the 65th check of 200', LONG, 65, 1],
    ['for 36 of 100 checks of 200', LONG, 100, 36],
  ])('%s rules', (_name, file, checks, expected) => {
    const before = indexedChecks()
    checkMatching(parseRobots(file).forCrawler('a'), checks)
    expect(indexedChecks() - before).toBe(expected)
  })

  it('also if checks of two rule sets alternate', () => {
    const both = [LONG, `${LONG}\nDisallow: /b`].map((file) => parseRobots(file).forCrawler('a'))
    for (let i = 0; i < 16; i++) for (const rules of both) checkMatching(rules, 4)
    const before = indexedChecks()
    for (const rules of both) checkMatching(rules, 4)
    expect(indexedChecks() - before).toBe(8)
  })

  it('changes neither the stored form nor memoryBytes', () => {
    for (const file of [SHORT, LONG]) {
      const rules = parseRobots(file).forCrawler('a')
      const [claimed, stored] = [rules.memoryBytes, JSON.stringify(rules)]
      checkMatching(rules, 70)
      expect([rules.memoryBytes, JSON.stringify(rules)]).toEqual([claimed, stored])
    }
  })
})

describe('with and without an index, a matcher finds the rule that a naive search with RegExp finds, RFC 9309 §2.2.2', () => {
  const regExpOf = (rule: string) =>
    new RegExp(
      `^${rule
        .replace(/\$$/, '')
        .split('*')
        .map((piece) => piece.replace(/[^a-z0-9/]/g, '\\$&'))
        .join('.*')}${rule.endsWith('$') ? '$' : ''}`,
      's',
    )

  // Few letters, so that many rules match or nearly match; and bytes of one byte class, or of none
  // (request-path.ts).
  it.each([
    ['few letters', ['/', '/', 'a', 'b', '*', '$'], 1, 20],
    ['some rules', ['/', 'a', 'b', 'c', '*'], 25, 80],
    ['more than 96 rules with special characters', ['*', 'a', 'b', 'ab', 'ba', '/', '$'], 130, 300],
    ['long patterns', ['aaaa', 'bbbb', 'abab', '/', '/*', 'a*'], 25, 200],
    ['bytes of one class', ['/', 'j', 'q', 'x', 'z', '0', '9', 'A', 'Z', '*'], 1, 60],
    ['bytes that are encoded', ['/', '%2A', '%24', '%27', '%20', '*', '$', 'e', '~'], 1, 60],
    ['bytes without a class', ['/', 'a', 'e', 'i', 'o', '!', '~', '*', ';'], 1, 60],
  ])('%s', (_name, pieces, min, max) => {
    let matched = 0
    let checks = 0
    for (let seed = 1; seed <= (isFullRun ? 60 : 10); seed++) {
      const random = seededRandom(seed)
      const some = (count: number) => times(Math.floor(random() * count) + 1, () => pick(random, pieces)).join('')
      const count = min + Math.floor(random() * (max - min + 1))
      const { bytes, offsets, matcher, indexed } = matchersFor(
        times(count, () => (random() < 0.8 ? `/${some(6)}` : `*${some(6)}`)),
      )
      const forms = offsets.map((at) => ruleAt(bytes, at).form)
      const patterns = forms.map(regExpOf)
      for (let i = 0; i < 30; i++) {
        const path = `/${some(12)}`.replace(/[*$]/g, 'a')
        let deciding = -1
        for (const [n, pattern] of patterns.entries()) {
          const isLonger = deciding === -1 || (forms[n] as string).length > (forms[deciding] as string).length
          if (isLonger && pattern.test(path)) deciding = n
        }
        const expected = offsets[deciding] ?? NO_RULE
        const found = [matcher.find(pathOf(path)), indexed.find(pathOf(path))]
        expect(found, `seed ${seed}: ${path}`).toEqual([expected, expected])
        checks++
        if (expected !== NO_RULE) matched++
      }
    }
    expect(matched).toBeGreaterThan(checks / 10)
  })
})

describe('the work of a check is at most rules × path, RFC 9309 §3 (security)', () => {
  it.each<[string, readonly string[], string]>([
    ['prefixes of each other', times(1_000, (i) => `/${'a'.repeat(i)}b`), `/${'a'.repeat(2_000)}`],
    ['prefixes of each other, and a match', times(1_000, (i) => `/${'a'.repeat(i)}`), `/${'a'.repeat(2_000)}`],
    ['one prefix and grams', times(1_500, (i) => `/*abcd${i}x`), `/${'abcd'.repeat(500)}`],
    ['one prefix, and grams that the path has', times(1_000, (i) => `/*abcd*${i}`), `/${'abcd'.repeat(300)}`],
    ['one prefix, one gram', times(500, (i) => `/*abcd${'*abcd'.repeat(i % 20)}$`), `/${'abcd'.repeat(200)}x`],
    ['one prefix, no gram', times(300, (i) => `/*a*${i % 100}`), `/${'a'.repeat(500)}`],
    ['prefixes of one length', times(900, (i) => `/${100 + i}*x`), `/${'100'.repeat(300)}`],
    ['few rules with special characters', times(40, (i) => `/*a*${'ab*'.repeat(i)}$`), `/${'ab'.repeat(300)}c`],
    ['stars', times(200, (i) => `*${'a*'.repeat(i % 50)}b`), `/${'a'.repeat(300)}`],
    ['one rule, many times', times(500, () => '/*aaaaaaaab'), `/${'a'.repeat(1_000)}`],
    ['one literal rule, many times', times(300, (i) => `/${'a'.repeat(1 + (i % 3))}`), '/aaab'],
    ['one literal rule, many times, without a match', times(300, (i) => `/${'a'.repeat(5 + (i % 3))}`), '/aaabaaaa'],
    [
      'more rules than two bytes can number',
      times(9_000, (i) => `/${i}/${i % 7 === 0 ? '*' : 'page'}/${i}`),
      '/8995/x/8995',
    ],
    ['a query', times(1_000, (i) => `/*?sort=${i}&`), `/?${times(200, (i) => `sort=${i}`).join(';')}`],
  ])('%s', (_name, rules, text) => {
    const { matcher, indexed } = matchersFor(rules)
    const tried = countingPath(text)
    const looked = countingPath(text)
    expect(indexed.find(looked.path)).toBe(matcher.find(tried.path))

    const bound = rules.reduce((sum, rule) => sum + (rule.length + 1) * (text.length + 1), 0)
    for (const { reads } of [tried, looked]) {
      expect(reads()).toBeGreaterThan(0)
      expect(reads()).toBeLessThanOrEqual(bound + 4 * text.length)
    }
    // An index never makes a check much slower than it is to try all rules.
    const all = countingPath(text)
    matcher.findAll(all.path)
    expect(looked.reads()).toBeLessThanOrEqual(2 * all.reads() + 6 * (text.length + 1))
  })

  // A site writes both the rules and the URLs of its pages. These rows took up to 37 s when each
  // search read the path itself.
  it.each<[string, readonly string[], string]>([
    ['a letter that is far away, in many rules', times(10_000, () => '/*b*c'), `/c${'a'.repeat(8_000)}b`],
    ['runs of letters that occur early and late', times(300, (i) => `/*b*${'a'.repeat(i + 1)}*bb`), runs(4_000)],
    ['long pieces that nearly occur', times(100, () => `/*${'a'.repeat(1_000)}b`), `/ab${'a'.repeat(40_000)}`],
    ['one piece that nearly occurs everywhere', [`/*${'a'.repeat(15_000)}b`], `/ab${'a'.repeat(40_000)}`],
    [
      'letters in turns',
      times(200, () => `/${'*a*b'.repeat(100)}*bbc`),
      `/c${`${'a'.repeat(80)}${'b'.repeat(80)}`.repeat(50)}`,
    ],
  ])('is much less for many pieces and a long path: %s', (_name, rules, text) => {
    const { matcher } = matchersFor(rules)
    const { path, reads } = countingPath(text)
    matcher.find(path)
    const pieces = rules.flatMap((rule) => rule.split('*')).reduce((sum, { length }) => sum + 66 + length, 0)
    expect(reads()).toBeGreaterThan(text.length)
    expect(reads()).toBeLessThan(2 * 2 ** 16 + 2 * text.length + pieces)
  })

  it('no regular expression is built at run time, so none from the bytes of a site', () => {
    const packages = join(import.meta.dirname, '../..')
    const sources = ['core', 'fetcher', 'gate'].flatMap((name) =>
      readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && file !== 'edit-distance.ts') // it compiles tables of ours
        .map((file) => join(packages, name, 'src', file)),
    )
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter((file) => readFileSync(file, 'utf8').includes('RegExp('))).toEqual([])
  })

  it('with an index, a check tries few of many rules', () => {
    let checks = 0
    for (const [rules, text] of [
      [times(2_000, (i) => `/${i}/page`), '/1999/page'],
      [times(2_000, (i) => `/*?sort${i}=`), '/a?sort1999=1'],
      [times(2_000, (i) => `/shop/${i}*x$`), '/shop/1999/ax'],
      [times(2_000, (i) => `/${i}`), '/none/of/them'],
    ] as const) {
      const { matcher, indexed } = matchersFor(rules)
      const { path, reads } = countingPath(text)
      expect(indexed.find(path)).toBe(matcher.find(pathOf(text)))
      expect(reads(), text).toBeLessThanOrEqual(25 * text.length)
      checks++
    }
    expect(checks).toBe(4)
  })
})
