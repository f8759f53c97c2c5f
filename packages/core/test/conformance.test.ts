import { type ConformanceCase, conformanceDirOrNote, judgeConformance, vectorsIn } from '@politely/testkit/conformance'
import { printAfterRun } from '@politely/testkit/parts'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DialectName, parseRobots, type Robots, type RulesVerdict } from '../src/index.ts'
import { originOf } from '../src/url/origin.ts'
import { checkOften, countIndexedChecks, restored, ruleLineOf, throughJson } from './all-matchers.ts'

const dir = conformanceDirOrNote()

describe.skipIf(dir === undefined)("google/robotstxt's verdicts on real and generated files", () => {
  it.each<DialectName>(['rfc9309', 'google'])(
    '%s: agrees in every binding case',
    { timeout: 300_000 },
    async (dialect) => {
      const otherWays = isFullRun ? new OtherWays(dialect) : undefined
      let last: ParsedFile | undefined // the cases of one file are adjacent
      const agreement = await judgeConformance(dir as string, dialect, (conformanceCase) => {
        const { robots, url, agent } = conformanceCase
        if (last?.robots !== robots) last = { robots, file: parseRobots(robots, { dialect }), bound: new Map() }
        const verdict = last.file.check(url, agent)
        otherWays?.compare(conformanceCase, last, verdict)
        return { allowed: verdict.allowed, line: ruleLineOf(verdict) }
      })
      printAfterRun(`conformance, ${dialect}: ${agreement.report.trim().replaceAll('\n', '; ')}`)
      expect(agreement.cases).toBeGreaterThan(10_000)
      expect(agreement.report).toContain('100.0000 %')
      expect(agreement.complete, agreement.report).toBe(true)
      if (otherWays === undefined) return
      expect(otherWays.different.slice(0, 20)).toEqual([])
      expect(otherWays.compared).toBe(agreement.cases)
      expect(otherWays.indexed).toBeGreaterThan(1_000)
    },
  )
})

interface ParsedFile {
  readonly robots: Uint8Array
  readonly file: Robots
  /** What `OtherWays` has bound, by origin and crawler. */
  readonly bound: Map<string, Record<string, CrawlerRules>>
}

/** Checks each case again with bound, indexed and restored rules, and collects the verdicts that differ. */
class OtherWays {
  readonly different: string[] = []
  compared = 0
  readonly #dialect: DialectName
  readonly #indexed = countIndexedChecks()

  constructor(dialect: DialectName) {
    this.#dialect = dialect
  }

  /** How many checks have used an index so far. */
  get indexed(): number {
    return this.#indexed()
  }

  compare({ id, agent, url }: ConformanceCase, parsed: ParsedFile, expected: RulesVerdict): void {
    const expectedText = `${expected.allowed} ${ruleLineOf(expected)}`
    for (const [way, rules] of Object.entries(this.#rulesOf(parsed, agent, originOf(url)))) {
      const verdict = rules.check(url)
      const actual = `${verdict.allowed} ${ruleLineOf(verdict)}`
      if (actual !== expectedText) this.different.push(`${id}, ${way}: ${actual}, expected ${expectedText}`)
      if (rules.isAllowed(url) !== expected.allowed) this.different.push(`${id}, ${way}: isAllowed`)
    }
    if (parsed.file.isAllowed(url, agent) !== expected.allowed) this.different.push(`${id}: isAllowed`)
    this.compared++
  }

  #rulesOf({ robots, bound: cache }: ParsedFile, agent: string, origin = ''): Record<string, CrawlerRules> {
    const key = `${origin} ${agent}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const dialect = this.#dialect
    const bound = parseRobots(robots, { dialect }).forCrawler(agent)
    const unfiltered = restored(bound.toJSON())
    const json = checkOften(restored(throughJson(bound)))
    const ofOrigin = parseRobots(robots, origin === '' ? { dialect } : { dialect, origin }).forCrawler(agent)
    const rules = { unfiltered, json, indexed: checkOften(bound), ofOrigin }
    cache.set(key, rules)
    return rules
  }
}

describe.skipIf(dir === undefined)("cases from other libraries' test suites", () => {
  it('get the verdict of google/robotstxt in dialect google', { timeout: 300_000 }, async () => {
    const vectors = await vectorsIn(dir as string)
    const wrong = (dialect: DialectName) =>
      vectors.filter(({ robots, url, agents, google }) => {
        return parseRobots(robots, { dialect }).isAllowed(url, agents) !== google
      })
    const agreed = vectors.filter(({ agree }) => agree)
    expect(agreed.length).toBeGreaterThan(3_000)
    expect(wrong('google').map(({ id }) => id)).toEqual([])
  })
})
