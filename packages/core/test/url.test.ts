import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainUrlProblem, isProductToken, originOf, productTokenOf } from '../src/index.ts'
import { parseUrl } from '../src/internal.ts'

describe('origin of a URL, RFC 9309 §2.3', () => {
  it.each([
    ['https://example.com/page', 'https://example.com'],
    ['HTTPS://EXAMPLE.com:443/', 'https://example.com'],
    ['http://example.com:80', 'http://example.com'],
    ['http://example.com:8080/a', 'http://example.com:8080'],
    ['ftp://ftp.example.com:21/a', 'ftp://ftp.example.com'],
    ['https://www.ex\u00e4mple.com/', 'https://www.xn--exmple-cua.com'],
    ['https://b\u00fccher\u3002example/', 'https://xn--bcher-kva.example'],
    ['https://user:secret@example.com/', 'https://example.com'],
    ['http://[2001:DB8::1]:80/', 'http://[2001:db8::1]'],
    ['http://0x7f.1/', 'http://127.0.0.1'],
    ['  https://example.com/\n', 'https://example.com'],
    ['https:example.com/a', 'https://example.com'],
    ['mailto:a@example.com', undefined],
    ['/path', undefined],
    ['', undefined],
  ])('%j -> %s', (url, origin) => {
    expect(originOf(url)).toBe(origin)
  })

  it('is the same as that of the URL parser, also if it is found without it', () => {
    const LABELS = 'a b7 xn-- xn--a XN--a axn--b -a a- a--b 0x7f 1 256 08 A \u00e9 %61 _ a_b'.split(' ')
    const label = fc.constantFrom(...LABELS, 'a'.repeat(64), 'a'.repeat(300))
    const url = fc
      .record({
        scheme: fc.constantFrom('https://', 'https://', 'http://', 'HTTPS://', 'ftp://', 'https:/'),
        labels: fc.array(label, { maxLength: 3 }),
        last: fc.oneof(fc.constantFrom('com', 'example', 'a', 'c0m', '.', '', 'abcdef'), label),
        end: fc.constantFrom(
          '',
          '/',
          '/robots.txt',
          '/ a\t\u00e9\\',
          ':443',
          ':80/',
          '?',
          '#',
          '\\',
          '\t/',
          '\n',
          '@b.com/',
        ),
      })
      .map(({ scheme, labels, last, end }) => scheme + [...labels, last].join('.') + end)
    let same = 0
    fc.assert(
      fc.property(url, (text) => {
        const parsedUrl = parseUrl(text)
        const origin = typeof parsedUrl === 'string' ? undefined : parsedUrl.origin
        expect(originOf(text)).toBe(origin)
        if (origin !== undefined && text.startsWith(origin)) same++
      }),
      { numRuns: sampled(10_000) },
    )
    expect(same).toBeGreaterThan(sampled(500))
  })

  it('parseUrl returns the URL of robots.txt, and the path as a client sends it', () => {
    expect(parseUrl('https://u:p@example.com:8443/a/../b?c#d')).toEqual({
      origin: 'https://example.com:8443',
      robotsUrl: 'https://example.com:8443/robots.txt',
      path: '/b?c',
    })
  })

  it.each([
    ['', 'empty'],
    [' \n', 'empty'],
    ['/a', 'relative'],
    ['//example.com/a', 'relative'],
    ['example.com', 'relative'],
    ['http://', 'malformed'],
    ['http://a b/', 'malformed'],
    ['https://example.com:99999/', 'malformed'],
    ['mailto:a@example.com', 'scheme'],
    ['javascript:void(0)', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
  ] as const)('%j is invalid: %s', (url, problem) => {
    expect(parseUrl(url)).toBe(problem)
    expect(explainUrlProblem(problem)).toMatch(/^[a-z].*[^.]$/)
  })

  it.each(['//user:secret@example.com/a', '\u3000//user:secret@example.com/a', '/\t/user:secret@example.com/a'])(
    'the explanation of %j contains no credentials',
    (url) => {
      expect(explainUrlProblem('relative', url)).toBe(explainUrlProblem('relative'))
    },
  )
})

describe('product token of a User-Agent header, RFC 9309 §2.2.1', () => {
  it.each([
    ['ExampleBot', 'ExampleBot'],
    ['ExampleBot/1.0 (+https://example.com/bot)', 'ExampleBot'],
    ['  ExampleBot/1.0', 'ExampleBot'],
    ['Example-Bot_News/2', 'Example-Bot_News'],
    ['MJ12bot/v1.4.8 (http://mj12bot.example/)', 'MJ12bot'],
    ['Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)', 'ExampleBot'],
    ['Mozilla/5.0 (compatible;ExampleBot/1.0)', 'ExampleBot'],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Examplebot/2.1; +http://example.com) Chrome/1',
      'Examplebot',
    ],
    ['Mozilla/5.0 (compatible; 008/0.83; http://example.com/)', '008'],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', undefined],
    ['Mozilla/5.0', undefined],
    ['(+https://example.com)', undefined],
    ['example.org_bot', undefined],
    ['B\u00f6t/1.0', undefined],
    ['', undefined],
  ])('%j -> %s', (header, token) => {
    expect(productTokenOf(header)).toBe(token)
  })

  it.each([
    ['ExampleBot', true],
    ['a-b_c9', true],
    ['', false],
    ['*', false],
    ['a b', false],
    ['a/1', false],
    ['a\n', false],
  ])('isProductToken(%j) is %s', (text, expected) => {
    expect(isProductToken(text)).toBe(expected)
  })
})
