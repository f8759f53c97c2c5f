import { pick, randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOUND_VERSION, type BoundRules, type CrawlerRules, dialects, parseRobots, restoreRules } from '../src/index.ts'
import {
  checkEveryWay,
  checkOften,
  countIndexedChecks,
  dialectNames,
  randomDialect,
  randomLargeRobots,
  restored,
  throughClone,
  throughJson,
} from './all-matchers.ts'

const indexed = countIndexedChecks()

const bytes = (text: string) => Buffer.from(text, 'latin1')

const FILE = [
  '# a secret of the site',
  'User-agent: ExampleBot # and friends',
  'User-agent: caf\u00e9',
  '  Disallow: /caf\u00e9/ # not for \u00e9veryone',
  'Allow: /caf\u00e9/menu',
  'Allow: /dir/index.html',
  'Crawl-delay: 1.5',
  'Request-rate: 1/10s 1800-1900',
  'Visit-time: 0600-0845',
  '',
  'User-agent: Other',
  'Disallow: /of-others',
].join('\n')

const URLS = [
  '/caf%C3%A9/',
  '/caf\u00e9/menu',
  '/dir/',
  '/other',
  '/robots.txt',
  'https://example.com/x',
  'mailto:a@b',
  '',
]

/** Returns the results of all methods of the rules, as JSON. */
function allResults(rules: CrawlerRules, urls: readonly string[] = URLS): string {
  const byUrl = urls.map((url) => [rules.check(url), rules.isAllowed(url), rules.explain(url)])
  return JSON.stringify([rules.productTokens, rules.crawlDelayMs, rules.requestRates, rules.visitTimes, byUrl])
}

