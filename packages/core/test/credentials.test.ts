// Messages contain no credentials of a URL (`user:password@`). Our choice.
import { inspect } from 'node:util'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { expect, test } from 'vitest'
import { describeValue } from '../src/engine.ts'
import { describeVerdict, explainUrlProblem, parseRobots } from '../src/index.ts'
import { textWithoutCredentials, withoutCredentials } from '../src/internal.ts'

test.for([
  ['https://me:secret@a.test/x', 'https://a.test/x'],
  ['http:me@a.test/', 'http:a.test/'],
  ['FTP://me:p@ss@a.test', 'FTP://a.test'],
  ['https:\\\\me:secret@a.test/', 'https:\\\\a.test/'],
  ['https:\t//me:secret@a.test/x', 'https://a.test/x'],
  ['\0ht\ntps://me:secret@a.test/x', 'https://a.test/x'],
  ['//me:secret@a.test/x', '//a.test/x'],
  ['///me:secret@a.test/x', '///a.test/x'],
  ['wss://me:secret@a.test/x', 'wss://a.test/x'],
  ['ws:me:secret@a.test/x', 'ws:a.test/x'],
  ['redis+tls.v-1://me:secret@a.test', 'redis+tls.v-1://a.test'],
  ['redis://me:se\\cret@a.test', 'redis://a.test'],
  ['\u00a0https://me:secret@a.test/x', 'https://a.test/x'],
  ['\u3000\ufeff//me:secret@a.test/x', '//a.test/x'],
  ['https://me:secret@a.test/@b?c@d#e@f', 'https://a.test/@b?c@d#e@f'],
  ['me:secret@a.test/@b', 'a.test/@b'],
  // Invalid URLs
  ['https://me:se/cret@a.test/x', 'https://a.test/x'],
  ['https://me:secret%40a.test/x', 'https://a.test/x'],
  ['https://me:se/cret@a.test/@b', 'https://b'],
  ['blob:https://me:secret@a.test/x', 'a.test/x'],
  ['mailto:me:secret@a.test', 'a.test'],
  ['git@a.test:b/c', 'a.test:b/c'],
  ['(https://me:secret@a.test/x)', 'a.test/x)'],
  ['--https://me:secret@a.test/x', 'a.test/x'],
  // Without credentials
  ['https://a.test/\t', 'https://a.test/\t'],
  ['https://a.test/@me', 'https://a.test/@me'],
  ['https://a.test?to=me@a.test', 'https://a.test?to=me@a.test'],
  ['https://a.test?to=me%40a.test', 'https://a.test?to=me%40a.test'],
  ['file:///home/@me', 'file:///home/@me'],
  ['a.test/@me', 'a.test/@me'],
  ['localhost:8080/@me', 'localhost:8080/@me'],
  ['/a//me@a.test', '/a//me@a.test'],
  ['../me@a.test', '../me@a.test'],
  ['?me@a.test', '?me@a.test'],
  ['data:text/html,//me@a.test', 'data:text/html,//me@a.test'],
  ['mailto:me@a.test', 'mailto:me@a.test'],
  ['', ''],
] as const)('withoutCredentials(%j) returns %j', ([url, expected]) => {
  expect(withoutCredentials(url)).toBe(expected)
})

test.for([
  ['Sitemap: https://me:secret@a.test/x', 'Sitemap: https://a.test/x'],
  ['Sitemap:https://me:secret@a.test/x', 'Sitemap:https://a.test/x'],
  ['Sitemap: https://a.test/x # see ftp://me:secret@b.test/', 'Sitemap: https://a.test/x # see ftp://b.test/'],
  ['two: http://me:s@a.test and http://me:s@b.test', 'two: http://a.test and http://b.test'],
  ['Sitemap: http:me:secret@a.test/x', 'Sitemap: http:a.test/x'],
  ['Sitemap: //me:secret@a.test/x', 'Sitemap: //a.test/x'],
  ['License: http:\\\\me:secret@a.test\\x', 'License: http:\\\\a.test\\x'],
  ['Sitemap: http://me too:secret @a.test/x', 'Sitemap: http://a.test/x'],
  ['Sitemap: http://me:se/cret@a.test/x', 'Sitemap: http://a.test/x'],
  ['Disallow: /*?u=http://me:secret@a.test/', 'Disallow: /*?u=http://a.test/'],
  ['says "http://me:secret@a.test/x" to *', 'says "http://a.test/x" to *'],
  ['me:secret@a.test', 'a.test'],
  ['one\nhttp://u\nthree http://me:s@a.test', 'one\nhttp://u\nthree http://a.test'],
  // Without credentials
  ['# mail me@a.test', '# mail me@a.test'],
  ['Contact: mailto:me@a.test', 'Contact: mailto:me@a.test'],
  ['mailto:me@a.test', 'mailto:me@a.test'],
  ['Disallow: /a//b@c', 'Disallow: /a//b@c'],
  ['Disallow: /@me', 'Disallow: /@me'],
  ['Bot/1.0 (+https://a.test; me@a.test)', 'Bot/1.0 (+https://a.test; me@a.test)'],
  ['https://a.test/@me b@c', 'https://a.test/@me b@c'],
  ['https://localhost says a@b', 'https://localhost says a@b'],
  ['', ''],
] as const)('textWithoutCredentials(%j) returns %j', ([text, expected]) => {
  expect(textWithoutCredentials(text)).toBe(expected)
})

test('the time of textWithoutCredentials grows with the text, and no faster', () => {
  for (const part of ['a.', 'http:', '//', 'http://', '://', 'a:', '@ '])
    expect(textWithoutCredentials(`${part.repeat(100_000)}x@`)).toBeTypeOf('string')
})

const HOST = 'a.test:8080'
const urls = [...secretUrls(HOST), ...invalidSecretUrls(HOST)]

test.for(urls)('no message about %j contains its password', (url) => {
  const robots = parseRobots('User-agent: *\nDisallow: /', { origin: 'https://b.test' })
  const verdict = robots.check(url, 'a')
  const messages = [
    withoutCredentials(url),
    describeValue(url),
    describeVerdict(verdict),
    verdict.because === 'invalid-url' ? explainUrlProblem(verdict.problem, url) : '',
    errorOf(() => parseRobots('', { origin: url })),
    errorOf(() => parseRobots('', { dialect: url as never })),
    errorOf(() => parseRobots('', url as never)),
    errorOf(() => robots.forCrawler('a', { keep: url as never })),
    errorOf(() => explainUrlProblem(url as never)),
  ]
  for (const message of messages) expect(message).not.toMatch(new RegExp(SECRET, 'i'))
})

test('withoutCredentials accepts a long text with many colons, slashes or @', () => {
  for (const part of ['a:', '/', '@', 'a:/', '%40', '\t@']) {
    const text = part.repeat(2_000_000)
    expect(withoutCredentials(`${text}@b`).length).toBeLessThanOrEqual(text.length + 2)
  }
})

function errorOf(call: () => unknown): string {
  try {
    return inspect(call())
  } catch (error) {
    return inspect(error)
  }
}
