import { parseRobots } from '@politely/core'
import { invalidUrlCases, urlCaseName } from '@politely/testkit/cases/url-cases'
import { pick, randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import original from 'robots-parser'
import { describe, expect, it } from 'vitest'
import robotsParser, { type RobotsParser } from '../src/index.ts'
import { PerCrawler } from '../src/per-crawler.ts'

const theirParser = original as unknown as RobotsParser
const ROBOTS_URL = 'https://example.com/robots.txt'
const page = 'https://example.com/page'

it('rejects a call without arguments, and says what to write', () => {
  const noArguments = robotsParser as unknown as () => unknown
  expect(noArguments).toThrow('url: is missing; write robotsParser("https://example.com/robots.txt", contents)')
})

describe('isAllowed is undefined for an invalid URL, as in robots-parser', () => {
  const cases = invalidUrlCases.filter(({ problem }) => problem !== 'too-long')
  it.each(cases.map((one) => ({ ...one, name: urlCaseName(one) })))('$name', ({ url, problem }) => {
    const robots = robotsParser(ROBOTS_URL, 'User-agent: *\nDisallow: /')
    expect([robots.isAllowed(url), robots.isDisallowed(url)]).toEqual([undefined, true])
    // Release 3.0.1 throws an error for an invalid host, such as `http://[::1/page`.
    if (problem === 'malformed') return
    expect(theirParser(ROBOTS_URL, 'User-agent: *\nDisallow: /').isAllowed(url)).toBeUndefined()
  })
})

describe('a file applies to the URLs of its origin (RFC 9309 §2.3)', () => {
  it.each([
    [ROBOTS_URL, page, true],
    [ROBOTS_URL, 'https://EXAMPLE.com:443/page', true],
    [ROBOTS_URL, 'https://user:secret@example.com/page#part', true],
    [ROBOTS_URL, ' https:\\\\example.com/page', true],
    [ROBOTS_URL, 'https://example.com', true],
    [ROBOTS_URL, 'https://example.com?page', true],
    [ROBOTS_URL, 'https://example.com.evil.example/page', false],
    [ROBOTS_URL, 'https://example.com:8443/page', false],
    [ROBOTS_URL, 'http://example.com/page', false],
    [ROBOTS_URL, '/page', false],
    [ROBOTS_URL, '', false],
    [ROBOTS_URL, 'mailto:a@example.com', false],
    ['https://EXAMPLE.com:443/any/file?at=all', page, true],
    ['/robots.txt', '/page', true],
    ['/robots.txt', 'page', true],
    ['/robots.txt', page, false],
    ['/robots.txt', '//example.com/page', false],
    ['mailto:a@example.com', page, false],
    ['', '/page', true],
  ])('the file %j applies to %j: %s', (robotsUrl, url, applies) => {
    for (const parser of [theirParser, robotsParser]) {
      expect(parser(robotsUrl, '').isAllowed(url)).toBe(applies ? true : undefined)
      expect(parser(robotsUrl, '').isDisallowed(url)).toBe(!applies)
    }
    expect(robotsParser(robotsUrl, '').isExplicitlyDisallowed(url, 'a')).toBe(applies ? false : undefined)
    expect(robotsParser(robotsUrl, 'User-agent: *\nDisallow: /').getMatchingLineNumber(url)).toBe(applies ? 2 : -1)
  })

  it('accepts URL objects', () => {
    const robots = robotsParser(new URL(ROBOTS_URL) as never, 'User-agent: *\nDisallow: /page')
    expect(robots.isAllowed(new URL(page) as never)).toBe(false)
  })
})

describe('isExplicitlyDisallowed', () => {
  it.each([
    ['User-agent: *\nDisallow: /', 'a', false],
    ['User-agent: a\nDisallow: /', 'a', true],
    ['User-agent: a\nDisallow: /', 'A/1.0 (+https://example.com)', true],
    ['User-agent: *\nUser-agent: a\nDisallow: /', 'a', true],
    ['User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /', 'a', false],
    ['User-agent: *\nDisallow: /', '*', true],
    // The file ends inside a list of user-agent lines.
    ['User-agent: a\nDisallow: /\nUser-agent: a', 'a', true],
    ['User-agent: *\nDisallow: /\nUser-agent: *', 'a', false],
  ])('%j, %s: %s', (robots, ua, expected) => {
    expect(robotsParser(ROBOTS_URL, robots).isExplicitlyDisallowed(page, ua)).toBe(expected)
  })
})

describe('sitemaps and preferred host', () => {
  it('returns a new array of sitemaps for each call', () => {
    const robots = robotsParser(ROBOTS_URL, 'Sitemap: https://example.com/s')
    robots.getSitemaps().pop()
    expect(robots.getSitemaps()).toEqual(['https://example.com/s'])
  })

  it('returns the last of several hosts, in lower case', () => {
    for (const parser of [theirParser, robotsParser]) {
      expect(parser(ROBOTS_URL, 'Host: a.example\nHost: WWW.Example.com\nHost:').getPreferredHost()).toBe(
        'www.example.com',
      )
      expect(parser(ROBOTS_URL, 'Host:').getPreferredHost()).toBe(null)
    }
  })

  it.each([
    ['Sitemap: /s\nSitemap:\nSitemap: \u00a0https://example.com/s # new', ['/s', 'https://example.com/s']],
    ['Sitemap https://example.com/s', []],
  ])('returns the sitemaps of %j', (robots, expected) => {
    expect(robotsParser(ROBOTS_URL, robots).getSitemaps()).toEqual(expected)
    expect(theirParser(ROBOTS_URL, robots).getSitemaps()).toEqual(expected)
  })
})

it('throws for contents that are not a string; undefined and null mean an empty file', () => {
  expect(() => robotsParser(ROBOTS_URL, {} as never)).toThrow(TypeError)
  for (const nothing of ['', undefined, null])
    expect(robotsParser(ROBOTS_URL, nothing as never).isAllowed(page)).toBe(true)
})

it('takes contents that are a URL for a file, as robots-parser does', () => {
  expect(robotsParser(ROBOTS_URL, ROBOTS_URL).isAllowed(page)).toBe(true)
})

it('returns the results of core for many crawlers in random order', () => {
  const random = seededRandom(9309)
  const different: string[] = []
  for (let i = 0; i < 300; i++) {
    const text = randomRobots(random)
    const robots = robotsParser(ROBOTS_URL, text)
    const core = parseRobots(text, { origin: ROBOTS_URL })
    for (let j = 0; j < 40; j++) {
      const ua = pick(random, ['a', 'b', 'ExampleBot', 'Other/1.0', '*', `bot${String.fromCharCode(97 + (j % 26))}`])
      const url = `https://example.com${randomPath(random, text)}`
      const verdict = core.check(url, ua)
      if (verdict.because === 'invalid-url' || verdict.because === 'other-origin') continue
      const expected = `${verdict.allowed} ${verdict.because === 'rule' ? verdict.rule.line : -1}`
      const actual = `${robots.isAllowed(url, ua)} ${robots.getMatchingLineNumber(url, ua)}`
      if (actual !== expected) different.push(`${ua} checks ${url}: ${actual}, expected ${expected} in\n${text}`)
    }
  }
  expect(different).toEqual([])
})

it('caches the rules of at most 32 crawlers', () => {
  let made = 0
  const cache = new PerCrawler((ua) => ({ ua, n: ++made }))
  for (let i = 0; i < 1000; i++) expect(cache.of(`a${i}`).ua).toBe(`a${i}`)
  expect(cache.size).toBe(32)
  expect(cache.of('a999')).toEqual({ ua: 'a999', n: 1000 })
  expect(cache.of('a0')).toEqual({ ua: 'a0', n: 1001 })
})
