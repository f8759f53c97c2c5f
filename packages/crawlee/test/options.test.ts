// Options that cannot be used are said at construction.
import { type BaseHttpClient, GotScrapingHttpClient } from '@crawlee/basic'
import { HttpCrawler } from '@crawlee/http'
import { OptionError } from '@politely/core'
import { expect, test } from 'vitest'
import { withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const crawler = (httpClient?: BaseHttpClient) =>
  new HttpCrawler({ requestHandler: () => undefined, ...(httpClient && { httpClient }) }, inMemory())

test.each<[string, string, () => unknown]>([
  ['no crawler', 'crawler', () => withRobots({} as never, { userAgent })],
  ['nothing', 'crawler', () => withRobots(undefined as never, { userAgent })],
  ['one of another version', 'crawler', () => withRobots(Object.assign(crawler(), { teardown: 1 }), { userAgent })],
  ['one that is polite already', 'crawler', () => withRobots(withRobots(crawler(), { userAgent }), { userAgent })],
  [
    'an HTTP client that says it follows redirects',
    'httpClient',
    () => withRobots(crawler(Object.assign(new GotScrapingHttpClient(), { followRedirects: true })), { userAgent }),
  ],
  ['no options', 'options', () => withRobots(crawler(), undefined as never)],
  ['no name', 'userAgent', () => withRobots(crawler(), {} as never)],
  ['an unknown option', 'delay', () => withRobots(crawler(), { userAgent, delay: 1 } as never)],
  ['deferBeyondMs: -1', 'deferBeyondMs', () => withRobots(crawler(), { userAgent, deferBeyondMs: -1 })],
  ['deferBeyondMs: "1"', 'deferBeyondMs', () => withRobots(crawler(), { userAgent, deferBeyondMs: '1' as never })],
  ['pageRequests: true', 'pageRequests', () => withRobots(crawler(), { userAgent, pageRequests: true as never })],
  ['signal: {}', 'signal', () => withRobots(crawler(), { userAgent, signal: {} as never })],
  ['gate: {}', 'gate', () => withRobots(crawler(), { gate: {} as never })],
])('%s: an OptionError that names %s', (_, option, make) => {
  expect(make).toThrow(OptionError)
  expect(make).toThrow(expect.objectContaining({ option }))
})

test('a crawler that was turned down is as it was', () => {
  const plain = crawler()
  const before = { ...plain }
  expect(() => withRobots(plain, { userAgent, deferBeyondMs: -1 })).toThrow(OptionError)
  expect({ ...plain }).toEqual(before)
})

test('it returns the crawler that it was given, of its own type', () => {
  const plain = crawler()
  const polite: typeof plain = withRobots(plain, { userAgent })
  expect(polite).toBe(plain)
})
