import { type ConformanceCase, conformanceDirOrNote, judgeConformance, vectorsIn } from '@politely/testkit/conformance'
import { noteForTheEnd } from '@politely/testkit/parts'
import { isFullRun } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type CrawlerRules, type DialectName, parseRobots, type RulesVerdict } from '../src/index.ts'
import { originOf } from '../src/url/origin.ts'
import { checkOften, countIndexedChecks, restored, ruleLineOf, throughJson } from './all-matchers.ts'

const dir = conformanceDirOrNote()

describe.skipIf(dir === undefined)("google/robotstxt's verdicts on real and generated files", () => {
  it.each<DialectName>(['rfc9309', 'google'])(
    '%s: every case that binds agrees',
    { timeout: 300_000 },
    async (dialect) => {
      const otherWays = isFullRun ? new OtherWays(dialect) : undefined
      const agreement = await judgeConformance(dir as string, dialect, (asked) => {
        const verdict = parseRobots(asked.robots, { dialect }).check(asked.url, asked.agent)
        otherWays?.compare(asked, verdict)
        return { allowed: verdict.allowed, line: ruleLineOf(verdict) }
      })
      noteForTheEnd(`conformance, ${dialect}: ${agreement.report.trim().replaceAll('\n', '; ')}`)
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

/** Asks each case again through bound, indexed and restored rules, and collects the verdicts that differ. */
class OtherWays {
  readonly different: string[] = []
  compared = 0
  readonly #dialect: DialectName
  readonly #indexed = countIndexedChecks()
  /** The rules bound for the last file. Cases of one file follow one another. */
  #file: { readonly robots: Uint8Array; readonly bound: Map<string, Record<string, CrawlerRules>> } | undefined

  constructor(dialect: DialectName) {
    this.#dialect = dialect
  }

  /** Questions answered through an index so far. */
  get indexed(): number {
    return this.#indexed()
  }

  compare({ id, robots, agent, url }: ConformanceCase, expected: RulesVerdict): void {
    const wanted = `${expected.allowed} ${ruleLineOf(expected)}`
    const origin = originOf(url)
    const options = { dialect: this.#dialect }
    const ofOrigin = parseRobots(robots, origin === undefined ? options : { ...options, origin }).forCrawler(agent)
    for (const [way, rules] of Object.entries({ ...this.#rulesOf(robots, agent), ofOrigin })) {
      const verdict = rules.check(url)
      const got = `${verdict.allowed} ${ruleLineOf(verdict)}`
      if (got !== wanted) this.different.push(`${id}, ${way}: ${got}, expected ${wanted}`)
      if (rules.isAllowed(url) !== expected.allowed) this.different.push(`${id}, ${way}: isAllowed`)
    }
    const isAllowed = parseRobots(robots, options).isAllowed(url, agent)
    if (isAllowed !== expected.allowed) this.different.push(`${id}: isAllowed`)
    this.compared++
  }

  #rulesOf(robots: Uint8Array, agent: string): Record<string, CrawlerRules> {
    if (this.#file?.robots !== robots) this.#file = { robots, bound: new Map() }
    const known = this.#file.bound.get(agent)
    if (known !== undefined) return known
    const bound = parseRobots(robots, { dialect: this.#dialect }).forCrawler(agent)
    const walked = restored(bound.toJSON())
    const json = checkOften(restored(throughJson(bound)))
    const rules = { walked, json, indexed: checkOften(bound) }
    this.#file.bound.set(agent, rules)
    return rules
  }
}

describe.skipIf(dir === undefined)("questions of other libraries' test suites", () => {
  it('are answered in dialect google as google/robotstxt answers them', { timeout: 300_000 }, async () => {
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
