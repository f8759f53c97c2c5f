import { checkNaively } from '@politely/testkit/naive-reader'
import { randomPath, randomRobots, seededRandom, utf8TextOf } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'
import { parseUrl } from '../src/url/origin.ts'

const FILES = sampled(4_000)
const QUESTIONS = 8

it('agrees with the slow and obvious reader on files made by dice', () => {
  const seen = { allowed: 0, disallowed: 0, byRule: 0 }
  for (let seed = 1; seed <= FILES; seed++) {
    const random = seededRandom(seed)
    const file = randomRobots(random)
    const robots = parseRobots(Buffer.from(file, 'latin1'))
    for (let i = 0; i < QUESTIONS; i++) {
      const url = `https://example.com${utf8TextOf(randomPath(random, file))}`
      const address = parseUrl(url)
      if (typeof address === 'string') throw new Error(`not a URL: ${url}`)
      for (const token of ['ExampleBot', 'a1', 'Nobody']) {
        const verdict = robots.check(url, token)
        const ours = { allowed: verdict.allowed, line: verdict.because === 'rule' ? verdict.rule.line : 0 }
        const naive = checkNaively(file, token, address.path)
        expect(ours, `seed ${seed}: ${token} asks ${JSON.stringify(url)} of ${JSON.stringify(file)}`).toEqual(naive)
        seen[ours.allowed ? 'allowed' : 'disallowed']++
        if (ours.line > 0) seen.byRule++
      }
    }
  }
  // A guard against dice that ask nothing worth an answer.
  const asked = FILES * QUESTIONS * 3
  expect(seen.disallowed).toBeGreaterThan(asked / 20)
  expect(seen.byRule).toBeGreaterThan(asked / 10)
})
