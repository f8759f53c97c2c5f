import { type ConformanceCase, conformanceDirOrNote, judgeConformance, vectorsIn } from '@politely/testkit/conformance'
import { printAfterRun } from '@politely/testkit/parts'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DialectName, parseRobots, type RulesVerdict } from '../src/index.ts'
import { originOf } from '../src/url/origin.ts'
import { checkOften, countIndexedChecks, restored, ruleLineOf, throughJson } from './all-matchers.ts'

const dir = conformanceDirOrNote()

describe.skipIf(dir === undefined)("google/robotstxt's verdicts on real and generated files", () => {
  it.each<DialectName>(['rfc9309', 'google'])(
    '%s: agrees in every binding case',
    { timeout: 300_000 },
    async (dialect) => {
      const otherWays = isFullRun ? new OtherWays(dialect) : undefined
      const agreement = await judgeConformance(dir as string, dialect, (conformanceCase) => {
        const agent = nameOf(conformanceCase.agent)
        const verdict = parseRobots(conformanceCase.robots, { dialect }).check(conformanceCase.url, agent)
        otherWays?.compare({ ...conformanceCase, agent }, verdict)
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

/** Core rejects an empty name, which google/robotstxt reads as one that no group has. */
function nameOf(agent: string): string {
  return agent || '*'
}

/** Checks each case again with bound, indexed and restored rules, and collects the verdicts that differ. */
class OtherWays {
  readonly different: string[] = []
  compared = 0
  readonly #dialect: DialectName
  readonly #indexed = countIndexedChecks()
  /** The bound rules of the last file. The cases of one file are adjacent. */
  #file: { readonly robots: Uint8Array; readonly bound: Map<string, Record<string, CrawlerRules>> } | undefined

  constructor(dialect: DialectName) {
    this.#dialect = dialect
  }

  /** How many checks have used an index so far. */
  get indexed(): number {
    return this.#indexed()
  }

  compare({ id, robots, agent, url }: ConformanceCase, expected: RulesVerdict): void {
    const expectedText = `${expected.allowed} ${ruleLineOf(expected)}`
    const origin = originOf(url)
    const options = { dialect: this.#dialect }
    const ofOrigin = parseRobots(robots, origin === undefined ? options : { ...options, origin }).forCrawler(agent)
    for (const [way, rules] of Object.entries({ ...this.#rulesOf(robots, agent), ofOrigin })) {
      const verdict = rules.check(url)
      const actual = `${verdict.allowed} ${ruleLineOf(verdict)}`
      if (actual !== expectedText) this.different.push(`${id}, ${way}: ${actual}, expected ${expectedText}`)
      if (rules.isAllowed(url) !== expected.allowed) this.different.push(`${id}, ${way}: isAllowed`)
    }
    const isAllowed = parseRobots(robots, options).isAllowed(url, agent)
    if (isAllowed !== expected.allowed) this.different.push(`${id}: isAllowed`)
    this.compared++
  }

  #rulesOf(robots: Uint8Array, agent: string): Record<string, CrawlerRules> {
    if (this.#file?.robots !== robots) this.#file = { robots, bound: new Map() }
    const cached = this.#file.bound.get(agent)
    if (cached !== undefined) return cached
    const bound = parseRobots(robots, { dialect: this.#dialect }).forCrawler(agent)
    const unfiltered = restored(bound.toJSON())
    const json = checkOften(restored(throughJson(bound)))
    const rules = { unfiltered, json, indexed: checkOften(bound) }
    this.#file.bound.set(agent, rules)
    return rules
  }
}

describe.skipIf(dir === undefined)("cases from other libraries' test suites", () => {
  it('get the verdict of google/robotstxt in dialect google', { timeout: 300_000 }, async () => {
    const vectors = await vectorsIn(dir as string)
    const wrong = (dialect: DialectName) =>
      vectors.filter(({ robots, url, agents, google }) => {
        return parseRobots(robots, { dialect }).isAllowed(url, agents.map(nameOf)) !== google
      })
    const agreed = vectors.filter(({ agree }) => agree)
    expect(agreed.length).toBeGreaterThan(3_000)
    expect(wrong('google').map(({ id }) => id)).toEqual([])
  })
})
