// Which robots.txt applies to a URL. RFC 9309 §2.3.

import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { originOf, parseUrl } from '../src/url/origin.ts'
import { explainUrlProblem } from '../src/url/url-problem.ts'

test.each([
  ['RFC 9309 §2.3, scheme and host', 'https://a.test/page', 'https://a.test', '/page'],
  ['RFC 9309 §2.3, another scheme is another origin', 'http://a.test/page', 'http://a.test', '/page'],
  ['RFC 9309 §2.3, ftp', 'ftp://a.test/page', 'ftp://a.test', '/page'],
  ['RFC 9309 §2.3, another port is another origin', 'https://a.test:8443/page', 'https://a.test:8443', '/page'],
  ['Google, the default port of https', 'https://a.test:443/page', 'https://a.test', '/page'],
  ['Google, the default port of http', 'http://a.test:80/page', 'http://a.test', '/page'],
  ['Google, the default port of ftp', 'ftp://a.test:21/page', 'ftp://a.test', '/page'],
  ['Google, the default port of the other scheme is kept', 'http://a.test:443/page', 'http://a.test:443', '/page'],
  ['RFC 3986 §3.2.2, the host in lower case', 'HTTPS://A.Test/Page', 'https://a.test', '/Page'],
  ['Google, an internationalised host as its A-label', 'https://bücher.test/', 'https://xn--bcher-kva.test', '/'],
  ['Google, an A-label unchanged', 'https://xn--bcher-kva.test/', 'https://xn--bcher-kva.test', '/'],
  ['UTS 46, an internationalised host in upper case', 'https://BÜCHER.test/', 'https://xn--bcher-kva.test', '/'],
  ['UTS 46, an ideographic full stop', 'https://bücher。test/', 'https://xn--bcher-kva.test', '/'],
  ['WHATWG URL, a percent-encoded host', 'https://b%C3%BCcher.test/', 'https://xn--bcher-kva.test', '/'],
  ['our choice, a final dot is part of the host', 'https://a.test./', 'https://a.test.', '/'],
  ['Google, an IPv4 address', 'http://127.0.0.1/', 'http://127.0.0.1', '/'],
  ['WHATWG URL, an IPv4 address in hex', 'http://0x7f.1/', 'http://127.0.0.1', '/'],
  ['WHATWG URL, an IPv6 address in its shortest form', 'http://[0:0:0:0:0:0:0:1]:8080/', 'http://[::1]:8080', '/'],
  ['our choice, userinfo is removed', 'https://me:secret@a.test/page', 'https://a.test', '/page'],
  ['RFC 9309 §2.2.2, path and query without the fragment', 'https://a.test/a/../b?q#f', 'https://a.test', '/b?q'],
  ['RFC 9309 §2.2.2, an empty query is kept', 'https://a.test/b?', 'https://a.test', '/b?'],
  ['RFC 9309 §2.2.2, an empty path is /', 'https://a.test', 'https://a.test', '/'],
  ['RFC 9309 §2.2.2, an empty path with a query', 'https://a.test?q', 'https://a.test', '/?q'],
  ['WHATWG URL, white space around the URL', '  https://a.test/page\n', 'https://a.test', '/page'],
  ['WHATWG URL, backslashes', 'https:\\\\a.test\\page', 'https://a.test', '/page'],
  ['WHATWG URL, one slash after the scheme', 'https:/a.test/page', 'https://a.test', '/page'],
])('%s', (_, url, origin, path) => {
  expect(parseUrl(url)).toEqual({ origin, robotsUrl: `${origin}/robots.txt`, path })
  expect(originOf(url)).toBe(origin)
})

test('our choice, originOf accepts any object with an href', () => {
  expect(originOf(new URL('https://a.test/page'))).toBe('https://a.test')
})

