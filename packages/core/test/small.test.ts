// `@politely/core/match` gives the verdicts of `@politely/core`, in both of its dialects.
import { type ConformanceCase, conformanceDirOrNote, judgeConformance } from '@politely/testkit/cases/conformance'
import { pick, randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import * as core from '../src/index.ts'
import { isPolitelyError, type ParseOptions, parseRobots } from '../src/small/index.ts'
import { randomLargeRobots, ruleLineOf } from './all-matchers.ts'

const CHECKS = isFullRun ? 100_000 : 3_000

const CRAWLERS = [
  'ExampleBot',
  'a1',
  'Nobody',
  '*',
  '',
  'ExampleBot/2.0 (+https://example.com/bot)',
  'Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.com/bot)',
  ['Other', 'ExampleBot'],
  ['Nobody', 'a1'],
]
const ORIGINS = [
  '',
  '',
  '',
  'https://example.com',
  'https://EXAMPLE.com:443',
  'http://example.com',
  'https://a b',
  '//a.test',
]

describe.each(['rfc9309', 'google'] as const)('in dialect %s', (dialect) => {
  it(`gives the verdicts of core in ${CHECKS} random cases`, () => {
    const reasons: Record<string, number> = {}
    let checks = 0
    for (let seed = 1; checks < CHECKS; seed++) {
      const random = seededRandom(seed)
      const large = seed % 8 === 0 ? randomLargeRobots(random) : undefined
      const file = large?.file ?? randomRobots(random)
      const source = random() < 0.5 ? Buffer.from(file, 'latin1') : utf8TextOf(file)
      const options: ParseOptions = { dialect, origin: pick(random, [undefined, 'https://example.com/a']) }
      const full = core.parseRobots(source, options)
      const small = parseRobots(source, options)
      for (const crawler of CRAWLERS) {
        const bound = small.forCrawler(crawler)
        for (let i = 0; i < 3; i++, checks++) {
          const url = pick(random, ORIGINS) + utf8TextOf(large?.path() ?? randomPath(random, file))
          const expected = full.check(url, crawler)
          const verdicts = [small.check(url, crawler), bound.check(url)]
          const isSame = verdicts.every((verdict) => JSON.stringify(verdict) === JSON.stringify(expected))
          if (!isSame || small.isAllowed(url, crawler) !== expected.allowed) {
            expect(verdicts, `seed ${seed}: ${crawler} checks ${JSON.stringify(url)}`).toEqual([expected, expected])
          }
          reasons[expected.because] = (reasons[expected.because] ?? 0) + 1
        }
      }
    }
    for (const because of ['rule', 'no-rule-matched', 'no-group', 'other-origin']) {
      expect(reasons[because], because).toBeGreaterThan(CHECKS / 100)
    }
  })
})

const dir = conformanceDirOrNote()

describe.skipIf(dir === undefined)('the conformance cases', () => {
  it('get the verdicts of core and of google/robotstxt', { timeout: 300_000 }, async () => {
    const runs = { rfc9309: new ConformanceRun('rfc9309'), google: new ConformanceRun('google') }
    const agreements = await judgeConformance(dir as string, runs)
    for (const dialect of ['rfc9309', 'google'] as const) {
      expect(runs[dialect].different).toEqual([])
      expect(agreements[dialect].cases).toBeGreaterThan(10_000)
      expect(agreements[dialect].complete, agreements[dialect].report).toBe(true)
    }
  })
})

class ConformanceRun {
  readonly different: string[] = []
  readonly #dialect: 'rfc9309' | 'google'
  #robots: Uint8Array | undefined
  #parsed = [parseRobots(''), core.parseRobots('')] as const

  constructor(dialect: 'rfc9309' | 'google') {
    this.#dialect = dialect
  }

  check({ id, robots, url, agent }: ConformanceCase) {
    if (this.#robots !== robots) {
      const options = { dialect: this.#dialect }
      this.#robots = robots
      this.#parsed = [parseRobots(robots, options), core.parseRobots(robots, options)]
    }
    const [verdict, expected] = this.#parsed.map((parsed) => parsed.check(url, agent)) as [
      core.RulesVerdict,
      core.RulesVerdict,
    ]
    if (JSON.stringify(verdict) !== JSON.stringify(expected)) this.different.push(id)
    return { allowed: verdict.allowed, line: ruleLineOf(verdict) }
  }
}

it.each([
  ['source', () => parseRobots(undefined as never)],
  ['source', () => parseRobots('https://example.com/robots.txt')],
  ['options', () => parseRobots('', null as never)],
  ['dialekt', () => parseRobots('', { dialekt: 'google' } as never)],
  ['dialect', () => parseRobots('', { dialect: 'koster-1996' } as never)],
  ['dialect', () => parseRobots('', { dialect: core.dialects.rfc9309 } as never)],
  ['origin', () => parseRobots('', { origin: 'example.com' })],
  ['origin', () => parseRobots('', { origin: 1 } as never)],
  ['productTokens', () => parseRobots('').check('/', undefined as never)],
  ['url', () => parseRobots('').check(undefined as never, 'a')],
] as const)('names %s in an OptionError', (option, call) => {
  let thrown: unknown
  try {
    call()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ code: 'ERR_POLITELY_OPTION', option })
  expect(isPolitelyError(thrown)).toBe(true)
})
