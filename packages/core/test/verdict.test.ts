import { describe, expect, it } from 'vitest'
import { type Describable, describeVerdict, OptionError, parseRobots } from '../src/index.ts'
import { dialectNames } from './all-matchers.ts'

const robots = parseRobots(
  [
    '# a comment',
    'User-agent: ExampleBot',
    'User-agent: OtherBot # and this one',
    'Disallow: /caf\u00e9/',
    'Allow: /caf\u00e9/menu',
    'Crawl-delay: 1.5',
    '',
    'User-agent: *',
    'Disallow: /',
    'Sitemap: https://example.com/sitemap.xml',
    'Sitemap: /not-absolute.xml',
    'Sitemap: https://cdn.example.net/more.xml',
  ].join('\n'),
)

describe('a verdict', () => {
  it('names the rule as written, its line, its bytes, and its group', () => {
    expect(robots.check('/caf%C3%A9/menu', 'ExampleBot')).toEqual({
      allowed: true,
      because: 'rule',
      rule: { directive: 'allow', text: '/caf\u00e9/menu', line: 5, bytes: 15 },
      group: { agents: ['ExampleBot', 'OtherBot'], line: 2 },
    })
  })

  it('names the group if no rule of it matches', () => {
    expect(robots.check('/other', 'ExampleBot')).toEqual({
      allowed: true,
      because: 'no-rule-matched',
      group: { agents: ['ExampleBot', 'OtherBot'], line: 2 },
    })
  })

  it('survives JSON', () => {
    for (const url of ['/caf%C3%A9/', '/other', 'mailto:a@example.com', '/robots.txt']) {
      const verdict = robots.check(url, 'ExampleBot')
      expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict)
    }
  })

  it('accepts a URL object', () => {
    expect(robots.isAllowed(new URL('https://example.com/x'), 'Nobody')).toBe(false)
  })
})

describe('with the origin of the file, RFC 9309 §2.3', () => {
  const ours = parseRobots('User-agent: *\nDisallow: /a', { origin: 'HTTPS://B\u00dccher.example:443/x' })

  it.each([
    ['https://xn--bcher-kva.example/a', 'rule'],
    ['https://b\u00fccher.example/a', 'rule'],
    ['/a', 'rule'],
    ['http://xn--bcher-kva.example/a', 'other-origin'],
    ['https://xn--bcher-kva.example:8443/a', 'other-origin'],
    ['https://www.xn--bcher-kva.example/a', 'other-origin'],
    ['https://a b/a', 'invalid-url'],
  ])('%s gets the verdict %s', (url, because) => {
    const verdict = ours.check(url, 'ExampleBot')
    expect([verdict.because, verdict.allowed]).toEqual([because, false])
  })

  it.each(dialectNames)('URLs of another origin are disallowed in the dialect %s', (dialect) => {
    const robots = parseRobots('User-agent: *\nDisallow: /b', { origin: 'https://a.example', dialect })
    const urls = ['https://a.example/x', 'HTTPS://A.example/x', 'http://a.example/x', 'https://a.example:8443/x']
    const isOther = urls.map((url) => robots.check(url, 'a').because === 'other-origin')
    expect(isOther).toEqual([false, false, true, true])
    expect(urls.map((url) => robots.forCrawler('a').isAllowed(url))).toEqual([true, true, false, false])
  })

  it('names both origins', () => {
    expect(ours.check('http://example.com/', 'ExampleBot')).toEqual({
      allowed: false,
      because: 'other-origin',
      origin: 'http://example.com',
      fileOrigin: 'https://xn--bcher-kva.example',
    })
  })
})

describe('extensions, RFC 9309 §2.2.4', () => {
  it('lists absolute sitemaps of any host, in order', () => {
    expect(robots.sitemaps).toEqual(['https://example.com/sitemap.xml', 'https://cdn.example.net/more.xml'])
  })

  it.each([
    ['of the crawler’s own group', 'User-agent: a\nCrawl-delay: 2\nDisallow: /x', 2000],
    ['also after the rules', 'User-agent: a\nDisallow: /x\nCrawl-delay: 2', 2000],
    ['of * for a crawler without a group', 'User-agent: *\nCrawl-delay: .5', 500],
    [
      'not that of * for a crawler with a group',
      'User-agent: *\nCrawl-delay: 5\n\nUser-agent: a\nDisallow: /x',
      undefined,
    ],
    ['not one above the crawler’s name', 'User-agent: b\nCrawl-delay: 5\nUser-agent: a\nDisallow: /x', undefined],
    ['the longest of several', 'User-agent: a\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2', 3000],
    ['not one with a unit', 'User-agent: a\nCrawl-delay: 10s', undefined],
    ['not a negative one', 'User-agent: a\nCrawl-delay: -1', undefined],
    ['not one before the first name', 'Crawl-delay: 1\nUser-agent: a\nDisallow: /x', undefined],
  ])('crawl-delay: %s', (_name, file, expected) => {
    expect(parseRobots(file).forCrawler('a').crawlDelayMs).toBe(expected)
  })
})