describe('the bound form of rules', () => {
  it.each(['rules', 'file'] as const)('survives JSON and structuredClone, with %s kept', (keep) => {
    const rules = parseRobots(FILE, { origin: 'https://example.com' }).forCrawler(['ExampleBot', 'x'], { keep })
    const before = allResults(rules)
    for (const data of [throughJson(rules), throughClone(rules), rules.toJSON()]) {
      expect(allResults(restored(data))).toBe(before)
      expect(throughJson(restored(data))).toEqual(throughJson(rules))
    }
    expect(structuredClone(rules.toJSON())).toEqual(rules.toJSON())
  })

  it('survives with any file in any dialect', () => {
    let byRule = 0
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.constantFrom(...dialectNames), (seed, dialect) => {
        const random = seededRandom(seed)
        const file = randomRobots(random)
        const rules = parseRobots(bytes(file), { dialect }).forCrawler('ExampleBot')
        const urls = Array.from({ length: 4 }, () => utf8TextOf(randomPath(random, file)))
        const before = allResults(rules, urls)
        expect(allResults(restored(throughJson(rules)), urls)).toBe(before)
        expect(allResults(restored(throughClone(rules)), urls)).toBe(before)
        byRule += urls.filter((url) => rules.check(url).because === 'rule').length
      }),
      { numRuns: sampled(1_000) },
    )
    expect(byRule).toBeGreaterThan(sampled(200))
  })

  it('has the version of its format', () => {
    expect(parseRobots(FILE).forCrawler('a').toJSON().version).toBe(BOUND_VERSION)
  })

  it('keeps the file only if the caller asks for it', () => {
    const data = parseRobots(FILE).forCrawler('ExampleBot').toJSON()
    expect(data.file).toBeUndefined()
    const text = JSON.stringify(data)
    for (const part of ['secret', 'friends', 'veryone', 'of-others', 'Other']) expect(text).not.toContain(part)
    expect(text).toContain('/menu')
    const kept = parseRobots(FILE).forCrawler('ExampleBot', { keep: 'file' }).toJSON()
    expect(utf8TextOf(kept.file ?? '')).toBe(FILE)
  })

  it('explains with whole lines, with their comments, if the file was kept', () => {
    const explained = (keep: 'rules' | 'file') =>
      [
        parseRobots(FILE).forCrawler('ExampleBot', { keep }),
        restored(throughJson(parseRobots(FILE).forCrawler('ExampleBot', { keep }))),
      ].map((rules) => rules.explain('/caf%C3%A9/menu').matches.map(({ line, source }) => [line, source]))
    const lines = [
      [5, 'Allow: /caf\u00e9/menu'],
      [4, '  Disallow: /caf\u00e9/ # not for \u00e9veryone'],
    ]
    expect(explained('file')).toEqual([lines, lines])
    const withoutLines = lines.map(([line]) => [line, undefined])
    expect(explained('rules')).toEqual([withoutLines, withoutLines])
  })

  it('is the same before and after an index is built', () => {
    const before = indexed()
    for (let seed = 1; seed <= 30; seed++) {
      const { file } = randomLargeRobots(seededRandom(seed))
      const rules = parseRobots(bytes(file)).forCrawler('ExampleBot')
      const data = JSON.stringify(rules)
      expect(JSON.stringify(checkOften(rules))).toBe(data)
    }
    expect(indexed() - before).toBeGreaterThan(15)
  })

  it('is a copy: changes to it, or to the list of product tokens, do not change the rules', () => {
    const tokens = ['ExampleBot']
    const rules = parseRobots(FILE).forCrawler(tokens)
    const before = allResults(rules)
    tokens[0] = 'Other'
    Object.assign(rules.toJSON(), { packed: '', groupsAt: 0, crawlDelayMs: 9 })
    expect(allResults(rules)).toBe(before)
    const several = ['ExampleBot', 'x']
    const others = parseRobots(FILE).forCrawler(several)
    several[0] = 'Other'
    expect(others.productTokens).toEqual(['ExampleBot', 'x'])
  })

  it('keeps the origin of the file, RFC 9309 §2.3', () => {
    const rules = restored(throughJson(parseRobots(FILE, { origin: 'https://example.com' }).forCrawler('ExampleBot')))
    expect(rules.check('https://example.net/').because).toBe('other-origin')
    expect(rules.isAllowed('https://example.net/')).toBe(false)
    expect(rules.isAllowed('https://example.com/')).toBe(true)
  })

  it.each(dialectNames)('survives in a custom dialect, made from %s', (name) => {
    const dialect = { ...dialects[name], name: 'mine' }
    const rules = parseRobots(FILE, { dialect }).forCrawler('ExampleBot')
    const before = allResults(rules)
    expect(allResults(restored(throughClone(rules)))).toBe(before)
    expect(allResults(restored(throughJson(rules)))).toBe(before)
  })

  it('survives in a custom dialect that has the name of a built-in one', () => {
    const dialect = { ...dialects.google, name: 'rfc9309' }
    const rules = parseRobots('User-agent: *\nDisallow: /%7E', { dialect }).forCrawler('a')
    for (const survived of [rules, restored(throughJson(rules)), restored(throughClone(rules))]) {
      expect([survived.isAllowed('/~'), survived.isAllowed('/%7E')]).toEqual([true, false])
    }
  })

  it('survives in random custom dialects', () => {
    let byRule = 0
    for (let seed = 1; seed <= 100; seed++) {
      const random = seededRandom(seed)
      const { file, path } = randomLargeRobots(random)
      const rules = parseRobots(bytes(file), { dialect: randomDialect(random) }).forCrawler('ExampleBot')
      const urls = Array.from({ length: 4 }, () => utf8TextOf(path()))
      const before = allResults(rules, urls)
      expect(allResults(restored(throughJson(rules)), urls), `seed ${seed}`).toBe(before)
      expect(allResults(restored(throughClone(rules)), urls), `seed ${seed}`).toBe(before)
      byRule += urls.filter((url) => rules.check(url).because === 'rule').length
    }
    expect(byRule).toBeGreaterThan(100)
  })
})

/**
 * Calls all methods of restored rules, many times: they must never throw, and must give the same
 * results after checks of other rules.
 */
function expectToWork(rules: CrawlerRules, urls: readonly string[] = URLS): void {
  const first = allResults(rules, urls)
  checkEveryWay(FILE, {}, 'ExampleBot')('/caf%C3%A9/')
  expect(allResults(rules, urls)).toBe(first)
  checkOften(rules)
  for (const url of urls) {
    expect(typeof rules.isAllowed(url)).toBe('boolean')
    expect(typeof rules.check(url).allowed).toBe('boolean')
    for (const { agents, line } of rules.explain(url).groups) {
      expect(Number.isInteger(line)).toBe(true)
      for (const agent of agents) expect(typeof agent).toBe('string')
    }
  }
  expect(rules.memoryBytes).toBeGreaterThan(0)
  JSON.stringify(rules)
}

