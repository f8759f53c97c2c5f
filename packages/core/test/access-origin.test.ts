// Which robots.txt speaks about a URL. RFC 9309 §2.3.
import { expect, test } from 'vitest'
import { addressOf, explainUrlProblem, originOf } from '../src/url/origin.ts'

test.each([
  ['RFC 9309 §2.3, scheme and host', 'https://a.test/page', 'https://a.test', '/page'],
  ['RFC 9309 §2.3, another scheme is another origin', 'http://a.test/page', 'http://a.test', '/page'],
  ['RFC 9309 §2.3, ftp', 'ftp://a.test/page', 'ftp://a.test', '/page'],
  ['RFC 9309 §2.3, another port is another origin', 'https://a.test:8443/page', 'https://a.test:8443', '/page'],
  ['Google, the default port of https', 'https://a.test:443/page', 'https://a.test', '/page'],
  ['Google, the default port of http', 'http://a.test:80/page', 'http://a.test', '/page'],
  ['Google, the default port of ftp', 'ftp://a.test:21/page', 'ftp://a.test', '/page'],
  ['Google, the port of the other scheme', 'http://a.test:443/page', 'http://a.test:443', '/page'],
  ['RFC 3986 §3.2.2, hosts in any case', 'HTTPS://A.Test/Page', 'https://a.test', '/Page'],
  ['Google, a name is its A-label', 'https://bücher.test/', 'https://xn--bcher-kva.test', '/'],
  ['Google, an A-label is itself', 'https://xn--bcher-kva.test/', 'https://xn--bcher-kva.test', '/'],
  ['UTS 46, in capitals', 'https://BÜCHER.test/', 'https://xn--bcher-kva.test', '/'],
  ['UTS 46, other dots', 'https://bücher。test/', 'https://xn--bcher-kva.test', '/'],
  ['WHATWG URL, a percent-encoded host', 'https://b%C3%BCcher.test/', 'https://xn--bcher-kva.test', '/'],
  ['our choice, a dot at the end is another name', 'https://a.test./', 'https://a.test.', '/'],
  ['Google, an IPv4 address', 'http://127.0.0.1/', 'http://127.0.0.1', '/'],
  ['WHATWG URL, an IPv4 address in disguise', 'http://0x7f.1/', 'http://127.0.0.1', '/'],
  ['WHATWG URL, an IPv6 address in its shortest form', 'http://[0:0:0:0:0:0:0:1]:8080/', 'http://[::1]:8080', '/'],
  ['our choice, userinfo is not kept', 'https://me:secret@a.test/page', 'https://a.test', '/page'],
  ['RFC 9309 §2.2.2, path and query without the fragment', 'https://a.test/a/../b?q#f', 'https://a.test', '/b?q'],
  ['RFC 9309 §2.2.2, an empty query stays', 'https://a.test/b?', 'https://a.test', '/b?'],
  ['RFC 9309 §2.2.2, no path is /', 'https://a.test', 'https://a.test', '/'],
  ['RFC 9309 §2.2.2, no path and a query', 'https://a.test?q', 'https://a.test', '/?q'],
  ['WHATWG URL, blanks around', '  https://a.test/page\n', 'https://a.test', '/page'],
  ['WHATWG URL, backslashes', 'https:\\\\a.test\\page', 'https://a.test', '/page'],
  ['WHATWG URL, one slash', 'https:/a.test/page', 'https://a.test', '/page'],
])('%s', (_, url, origin, path) => {
  expect(addressOf(url)).toEqual({ origin, robotsUrl: `${origin}/robots.txt`, path })
  expect(originOf(url)).toBe(origin)
})

test('our choice, anything with an href', () => {
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
  ['a.test:8080/page', 'scheme'], // a host and port without a scheme read as a scheme
] as const)('our choice, no URL that a robots.txt could speak about: %j is %s', (url, problem) => {
  expect(addressOf(url)).toBe(problem)
  expect(originOf(url)).toBeUndefined()
  expect(explainUrlProblem(problem)).toMatch(/^.{20,}$/)
})
