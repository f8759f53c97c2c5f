import {
  type ConformanceCase,
  type ConformanceVerdict,
  conformanceDirOrNote,
  judgeConformance,
  vectorsIn,
} from '@politely/testkit/cases/conformance'
import { printAfterRun } from '@politely/testkit/parts'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DialectName, parseRobots, type Robots, type RulesVerdict } from '../src/index.ts'
import { originOf } from '../src/url/origin.ts'
import { checkOften, countIndexedChecks, restored, ruleLineOf, throughJson } from './all-matchers.ts'

const dir = conformanceDirOrNote()

describe.skipIf(dir === undefined)("google/robotstxt's verdicts on real and generated files", () => {
  it('are those of each dialect, in every case that binds it', { timeout: 300_000 }, async () => {
    const runs = { rfc9309: new ConformanceRun('rfc9309'), google: new ConformanceRun('google') }
    const agreements = await judgeConformance(dir as string, runs)
    for (const dialect of ['rfc9309', 'google'] as const) {
      const { report, complete, cases } = agreements[dialect]
      printAfterRun(`conformance, ${dialect}: ${report.trim().replaceAll('\n', '; ')}`)
      expect(cases).toBeGreaterThan(10_000)
      expect(report).toContain('100.0000 %')
      expect(complete, report).toBe(true)
      const { otherWays } = runs[dialect]
      if (otherWays === undefined) continue
      expect(otherWays.different.slice(0, 20)).toEqual([])
      expect(otherWays.compared).toBe(cases)
      expect(otherWays.indexed).toBeGreaterThan(1_000)
    }
  })
})

/** Checks the cases in one dialect. */
class ConformanceRun {
  readonly otherWays: OtherWays | undefined
  readonly #dialect: DialectName
  #last: ParsedFile | undefined // the cases of one file are adjacent

  constructor(dialect: DialectName) {
    this.#dialect = dialect
    this.otherWays = isFullRun ? new OtherWays(dialect) : undefined
  }

  check(conformanceCase: ConformanceCase): ConformanceVerdict {
    const { robots, url, agent } = conformanceCase
    if (this.#last?.robots !== robots) {
      this.#last = { robots, file: parseRobots(robots, { dialect: this.#dialect }), bound: new Map() }
    }
    const verdict = this.#last.file.check(url, agent)
    this.otherWays?.compare(conformanceCase, this.#last, verdict)
    return { allowed: verdict.allowed, line: ruleLineOf(verdict) }
  }
}

interface ParsedFile {
  readonly robots: Uint8Array
  readonly file: Robots
  /** What `OtherWays` has bound, by origin and crawler. */
  readonly bound: Map<string, Record<string, CrawlerRules>>
}

/**
 * Checks each case again with bound, indexed and restored rules, and collects the verdicts that
 * differ.
 */
class OtherWays {
  readonly different: string[] = []
  compared = 0
  /** How many checks of `compare` have used an index. */
  indexed = 0
  readonly #countIndexed = countIndexedChecks()
  readonly #dialect: DialectName

  constructor(dialect: DialectName) {
    this.#dialect = dialect
  }

  compare({ id, agent, url }: ConformanceCase, parsed: ParsedFile, expected: RulesVerdict): void {
    const indexedBefore = this.#countIndexed()
    const expectedText = `${expected.allowed} ${ruleLineOf(expected)}`
    for (const [way, rules] of Object.entries(this.#rulesOf(parsed, agent, originOf(url)))) {
      const verdict = rules.check(url)
      const actual = `${verdict.allowed} ${ruleLineOf(verdict)}`
      if (actual !== expectedText) this.different.push(`${id}, ${way}: ${actual}, expected ${expectedText}`)
      if (rules.isAllowed(url) !== expected.allowed) this.different.push(`${id}, ${way}: isAllowed`)
    }
    if (parsed.file.isAllowed(url, agent) !== expected.allowed) this.different.push(`${id}: isAllowed`)
    this.indexed += this.#countIndexed() - indexedBefore
    this.compared++
  }

  #rulesOf({ robots, bound: cache }: ParsedFile, agent: string, origin = ''): Record<string, CrawlerRules> {
    const key = `${origin} ${agent}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const dialect = this.#dialect
    const bound = parseRobots(robots, { dialect }).forCrawler(agent)
    const fresh = restored(bound.toJSON())
    const json = checkOften(restored(throughJson(bound)))
    const ofOrigin = parseRobots(robots, origin === '' ? { dialect } : { dialect, origin }).forCrawler(agent)
    const rules = { fresh, json, indexed: checkOften(bound), ofOrigin }
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
