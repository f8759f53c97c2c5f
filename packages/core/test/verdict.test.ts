import { describe, expect, it } from 'vitest'
import {
  describeReason,
  describeVerdict,
  explainDialects,
  explainUrlProblem,
  isProductToken,
  lintRobots,
  OptionError,
  originOf,
  parseRobots,
  productTokenOf,
  restoreRules,
} from '../src/index.ts'
import { describeState, escapeControls } from '../src/internal.ts'
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
  it('shares its group with other verdicts, because the group of a hostile file may take 700 KiB', () => {
    const rules = robots.forCrawler('ExampleBot')
    const [one, other] = [rules.check('/caf%C3%A9/'), rules.check('/other')]
    if (!('group' in one && 'group' in other)) throw new Error('a verdict has no group')
    expect(one.group).toBe(other.group)
    expect(Object.isFrozen(one.group) && Object.isFrozen(one.group.agents)).toBe(true)
  })

  it('comes with records that no caller can change for the others', () => {
    const paced = parseRobots('User-agent: *\nRequest-rate: 1/10 0100-0200\nVisit-time: 0100-0200\n').forCrawler(
      'ExampleBot',
    )
    const { requestRates, visitTimes } = paced
    for (const shared of [requestRates, requestRates[0], requestRates[0]?.between, visitTimes, visitTimes[0]])
      expect(Object.isFrozen(shared)).toBe(true)
  })

  it('names the rule as written, its line, its bytes, and its group', () => {
    expect(robots.check('/caf%C3%A9/menu', 'ExampleBot')).toEqual({
      allowed: true,
      because: 'rule',
      rule: { directive: 'allow', text: '/caf\u00e9/menu', line: 5, bytes: 15 },
      group: { agents: ['ExampleBot', 'OtherBot'], line: 2 },
    })
  })

  it('names the group of its rule when groups of one crawler are merged, RFC 9309 §2.2.1', () => {
    const text =
      'User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: a\nDisallow: /2\nUser-agent: a\nDisallow: /3\n'
    const rules = parseRobots(text).forCrawler('a')
    const groups = [
      { agents: ['a', 'b'], line: 1 },
      { agents: ['a'], line: 4 },
      { agents: ['a'], line: 6 },
    ]
    expect(['/1', '/2', '/3'].map((path) => rules.check(path))).toMatchObject(groups.map((group) => ({ group })))
    expect(rules.check('/4')).toEqual({ allowed: true, because: 'no-rule-matched', group: groups[0] })
    expect(rules.explain('/2').groups).toEqual(groups)
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
  const sitemapsOf = (...values: string[]) =>
    parseRobots(values.map((value) => `Sitemap: ${value}\n`).join(''), { origin: 'https://example.com' }).sitemaps

  it.each([
    [['https://a.test/1 https://a.test/2'], ['https://a.test/1', 'https://a.test/2']],
    [
      ['https://a.test/1,  https://a.test/2; /3.xml'],
      ['https://a.test/1', 'https://a.test/2', 'https://example.com/3.xml'],
    ],
    [['https://a.test/my map.xml'], ['https://a.test/my map.xml']],
    [
      ['https://a.test/1', 'https://a.test/2', 'https://a.test/1'],
      ['https://a.test/1', 'https://a.test/2'],
    ],
    [['/map.xml', 'https://example.com/map.xml'], ['https://example.com/map.xml']],
    [['//cdn.test/map.xml'], ['https://cdn.test/map.xml']],
    [
      ['map.xml', 'maps/main.xml?a=1'],
      ['https://example.com/map.xml', 'https://example.com/maps/main.xml?a=1'],
    ],
    [['none', 'example.com/map.xml', 'mailto:a@b.test', ''], []],
  ])('sitemaps: %j', (lines, expected) => {
    expect(sitemapsOf(...lines)).toEqual(expected)
  })

  it('lists absolute sitemaps of any host, in order; without an origin, relative ones are left out', () => {
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

it.each([
  '',
  'Disallow:/robots.txt',
  'Disallow /robots.txt',
  '# robots.txt',
  'https://example.com/sitemap.xml',
  'https://example.com/robots.txt\n',
  'User-agent: *\nDisallow: /robots.txt',
])('a text that may be a file is parsed: %j', (text) => {
  expect(parseRobots(text).isAllowed('/', 'a')).toBe(true)
  expect(parseRobots(new TextEncoder().encode('https://example.com/robots.txt')).isAllowed('/', 'a')).toBe(true)
})

describe('a mistake of the caller is an OptionError that names the argument and says what to write', () => {
  const rules = robots.forCrawler('ExampleBot')
  const google = parseRobots('', { dialect: 'google' }).forCrawler('ExampleBot')
  /** Calls a function without checks of types, as JavaScript does. */
  const call = (f: unknown, ...args: unknown[]) => (f as (...args: unknown[]) => unknown)(...args)
  const method = (target: object, name: string, ...args: unknown[]) =>
    call(Reflect.get(target, name).bind(target), ...args)
  const bound = (name: keyof typeof rules, ...args: unknown[]) => method(rules, name, ...args)
  const ofFile = (name: keyof typeof robots, ...args: unknown[]) => method(robots, name, ...args)

  it.each<[call: string, run: () => unknown, message: string]>([
    ['parseRobots()', () => call(parseRobots), 'source: is missing; expected its text, such as "User-agent: *"'],
    ['parseRobots(null)', () => call(parseRobots, null), 'source: null is not a robots.txt file'],
    [
      'parseRobots(an ArrayBuffer)',
      () => call(parseRobots, new ArrayBuffer(3)),
      'source: an object of type ArrayBuffer is',
    ],
    [
      'parseRobots(a promise)',
      () => call(parseRobots, Promise.resolve('')),
      'source: an object of type Promise is not',
    ],
    ...[
      'https://me:secret@example.com/robots.txt',
      'http://example.com',
      'ftp://example.com/',
      'file:///tmp/robots.txt',
    ].map((url): [string, () => unknown, string] => [
      `parseRobots(${url})`,
      () => parseRobots(url),
      `source: "${url.replace('me:secret@', '')}" is a URL, not the text of a robots.txt; write new RobotsClient({ userAgent }).check(url) of @politely/fetcher, or pass the text of the response`,
    ]),
    ...['./robots.txt', 'robots.txt', '/tmp/a/robots.txt', 'C:\\sites\\a.txt'].map(
      (name): [string, () => unknown, string] => [
        `parseRobots(${name})`,
        () => parseRobots(name),
        `source: ${JSON.stringify(name)} is the name of a file, not the text of a robots.txt; pass what the file contains: readFileSync(name)`,
      ],
    ),
    [
      'lintRobots(url)',
      () => lintRobots('https://example.com/robots.txt'),
      'source: "https://example.com/robots.txt" is a URL',
    ],
    [
      'explainDialects(url)',
      () => explainDialects('https://example.com/robots.txt', '/a', 'a'),
      'source: "https://example.com/robots.txt" is a URL',
    ],
    ['parseRobots({ bytes: [47] })', () => call(parseRobots, { bytes: [47] }), 'source: an object is not a robots.txt'],
    ['options that are a name', () => call(parseRobots, '', 'google'), 'such as { dialect: "google" }'],
    ['options that are null', () => call(parseRobots, '', null), 'options: null is not an object'],
    [
      'a misspelt option',
      () => call(parseRobots, '', { dialct: 'google' }),
      'dialct: is an unknown option; did you mean `dialect`?',
    ],
    [
      'an unknown option',
      () => call(parseRobots, '', { userAgent: 'a' }),
      'unknown option; expected one of dialect, origin',
    ],
    [
      'a name and a URL in the order of another library',
      () => parseRobots('').isAllowed('ExampleBot', 'https://example.com/page'),
      'url: "ExampleBot" is the name of a crawler; write the URL first, then the name',
    ],
    [
      'a User-Agent header and a URL',
      () => parseRobots('').explain('ExampleBot/1.0 (+https://example.com)', 'https://example.com/page'),
      'is the name of a crawler; write the URL first',
    ],
    [
      'an unknown dialect',
      () => call(parseRobots, '', { dialect: 'bing' }),
      'dialect: "bing" is not known; write one of rfc9309',
    ],
    [
      'an origin that is a path',
      () => call(parseRobots, '', { origin: '/path' }),
      'origin: "/path" is not an origin; write',
    ],
    [
      'an origin without robots.txt',
      () => call(parseRobots, '', { origin: 'mailto:a@example.com' }),
      'write one such as https',
    ],
    [
      'an origin that is a number',
      () => call(parseRobots, '', { origin: 42 }),
      'origin: 42 is not an origin; write one such',
    ],
    [
      'isAllowed(undefined, name)',
      () => ofFile('isAllowed', undefined, 'ExampleBot'),
      'url: is missing; expected a string',
    ],
    [
      'isAllowed(42)',
      () => bound('isAllowed', 42),
      'url: 42 is not a URL; expected a string or a URL object, such as "https://example.com/page"',
    ],
    [
      'check(null)',
      () => bound('check', null),
      'url: null is not a URL; expected a string or a URL object, such as "https://example.com/page"',
    ],
    ['explain({})', () => bound('explain', {}), 'url: an object is not a URL; expected a string or a URL object'],
    ['check(42) in the dialect google', () => call(google.check.bind(google), 42), 'url: 42 is not a URL'],
    ['originOf()', () => call(originOf), 'url: is missing; expected a string'],
    ['isAllowed(url)', () => ofFile('isAllowed', '/x'), 'productTokens: is missing; expected the name of a crawler'],
    [
      'forCrawler()',
      () => ofFile('forCrawler'),
      'productTokens: is missing; expected the name of a crawler in robots.txt',
    ],
    [
      'forCrawler([])',
      () => ofFile('forCrawler', []),
      'productTokens: is an empty list; expected the name of a crawler',
    ],
    ['forCrawler(["a", 7])', () => ofFile('forCrawler', ['a', 7]), 'productTokens: 7 is not a product token; expected'],
    ['forCrawler({})', () => ofFile('forCrawler', {}), 'productTokens: an object is not a product token; expected'],
    [
      'forCrawler(name, "file")',
      () => ofFile('forCrawler', 'a', 'file'),
      'options: "file" is not an object; expected one',
    ],
    [
      'forCrawler(name, { keeps })',
      () => ofFile('forCrawler', 'a', { keeps: 'file' }),
      'keeps: is an unknown option; did you mean `keep`?',
    ],
    [
      'forCrawler(name, { keep })',
      () => ofFile('forCrawler', 'a', { keep: true }),
      'keep: true is not known; expected one of',
    ],
    ['lintRobots()', () => call(lintRobots), 'source: is missing; expected its text'],
    ['lintRobots(42)', () => call(lintRobots, 42), 'source: 42 is not a robots.txt file'],
    ['explainDialects()', () => call(explainDialects), 'source: is missing; expected its text'],
    [
      'explainDialects(file, undefined, name)',
      () => call(explainDialects, '', undefined, 'a'),
      'url: is missing; expected a string',
    ],
    ['explainDialects(file, url)', () => call(explainDialects, '', '/x'), 'productTokens: is missing'],
    [
      'explainDialects with a dialect',
      () => call(explainDialects, '', '/x', 'a', { dialect: 'google' }),
      'dialect: is an unknown option',
    ],
    [
      'describeVerdict()',
      () => call(describeVerdict),
      'verdict: undefined is not a verdict; expected what `check` returns',
    ],
    [
      'describeVerdict(a promise)',
      () => call(describeVerdict, Promise.resolve()),
      'verdict: an object of type Promise is not',
    ],
    ['describeReason(true)', () => call(describeReason, true), 'verdict: true is not a verdict'],
    ['describeState(null)', () => call(describeState, null), 'entry: null is not an entry'],
    [
      'describeState(undefined)',
      () => call(describeState, undefined),
      'now: undefined is not a time; expected milliseconds',
    ],
    [
      'describeState without policy',
      () => call(describeState, undefined, 0),
      'policy: undefined is not an access policy',
    ],
    [
      'explainUrlProblem()',
      () => call(explainUrlProblem),
      'problem: undefined is not known; expected one of empty, relative',
    ],
    ['productTokenOf()', () => call(productTokenOf), 'userAgent: is missing; expected a User-Agent header'],
    [
      'productTokenOf(42)',
      () => call(productTokenOf, 42),
      'userAgent: 42 is not a string; expected a User-Agent header',
    ],
  ])('%s', (_call, run, message) => {
    expect(run).toThrow(OptionError)
    expect(run).toThrow(message)
    expect(run).toThrow(
      expect.objectContaining({
        code: 'ERR_POLITELY_OPTION',
        option: message.match(/^\w+(?=: )/)?.[0] ?? expect.any(String),
      }),
    )
  })

  it('values that only look wrong are accepted', () => {
    expect(isProductToken(undefined as never)).toBe(false)
    expect(restoreRules(undefined)).toBeUndefined()
    expect(escapeControls(undefined as never)).toBe('undefined')
    const { dialect, origin } = parseRobots('', { dialect: undefined, origin: new URL('https://example.com/x') })
    expect([dialect.name, origin]).toEqual(['rfc9309', 'https://example.com'])
    expect(
      robots.forCrawler('ExampleBot/1.0 (+https://example.com/bot)', { keep: undefined }).isAllowed('/caf\u00e9/'),
    ).toBe(false)
  })
})

describe('a URL without a scheme', () => {
  it.each([
    ['example.com/page', 'https://example.com/page'],
    ['localhost:8080/x', 'https://localhost:8080/x'],
    ['localhost/x', 'https://localhost/x'],
    ['127.0.0.1:8080', 'https://127.0.0.1:8080'],
    ['//example.com/page', 'https://example.com/page'],
    ['page?q', 'https://example.com/page?q'],
    ['?q', 'https://example.com/?q'],
    ['example.com:8080/\u202e', 'https://example.com:8080/\\u{202e}'],
    [`example.com/${'a'.repeat(100)}`, 'https://example.com/page'],
  ])('%s: the verdict says what to write', (url, whole) => {
    const verdict = robots.check(url, 'ExampleBot')
    expect(verdict).toEqual({ allowed: false, because: 'invalid-url', url, problem: 'relative' })
    expect(describeVerdict(verdict)).toBe(`disallowed: the URL has no scheme; write it whole, such as ${whole}`)
    expect(robots.isAllowed(url, 'ExampleBot')).toBe(false)
  })
})

describe('the text of a file', () => {
  const latin1 = 'User-agent: caf\xc3\xa9\xff'
  it.each<[string, Uint8Array | string | { bytes: string }, string]>([
    ['text', '\ufeff# caf\u00e9\r\n', '\ufeff# caf\u00e9\r\n'],
    ['bytes', Uint8Array.from(latin1, (c) => c.charCodeAt(0)), 'User-agent: caf\u00e9\ufffd'],
    ['bytes in a string', { bytes: latin1 }, 'User-agent: caf\u00e9\ufffd'],
    ['ASCII in a string', { bytes: '# a' }, '# a'],
  ])('is decoded from UTF-8: %s', (_source, file, text) => {
    expect(parseRobots(file).text).toBe(text)
  })
})
