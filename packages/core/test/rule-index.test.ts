import { describe, expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'
import { firstMatch, matchesAt, nextRule } from '../src/rules/packed-rules.ts'
import { RuleIndex } from '../src/rules/rule-index.ts'
import { countIndexed, countingPath, lineOf } from './every-way.ts'

const indexed = countIndexed()

/** So many of something. */
const times = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i))

const fileOf = (rules: readonly string[]) => ['User-agent: *', ...rules.map((rule) => `Disallow: ${rule}`)].join('\n')

/** The rules as they are packed, and where they end. */
function packedOf(rules: readonly string[]): { readonly packed: Uint8Array; readonly end: number } {
  const { packed, groupsAt } = parseRobots(fileOf(rules)).forCrawler('a').toJSON()
  return { packed: new Uint8Array(Buffer.from(packed, 'latin1')), end: groupsAt }
}

describe('an index is made for many rules that are asked often', () => {
  it.each([
    [24, 30, 0],
    [25, 8, 0],
    [25, 9, 1],
    [25, 30, 22],
  ])('%i rules, asked %i times: %i answers come from it', (count, questions, expected) => {
    const before = indexed()
    const rules = parseRobots(fileOf(times(count, (i) => `/${i}`))).forCrawler('a')
    for (let i = 0; i < questions; i++) {
      expect(lineOf(rules.check(`/${i % count}$`))).toBeGreaterThan(0)
    }
    expect(indexed() - before).toBe(expected)
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
