import { dice, pick } from '@politely/testkit/random-robots'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, parseRobots } from '../src/index.ts'
import { firstMatch, matchesAt, nextRule, ruleAt } from '../src/rules/packed-rules.ts'
import { RuleIndex } from '../src/rules/rule-index.ts'
import { AskedPath } from '../src/url/asked-path.ts'
import { askedOften, countIndexed, countingPath, lineOf } from './every-way.ts'

const indexed = countIndexed()

/** So many of something. */
const times = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i))

const fileOf = (rules: readonly string[]) => ['User-agent: *', ...rules.map((rule) => `Disallow: ${rule}`)].join('\n')

/** The rules as they are packed, and where they end. */
function packedOf(rules: readonly string[]): { readonly packed: Uint8Array; readonly end: number } {
  const { packed, groupsAt } = parseRobots(fileOf(rules)).forCrawler('a').toJSON()
  return { packed: new Uint8Array(Buffer.from(packed, 'latin1')), end: groupsAt }
}

/** Files whose rules are short, and not: few rules and many. */
const SHORT = fileOf(times(20, (i) => `/${i}`))
const LONG = fileOf(times(200, (i) => `/${i}`))

/** Asks so many questions, each of which some rule answers. */
function ask(rules: CrawlerRules, questions: number): void {
  for (let i = 0; i < questions; i++) expect(lineOf(rules.check(`/${i % 20}$`))).toBeGreaterThan(0)
}

describe('an index is made for rules that are asked often', () => {
  it.each([
    ['short', 64, 0],
    ['short', 65, 1],
    ['short', 100, 36],
    ['long', 8, 0],
    ['long', 9, 1],
    ['long', 30, 22],
  ])('%s rules, asked %i times: %i answers come from it', (kind, questions, expected) => {
    const before = indexed()
    const file = `${kind === 'short' ? SHORT : LONG}\nDisallow: /only/${questions}`
    ask(parseRobots(file).forCrawler('a'), questions)
    expect(indexed() - before).toBe(expected)
  })

  it('also for short rules that are asked in turn with others', () => {
    const before = indexed()
    const both = [SHORT, `${SHORT}\nDisallow: /b`].map((file) => parseRobots(file).forCrawler('a'))
    for (let i = 0; i < 16; i++) for (const rules of both) ask(rules, 4)
    expect(indexed() - before).toBe(0)
    for (const rules of both) ask(rules, 4)
    expect(indexed() - before).toBe(8)
  })

  it('indexes on short rules are kept for the files that had theirs made last, as many as take 2 MiB', () => {
    const all = times(3_000, (i) => parseRobots(`${SHORT}\nDisallow: /${1_000 + i}/`).forCrawler('a'))
    for (const rules of all) askedOften(rules)
    const { packed, groupsAt } = (all[0] as CrawlerRules).toJSON()
    const { memoryBytes } = new RuleIndex(Buffer.from(packed, 'latin1'), groupsAt)
    const kept = Math.floor(2 ** 21 / memoryBytes)
    expect(kept).toBeGreaterThan(1_500)

    const before = indexed()
    for (const rules of all) ask(rules, 1)
    expect(indexed() - before).toBe(kept)
    for (const rules of all.slice(-kept)) ask(rules, 1)
    expect(indexed() - before).toBe(2 * kept)

    const [first, second] = [all.at(-kept), all.at(1 - kept)] as [CrawlerRules, CrawlerRules]
    askedOften(all[0] as CrawlerRules)
    const after = indexed()
    ask(all[0] as CrawlerRules, 1)
    ask(second, 1)
    expect(indexed() - after).toBe(2)
    ask(first, 1) // which lost its own to the one that has a new one
    expect(indexed() - after).toBe(2)
  })

  it('no more of it is claimed than there is, and the rules stay as they are', () => {
    for (const file of [SHORT, LONG]) {
      const rules = parseRobots(file).forCrawler('a')
      const [claimed, written] = [rules.memoryBytes, JSON.stringify(rules)]
      ask(rules, 50)
      expect([rules.memoryBytes, JSON.stringify(rules)]).toEqual([claimed, written])
    }
  })
})

