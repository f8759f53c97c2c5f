import { rulesCases, verdictText } from '@politely/testkit/cases/rules-cases'
import { describe, expect, it } from 'vitest'
import { parseRobots } from '../src/index.ts'

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))

describe.each(['rfc9309', 'google'] as const)('rules, dialect %s', (dialect) => {
  it.each(rulesCases)('$name', (row) => {
    const robots = parseRobots(bytes(row.robots), { dialect })
    const expected = dialect === 'google' ? (row.google ?? row.rfc9309) : row.rfc9309
    expect(verdictText(robots.check(row.url, row.agent))).toBe(expected)
    expect(robots.isAllowed(row.url, row.agent)).toBe(expected.startsWith('allowed'))
  })
})

it("is not disturbed by a check that the iterator of the caller's token list makes", () => {
  const tokens = Object.assign(['ExampleBot'], {
    *[Symbol.iterator]() {
      parseRobots('User-agent: *\nAllow: /').isAllowed('/public', 'OtherBot')
      yield 'ExampleBot'
    },
  })
  const robots = () => parseRobots('User-agent: *\nDisallow: /secret')
  expect(robots().isAllowed('/secret', tokens)).toBe(false)
  expect(robots().check('/secret', tokens).allowed).toBe(false)
})