describe('memoryBytes', () => {
  const own = 'User-agent: ExampleBot\nDisallow: /a\n'
  const others = `User-agent: *\n${'Allow: /some/path*$\n'.repeat(1_000)}`
  const rulesFor = (agent: string, keep?: 'file') =>
    parseRobots(own + others).forCrawler(agent, keep === undefined ? {} : { keep })

  it('depends on the rules for the crawler, not on the file', () => {
    const alone = parseRobots(own).forCrawler('ExampleBot').memoryBytes
    expect(rulesFor('ExampleBot').memoryBytes).toBe(alone)
    expect(alone).toBeLessThan(1_000)
  })

  it('is at least the length of the packed rules, and does not shrink after checks', () => {
    for (const agent of ['ExampleBot', 'OtherBot']) {
      const rules = rulesFor(agent)
      const { length } = rules.toJSON().packed
      const before = rules.memoryBytes
      expect(before).toBeGreaterThan(length)
      for (let i = 0; i < 20; i++) rules.check('/x')
      expect(rules.memoryBytes).toBeGreaterThanOrEqual(before)
    }
    expect(rulesFor('OtherBot').toJSON().packed.length).toBeGreaterThan(11_000)
  })

  it('includes the index that many checks build', () => {
    const rules = rulesFor('OtherBot')
    for (let i = 0; i < 20; i++) rules.check('/x')
    // The table of the index has a filter of 16 bytes for each of the 1,000 rules.
    expect(rules.memoryBytes).toBeGreaterThan(rules.toJSON().packed.length + 4_000)
  })

  it('includes the file, if it is kept', () => {
    const more = rulesFor('ExampleBot', 'file').memoryBytes - rulesFor('ExampleBot').memoryBytes
    expect(more).toBeGreaterThanOrEqual(own.length + others.length)
  })
})

describe('mistakes of the caller', () => {
  it.each([[new ArrayBuffer(3)], [Promise.resolve('')], [undefined], [null], [{ bytes: [47] }]])(
    'a source that is neither text nor bytes: %s',
    (source) => {
      expect(() => parseRobots(source as never)).toThrow(expect.objectContaining({ option: 'source' }))
    },
  )

  it('a check without product tokens', () => {
    expect(() => robots.isAllowed('/x', undefined as never)).toThrow(
      expect.objectContaining({ option: 'productTokens' }),
    )
  })

  it.each([
    [{ dialect: 'bing' }, 'dialect', 'write one of rfc9309, google'],
    [{ origin: '/path' }, 'origin', 'write one such as https://example.com'],
    [{ origin: 'mailto:a@example.com' }, 'origin', 'write one such as'],
  ])('%o is rejected, with a hint what to write instead', (options, option, hint) => {
    const make = () => parseRobots('', options as never)
    expect(make).toThrow(OptionError)
    expect(make).toThrow(hint)
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }))
  })
})

describe('a verdict as a sentence', () => {
  it.each([
    [
      '/caf\u00e9/x',
      'ExampleBot',
      'disallowed: line 4 of robots.txt says "Disallow: /caf\u00e9/" to ExampleBot, OtherBot',
    ],
    ['/other', 'ExampleBot', 'allowed: no rule of the group for ExampleBot, OtherBot (line 2) matches'],
    ['/robots.txt', 'Nobody', 'allowed: /robots.txt may always be fetched'],
    ['x', 'Nobody', 'disallowed: the URL has no scheme and host; write it whole, such as https://example.com/page'],
  ])('%s', (url, agent, sentence) => {
    expect(describeVerdict(robots.check(url, agent))).toBe(sentence)
  })

  it('distinguishes a missing robots.txt from an unreachable one, and gives the cause', () => {
    const access = {
      outcome: 'unreachable',
      reason: 'status',
      status: 503,
      detail: undefined,
      url: 'https://example.com/robots.txt',
      hops: [],
      checkedAt: 0,
      nextAttemptAt: 30_000,
      copy: undefined,
    } as const
    expect(describeVerdict({ allowed: false, because: 'unreachable', access })).toBe(
      'disallowed: robots.txt is unreachable (status 503)',
    )
    expect(describeVerdict({ allowed: true, because: 'unavailable', access: { ...access, status: 404 } })).toBe(
      'allowed: the site has no robots.txt (status 404)',
    )
    expect(
      describeVerdict({ allowed: true, because: 'unavailable', access: { ...access, reason: 'redirect-loop' } }),
    ).toBe('allowed: the site has no robots.txt (its redirects form a loop)')
    const copy = { freshness: 'stale', ageMs: 1, truncated: true } as const
    expect(describeVerdict({ allowed: true, because: 'no-group', access: { ...access, copy } })).toBe(
      'allowed: robots.txt has no group for this crawler; according to the last good copy, because robots.txt is unreachable (status 503); robots.txt is larger than the size limit, so its end was not read',
    )
  })

  it.each<[Describable, string]>([
    [
      { allowed: false, because: 'other-origin', origin: 'http://a.example', fileOrigin: 'https://a.example' },
      'disallowed: this robots.txt belongs to https://a.example, and the URL to http://a.example',
    ],
    [{ allowed: false, because: 'restricted' }, 'disallowed: the server refuses access to robots.txt'],
    [
      { allowed: true, because: 'unreachable-too-long' },
      'allowed: robots.txt has been unreachable for so long that it counts as unavailable',
    ],
  ])('%j', (verdict, sentence) => {
    expect(describeVerdict(verdict)).toBe(sentence)
  })

  it('escapes control characters of the site', () => {
    const hostile = parseRobots('User-agent: *\nDisallow: /\x1b[31m\u202e\n')
    expect(describeVerdict(hostile.check('/%1B[31m%E2%80%AE', 'ExampleBot'))).toBe(
      'disallowed: line 2 of robots.txt says "Disallow: /\\u{1b}[31m\\u{202e}" to *',
    )
  })
})