test.each([
  ['', 'empty'],
  [' \n', 'empty'],
  ['/page', 'relative'],
  ['page', 'relative'],
  ['?q', 'relative'],
  ['//a.test/page', 'relative'],
  ['a.test/page', 'relative'],
  ['http://', 'malformed'],
  ['https://a b/', 'malformed'],
  ['https://a.test:99999/', 'malformed'],
  ['https://[::1/', 'malformed'],
  ['//', 'malformed'],
  ['mailto:a@a.test', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['data:text/plain,x', 'scheme'],
  ['file:///robots.txt', 'scheme'],
  ['ws://a.test/', 'scheme'],
  ['a.test:8080/page', 'relative'], // the URL parser reads this host as a scheme
  ['localhost:8080/page', 'relative'],
  ['localhost:8080', 'relative'],
  ['localhost:8080?q', 'relative'],
  ['localhost:8080#f', 'relative'],
  [' my-host:80/\n', 'relative'],
  ['127.0.0.1:8080/page', 'relative'],
  ['localhost:page', 'scheme'],
  ['localhost:8080a/page', 'scheme'],
  ['tel:112', 'scheme'],
  ['tel:+15550100', 'scheme'],
  ['urn:123456', 'scheme'],
] as const)('our choice, no robots.txt applies to %j: %s', (url, problem) => {
  expect(parseUrl(url)).toBe(problem)
  expect(originOf(url)).toBeUndefined()
  expect(explainUrlProblem(problem)).toMatch(/^.{20,}$/)
})

/** The origin by `parseUrl`, which parses the whole URL. `originOf` must return the same. */
function originByParsing(url: string): string | undefined {
  const parsed = parseUrl(url)
  return typeof parsed === 'string' ? undefined : parsed.origin
}

describe('originOf, which needs no URL parser for most URLs', () => {
  test.each([
    'https://example.com/page',
    'http://example.com/',
    'http://a.test:8080/page?q#f',
    'https://a.test:1/',
    'https://a.test:65535/',
    'http://a.test:443/',
    'https://www-1.example-2.co.uk/%zz\n\\..//',
    'https://localhost/',
    'https://1.2.3.example/',
    'https://a..test/',
  ])('%s', (url) => {
    expect(originOf(url)).toBe(url.slice(0, url.indexOf('/', 8)))
    expect(originOf(url)).toBe(originByParsing(url))
  })

  test.each([
    ['no scheme', 'example.com/page'],
    ['another scheme', 'ftp://example.com/'],
    ['a scheme in capitals', 'HTTPS://example.com/'],
    ['a blank before it', ' https://example.com/'],
    ['one slash', 'https:/example.com/'],
    ['a backslash', 'https://example.com\\page'],
    ['no host', 'https:///page'],
    ['no path', 'https://example.com'],
    ['a query without a path', 'https://example.com?q'],
    ['a fragment without a path', 'https://example.com#f'],
    ['upper case', 'https://Example.com/'],
    ['userinfo', 'https://me@example.com/'],
    ['userinfo with a password', 'https://me:1@example.com/'],
    ['userinfo that looks like a host', 'https://example.com:80@b.test/'],
    ['the default port', 'https://example.com:443/'],
    ['the default port of http', 'http://example.com:80/'],
    ['a port with zeros', 'http://example.com:08080/'],
    ['port 0', 'http://example.com:0/'],
    ['an empty port', 'http://example.com:/'],
    ['a port too high', 'http://example.com:65536/'],
    ['a port of letters', 'http://example.com:8o80/'],
    ['IPv4', 'http://127.0.0.1/'],
    ['IPv4 in hex', 'http://0x7f000001/'],
    ['IPv4 in fewer parts', 'http://127.1/'],
    ['IPv4 with a dot at the end', 'http://127.0.0.1./'],
    ['a host that ends in a number', 'http://a.1/'],
    ['a host that ends in a hexadecimal number', 'http://a.0xf/'],
    ['IPv6', 'http://[::1]/'],
    ['an A-label', 'https://xn--bcher-kva.test/'],
    ['an IDN', 'https://b\u00fccher.test/'],
    ['a percent-encoded host', 'https://%65xample.com/'],
    ['a tab in the host', 'https://exam\tple.com/'],
    ['an underscore', 'https://a_b.test/'],
    ['a dot at the end', 'https://example.com./'],
    ['an empty string', ''],
  ])('agrees with the parser: %s', (_, url) => {
    expect(originOf(url)).toBe(originByParsing(url))
  })

  test('agrees with the parser for random hosts', () => {
    const pieces = [
      'a',
      'b-c',
      'test',
      'example',
      '1',
      '0x7f',
      '127',
      '.',
      '.',
      '.',
      '-',
      '--',
      'xn--',
      ':',
      ':80',
      ':443',
    ]
    const odd = [
      ':8080',
      ':0',
      ':65536',
      '@',
      '/',
      '//',
      '?',
      '#',
      '\\',
      '%61',
      'A',
      '\u00fc',
      ' ',
      '\t',
      '_',
      '[::1]',
      '..',
      '',
    ]
    let unchanged = 0
    let normalised = 0
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const roll = seededRandom(seed)
        const host = Array.from({ length: 1 + Math.floor(roll() * 6) }, () => pick(roll, roll() < 0.85 ? pieces : odd))
        const url = `${pick(roll, ['http://', 'https://'])}${host.join('')}${pick(roll, ['/', '/a/../b', '/x?y#z', '/\n'])}`
        const origin = originByParsing(url)
        expect(originOf(url), url).toBe(origin)
        if (url.startsWith(`${origin}/`)) unchanged++
        else normalised++
      }),
      { numRuns: sampled(20_000) },
    )
    expect(unchanged).toBeGreaterThan(sampled(1_000))
    expect(normalised).toBeGreaterThan(sampled(3_000))
  })

  test('agrees with the parser for hosts of any length', () => {
    for (const label of [63, 64, 254, 5_000]) {
      const url = `https://${'a'.repeat(label)}.test/`
      expect(originOf(url)).toBe(originByParsing(url))
    }
  })
})