describe('caches are not trusted: restoreRules gives undefined, or rules that work, and never throws', () => {
  const good = parseRobots(FILE, { origin: 'https://example.com' }).forCrawler('ExampleBot', { keep: 'file' }).toJSON()

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 1],
    ['a string', 'x'],
    ['JSON that was not parsed', JSON.stringify(good)],
    ['an array', [good]],
    ['an empty array', []],
    ['an empty object', {}],
    ['a function', () => good],
    ['a Map', new Map(Object.entries(good))],
    ['another version', { ...good, version: BOUND_VERSION + 1 }],
    ['an older version', { ...good, version: BOUND_VERSION - 1 }],
    ['a version as text', { ...good, version: String(BOUND_VERSION) }],
    ['an unknown dialect', { ...good, dialect: 'bing' }],
    ['a dialect called toString', { ...good, dialect: 'toString' }],
    ['a dialect called __proto__', { ...good, dialect: '__proto__' }],
    ['a dialect whose name is an object', { ...good, dialect: { ...dialects.google, name: { toString: 1 } } }],
    ['a dialect without answers', { ...good, dialect: { name: 'mine' } }],
    ['a dialect with an unknown answer', { ...good, dialect: withKeys('no answer') }],
    ['a dialect with an answer that JSON cannot represent', { ...good, dialect: withKeys(1n) }],
    ['a dialect with a circular answer', { ...good, dialect: withKeys(circularObject()) }],
    ['packed text that was cut off', { ...good, packed: good.packed.slice(0, -1) }],
    ['packed text with one byte more', { ...good, packed: `${good.packed} ` }],
    ['packed text with a character above U+00FF', { ...good, packed: good.packed.replace('/', '\u0141') }],
    ['empty packed text', { ...good, packed: '' }],
    ['a group that claims more names than it has', { ...good, packed: withNameCount(good, '#') }],
    ['a group that claims many more names than it has', { ...good, packed: withNameCount(good, '?') }],
  ])('%s gives undefined', (_name, data) => {
    expect(restoreRules(data)).toBeUndefined()
  })

  const rate = { requests: 1, periodMs: 1_000 }
  it.each<[string, Partial<Record<keyof BoundRules, unknown>>]>([
    ['an infinite crawl-delay', { crawlDelayMs: Number.POSITIVE_INFINITY }],
    ['a rate without numbers', { requestRates: [{}] }],
    ['a rate of no requests', { requestRates: [{ ...rate, requests: 0 }] }],
    ['a rate without a period', { requestRates: [{ ...rate, periodMs: 0 }] }],
    ['an infinite period', { requestRates: [{ ...rate, periodMs: Number.POSITIVE_INFINITY }] }],
    ['a period as text', { requestRates: [{ ...rate, periodMs: '1000' }] }],
    ['a rate with an empty part of the day', { requestRates: [{ ...rate, between: {} }] }],
    ['a visit time without an end', { visitTimes: [{ from: 0 }] }],
    ['a visit time with half a minute', { visitTimes: [{ from: 0.5, to: 60 }] }],
    ['a visit time with a minute of the next day', { visitTimes: [{ from: 0, to: 1441 }] }],
    ['an empty origin', { origin: '' }],
    ['an origin that a URL parser writes in lower case', { origin: 'https://EXAMPLE.com' }],
    ['an origin with a path', { origin: 'https://example.com/' }],
  ])('%s gives undefined', (_name, change) => {
    expect(restoreRules({ ...good, ...change })).toBeUndefined()
  })

  it('keeps the first 24 rates and visit times, as rules of a file do', () => {
    const between = { from: 0, to: 60, more: 'x' }
    const requestRates = Array.from({ length: 30_000 }, (_, i) => ({
      requests: 1,
      periodMs: i + 1,
      between,
      more: 'x',
    }))
    const visitTimes = Array.from({ length: 30_000 }, (_, i) => ({ from: i % 1_440, to: 1_440, more: 'x' }))
    const rules = restored({ ...good, requestRates, visitTimes })
    expect(rules.requestRates).toEqual(
      Array.from({ length: 24 }, (_, i) => ({ requests: 1, periodMs: i + 1, between: { from: 0, to: 60 } })),
    )
    expect(rules.visitTimes).toEqual(Array.from({ length: 24 }, (_, i) => ({ from: i, to: 1_440 })))
    expectToWork(rules)
  })

  /** Replaces the number of names in the packed group, which is 2 (match/packed-rules.ts). */
  function withNameCount({ packed, groupsAt }: BoundRules, count: string): string {
    expect(packed[groupsAt + 1]).toBe('"')
    return `${packed.slice(0, groupsAt + 1)}${count}${packed.slice(groupsAt + 2)}`
  }

  function withKeys(answer: unknown): object {
    return { ...dialects.rfc9309, parsing: { ...dialects.rfc9309.parsing, keys: answer } }
  }

  function circularObject(): object {
    const circular: Record<string, unknown> = {}
    circular.circular = circular
    return circular
  }

  it('properties of wrong types', () => {
    const wrong = [
      undefined,
      null,
      0,
      1,
      -1,
      0.5,
      2 ** 53,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      true,
      '',
      'x',
      '\u20ac',
      [],
      [null],
      [1],
      [[]],
      [{}],
      {},
      { length: 1 },
      new Date(0),
    ]
    let rejected = 0
    let working = 0
    for (const property of Object.keys(good) as (keyof BoundRules)[]) {
      for (const value of wrong) {
        const rules = restoreRules({ ...good, [property]: value })
        if (rules === undefined) rejected++
        else {
          working++
          const results = URLS.map((url) => [rules.check(url), rules.isAllowed(url), rules.explain(url)])
          expect(results.length, `${property}: ${String(value)}`).toBe(URLS.length)
        }
      }
      const { [property]: _removed, ...rest } = good
      const rules = restoreRules(rest)
      if (rules !== undefined) expectToWork(rules)
    }
    expect(rejected).toBeGreaterThan(120)
    expect(working).toBeGreaterThan(0)
  })

  it('groups at another offset', () => {
    let rejected = 0
    for (let seed = 1; seed <= sampled(20); seed++) {
      const random = seededRandom(seed)
      const { file, path } = randomLargeRobots(random)
      const data = parseRobots(bytes(file)).forCrawler('ExampleBot').toJSON()
      for (let at = -2; at <= data.packed.length + 2; at += random() < 0.5 ? 1 : 1 + Math.floor(random() * 40)) {
        if (at === data.groupsAt) continue
        const rules = restoreRules({ ...data, groupsAt: at })
        if (rules === undefined) rejected++
        else expectToWork(rules, [utf8TextOf(path()), '/'])
      }
    }
    expect(rejected).toBeGreaterThan(sampled(200))
  })

  it('packed text with one character replaced, removed or added', () => {
    let rejected = 0
    let working = 0
    const wrong: string[] = []
    const before = indexed()
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const random = seededRandom(seed)
      const { file, path } =
        random() < 0.3
          ? randomLargeRobots(random)
          : { file: FILE, path: () => pick(random, ['/caf%C3%A9/', '/dir/', '/x']) }
      const token = pick(random, ['ExampleBot', 'ExampleBot', 'Other'])
      const data = parseRobots(bytes(file)).forCrawler(token).toJSON()
      const at = random() < 0.5 ? data.groupsAt + Math.floor(random() * 12) : Math.floor(random() * data.packed.length)
      const other = String.fromCharCode(Math.floor(random() * (random() < 0.5 ? 128 : 260)))
      const replacement = pick(random, [other, other, other, '', `${data.packed[at] ?? ''}${other}`])
      const packed = data.packed.slice(0, at) + replacement + data.packed.slice(at + 1)
      const rules = restoreRules({ ...data, packed })
      if (rules === undefined) rejected++
      else {
        working++
        const urls = [utf8TextOf(path()), '/', '/a']
        try {
          expectToWork(rules, urls)
        } catch (error) {
          const where = `character ${at} of ${data.packed.length}, groups at ${data.groupsAt}`
          wrong.push(
            `seed ${seed}: ${where}, replaced by ${JSON.stringify(replacement)}: ${String(error).slice(0, 200)}`,
          )
        }
      }
    }
    expect(wrong.slice(0, 5), `${wrong.length} failures`).toEqual([])
    expect(rejected).toBeGreaterThan(sampled(500))
    expect(working).toBeGreaterThan(sampled(300))
    expect(indexed() - before).toBeGreaterThan(sampled(1_000))
  })
})
