// The answer to an invalid URL: docs/reference/errors.md.
import { invalidUrlCases, notUrls, type UrlCase, urlCaseName, urlCases } from '@politely/testkit/cases/url-cases'
import { describe, expect, it, test } from 'vitest'
import { describeVerdict, explainUrlProblem, originOf, parseRobots } from '../src/index.ts'
import { dialectNames } from './all-matchers.ts'

const FILE = 'User-agent: *\nDisallow: /private\n'
const named = (cases: readonly UrlCase[]) => cases.map((one) => ({ ...one, name: urlCaseName(one) }))

describe.each(dialectNames.filter((name) => name !== 'google'))('dialect %s', (dialect) => {
  describe.each([undefined, 'https://example.com'])('the file has the origin %s', (origin) => {
    const robots = parseRobots(FILE, origin === undefined ? { dialect } : { dialect, origin })
    const empty = parseRobots('', origin === undefined ? { dialect } : { dialect, origin })

    test.each(named(urlCases))('$name', ({ url, problem, isPath, hasInvalidHost }) => {
      for (const rules of [robots.forCrawler('a'), empty.forCrawler('a')]) {
        const verdict = rules.check(url)
        expect(rules.explain(url).verdict).toEqual(verdict)
        expect(rules.isAllowed(url)).toBe(verdict.allowed)
        if (problem === 'none' || isPath || (hasInvalidHost && origin === undefined)) {
          expect(verdict.because).not.toBe('invalid-url')
        } else {
          expect(verdict).toEqual({ allowed: false, because: 'invalid-url', url, problem })
          expect(describeVerdict(verdict)).toBe(`disallowed: ${explainUrlProblem(problem, url)}`)
        }
      }
    })
  })
})

test.each(named(invalidUrlCases))(
  'dialect google matches any string that is not too long: $name',
  ({ url, problem }) => {
    const verdict = parseRobots(FILE, { dialect: 'google' }).check(url, 'a')
    if (problem === 'too-long') expect(verdict).toMatchObject({ because: 'invalid-url', problem })
    else expect(verdict).toMatchObject({ allowed: true, because: 'no-rule-matched' })
  },
)

test.each(named(urlCases))('originOf is undefined for an invalid URL only: $name', ({ url, problem }) => {
  if (problem !== 'too-long') expect(originOf(url) !== undefined).toBe(problem === 'none')
})

it.each(notUrls)('%s is a mistake of the caller', (_, value) => {
  const rules = parseRobots(FILE).forCrawler('a')
  const calls = [() => rules.isAllowed(value as string), () => rules.check(value as string)]
  for (const call of [...calls, () => rules.explain(value as string), () => originOf(value as string)])
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'url' }))
})
