import { checkNaively } from '@politely/testkit/naive-reader'
import { randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'
import { parseUrl } from '../src/url/origin.ts'

const FILES = sampled(4_000)
const PATHS_PER_FILE = 8

it('agrees with the naive implementation on random files', () => {
  const counts = { allowed: 0, disallowed: 0, byRule: 0 }
  for (let seed = 1; seed <= FILES; seed++) {
    const random = seededRandom(seed)
    const file = randomRobots(random)
    const robots = parseRobots(Buffer.from(file, 'latin1'))
    for (let i = 0; i < PATHS_PER_FILE; i++) {
      const url = `https://example.com${utf8TextOf(randomPath(random, file))}`
      const parsedUrl = parseUrl(url)
      if (typeof parsedUrl === 'string') throw new Error(`not a URL: ${url}`)
      for (const token of ['ExampleBot', 'a1', 'Nobody']) {
        const verdict = robots.check(url, token)
        const ours = { allowed: verdict.allowed, line: verdict.because === 'rule' ? verdict.rule.line : 0 }
        const naive = checkNaively(file, token, parsedUrl.path)
        expect(ours, `seed ${seed}: ${token} checks ${JSON.stringify(url)} in ${JSON.stringify(file)}`).toEqual(naive)
        counts[ours.allowed ? 'allowed' : 'disallowed']++
        if (ours.line > 0) counts.byRule++
      }
    }
  }
  // Enough cases are neither trivial nor all alike.
  const checks = FILES * PATHS_PER_FILE * 3
  expect(counts.disallowed).toBeGreaterThan(checks / 20)
  expect(counts.byRule).toBeGreaterThan(checks / 10)
})