describe('an index finds the rule that the slow and obvious way finds, RFC 9309 §2.2.2', () => {
  const slowly = (rule: string) =>
    new RegExp(
      `^${rule
        .replace(/\$$/, '')
        .split('*')
        .map((piece) => piece.replace(/[^a-z0-9/]/g, '\\$&'))
        .join('.*')}${rule.endsWith('$') ? '$' : ''}`,
      's',
    )

  // Few letters, so that much matches and nearly matches; and all octets that share a sign, or have none.
  it.each([
    ['few letters', ['/', '/', 'a', 'b', '*', '$'], 1, 20],
    ['more rules than are gone through', ['/', 'a', 'b', 'c', '*'], 25, 80],
    ['more than 96 without a head', ['*', 'a', 'b', 'ab', 'ba', '/', '$'], 130, 300],
    ['long ones', ['aaaa', 'bbbb', 'abab', '/', '/*', 'a*'], 25, 200],
    ['octets of one sign', ['/', 'j', 'q', 'x', 'z', '0', '9', 'A', 'Z', '*'], 1, 60],
    ['octets that stand for others', ['/', '%2A', '%24', '%27', '%20', '*', '$', 'e', '~'], 1, 60],
    ['octets without a sign', ['/', 'a', 'e', 'i', 'o', '!', '~', '*', ';'], 1, 60],
  ])('%s', (_name, pieces, least, most) => {
    let matched = 0
    let asked = 0
    for (let seed = 1; seed <= 60; seed++) {
      const roll = dice(seed)
      const some = (count: number) => times(Math.floor(roll() * count) + 1, () => pick(roll, pieces)).join('')
      const count = least + Math.floor(roll() * (most - least + 1))
      const rules = times(count, () => (roll() < 0.8 ? `/${some(6)}` : `*${some(6)}`))
      const { packed, end } = packedOf(rules)
      const index = new RuleIndex(packed, end)
      const places: number[] = []
      for (let at = 0; at < end; at = nextRule(packed, at)) places.push(at)
      const forms = places.map((at) => slowly(ruleAt(packed, at).form))
      for (let i = 0; i < 30; i++) {
        const path = `/${some(12)}`.replace(/[*$]/g, 'a')
        const expected = places[forms.findIndex((form) => form.test(path))] ?? end
        expect(index.find(new AskedPath().put(path)), `seed ${seed}: ${path}`).toBe(expected)
        expect(firstMatch(packed, end, new AskedPath().put(path)), `seed ${seed}: ${path}`).toBe(expected)
        asked++
        if (expected !== end) matched++
      }
    }
    expect(matched).toBeGreaterThan(asked / 10)
  })
})

describe('work is bounded by rules × path, RFC 9309 §3 (security)', () => {
  it.each<[string, readonly string[], string]>([
    ['prefixes of each other', times(1_000, (i) => `/${'a'.repeat(i)}b`), `/${'a'.repeat(2_000)}`],
    ['prefixes of each other, and a match', times(1_000, (i) => `/${'a'.repeat(i)}`), `/${'a'.repeat(2_000)}`],
    ['one head and grams', times(1_500, (i) => `/*abcd${i}x`), `/${'abcd'.repeat(500)}`],
    ['one head, and grams that all stand in the path', times(1_000, (i) => `/*abcd*${i}`), `/${'abcd'.repeat(300)}`],
    ['one head, one gram', times(500, (i) => `/*abcd${'*abcd'.repeat(i % 20)}$`), `/${'abcd'.repeat(200)}x`],
    ['one head, no gram', times(300, (i) => `/*a*${i % 100}`), `/${'a'.repeat(500)}`],
    ['heads of one length', times(900, (i) => `/${100 + i}*x`), `/${'100'.repeat(300)}`],
    ['few rules with special characters', times(40, (i) => `/*a*${'ab*'.repeat(i)}$`), `/${'ab'.repeat(300)}c`],
    ['stars', times(200, (i) => `*${'a*'.repeat(i % 50)}b`), `/${'a'.repeat(300)}`],
    ['one rule, many times', times(500, () => '/*aaaaaaaab'), `/${'a'.repeat(1_000)}`],
    ['one literal rule, many times', times(300, (i) => `/${'a'.repeat(1 + (i % 3))}`), '/aaab'],
    ['one literal rule, many times, and no match', times(300, (i) => `/${'a'.repeat(5 + (i % 3))}`), '/aaab'],
    [
      'more than two octets can number',
      times(9_000, (i) => `/${i}/${i % 7 === 0 ? '*' : 'page'}/${i}`),
      '/8995/x/8995',
    ],
    ['a query', times(1_000, (i) => `/*?sort=${i}&`), `/?${times(200, (i) => `sort=${i}`).join(';')}`],
  ])('%s', (_name, rules, text) => {
    const { packed, end } = packedOf(rules)
    const walked = countingPath(text)
    const place = firstMatch(packed, end, walked.asked)
    const found = countingPath(text)
    expect(new RuleIndex(packed, end).find(found.asked)).toBe(place)

    const bound = rules.reduce((sum, rule) => sum + (rule.length + 1) * (text.length + 1), 0)
    expect(found.lookedAt()).toBeGreaterThan(0)
    expect(found.lookedAt()).toBeLessThanOrEqual(bound + 4 * text.length)
    expect(walked.lookedAt()).toBeLessThanOrEqual(bound + 4 * text.length)
    // It is never much worse than going from rule to rule, to the last one.
    const all = countingPath(text)
    for (let at = 0; at < end; at = nextRule(packed, at)) matchesAt(packed, at, all.asked)
    expect(found.lookedAt()).toBeLessThanOrEqual(2 * all.lookedAt() + 4 * (text.length + 1))
  })

  it('looks at a few rules of many', () => {
    let asked = 0
    for (const [rules, text] of [
      [times(2_000, (i) => `/${i}/page`), '/1999/page'],
      [times(2_000, (i) => `/*?sort${i}=`), '/a?sort1999=1'],
      [times(2_000, (i) => `/shop/${i}*x$`), '/shop/1999/ax'],
      [times(2_000, (i) => `/${i}`), '/none/of/them'],
    ] as const) {
      const { packed, end } = packedOf(rules)
      const { asked: path, lookedAt } = countingPath(text)
      const place = new RuleIndex(packed, end).find(path)
      expect(place).toBe(firstMatch(packed, end, countingPath(text).asked))
      expect(lookedAt(), text).toBeLessThanOrEqual(20 * text.length)
      asked++
    }
    expect(asked).toBe(4)
  })
})
