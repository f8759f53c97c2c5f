import { conformanceDir, judgeConformance, vectorsIn } from '@politely/testkit'
import { describe, expect, it } from 'vitest'
import { type DialectName, parseRobots } from '../src/index.ts'

const dir = conformanceDir()

describe.skipIf(dir === undefined)("google/robotstxt's verdicts on real and generated files", () => {
  it.each<DialectName>(['rfc9309', 'google'])(
    '%s: every case that binds agrees',
    { timeout: 300_000 },
    async (dialect) => {
      const agreement = await judgeConformance(dir as string, dialect, ({ robots, agent, url }) => {
        const verdict = parseRobots(robots, { dialect }).check(url, agent)
        return { allowed: verdict.allowed, line: verdict.because === 'rule' ? verdict.rule.line : 0 }
      })
      console.log(`conformance, dialect ${dialect}, ${agreement.cases} cases:\n${agreement.report}`)
      expect(agreement.cases).toBeGreaterThan(10_000)
      expect(agreement.report).toContain('100.0000 %')
      expect(agreement.complete, agreement.report).toBe(true)
    },
  )
})

describe.skipIf(dir === undefined)("questions of other libraries' test suites", () => {
  it('are answered in dialect google as google/robotstxt answers them', { timeout: 300_000 }, async () => {
    const vectors = await vectorsIn(dir as string)
    const wrong = (dialect: DialectName) =>
      vectors.filter(({ robots, url, agents, google }) => {
        return parseRobots(robots, { dialect }).isAllowed(url, agents) !== google
      })
    const agreed = vectors.filter(({ agree }) => agree)
    console.log(
      `vectors: ${vectors.length}, in ${agreed.length} of which the suite agrees with google/robotstxt; ` +
        `dialect google differs from it in ${wrong('google').length} of all, rfc9309 in ${wrong('rfc9309').length}`,
    )
    expect(agreed.length).toBeGreaterThan(3_000)
    expect(wrong('google').map(({ id }) => id)).toEqual([])
  })
})

it.runIf(dir === undefined)('says that the conformance cases were not run', () => {
  console.log('The conformance cases were NOT run: set POLITELY_CONFORMANCE_DIR to the folder that holds them.')
  expect(process.env.POLITELY_CONFORMANCE_DIR ?? '').toBe('')
})
