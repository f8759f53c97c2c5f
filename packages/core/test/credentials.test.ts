// Messages contain no credentials of a URL (`user:password@`). Our choice.
import { inspect } from 'node:util'
import { invalidSecretUrls, SECRET, secretUrls } from '@politely/testkit/cases/secret-urls'
import { expect, test } from 'vitest'
import { describeValue, withoutCredentials } from '../src/engine.ts'
import { describeVerdict, explainUrlProblem, parseRobots } from '../src/index.ts'

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
