// @module-tag nodes
// The headers of requests for robots.txt: the given User-Agent, and never credentials, cookies or a
// Referer. All of it is our choice.
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const ELSEWHERE = 'http://b.test:PORT/rules.txt'
const SENT = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']

const withCookie = (location: string) => ({
  status: 302,
  headers: { location, 'set-cookie': ['session=1; Path=/', 'other=2'], 'www-authenticate': 'Basic realm="a"' },
})

test('a request is a GET with the given User-Agent', async ({ sites, newClient }) => {
  const userAgent = 'Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)'
  await newClient({ userAgent }).check(sites.withPort(checkedPage))
  expect(sites.requests).toMatchObject([
    { method: 'GET', url: ROBOTS, headers: { 'user-agent': userAgent, 'accept-encoding': 'gzip, br' } },
  ])
})

test.for([
  ['a plain URL', 'http://a.test:PORT/page', { status: 404 }, [ROBOTS]],
  [
    'userinfo, query and fragment in the checked URL',
    'http://me:secret@a.test:PORT/page?key=1#here',
    { status: 404 },
    [ROBOTS],
  ],
  ['a redirect that sets cookies', checkedPage, withCookie('/rules.txt'), [ROBOTS, 'http://a.test:PORT/rules.txt']],
  ['a redirect to another host', checkedPage, withCookie(ELSEWHERE), [ROBOTS, ELSEWHERE]],
  ['a redirect with userinfo', checkedPage, withCookie('http://you:hidden@b.test:PORT/rules.txt'), [ROBOTS, ELSEWHERE]],
  [
    'a 401 that asks for credentials',
    checkedPage,
    { status: 401, headers: { 'www-authenticate': 'Basic realm="a"' } },
    [ROBOTS],
  ],
] as const)('sends no unnecessary header: %s', async ([, url, answer, asked], { sites, newClient }) => {
  sites.respond(ROBOTS, answer)
  await newClient().check(sites.withPort(url))
  expect(sites.requestedUrls).toEqual(asked)
  expect(sites.requests.map(({ headers }) => Object.keys(headers).sort())).toEqual(asked.map(() => SENT))
})

test('the second request to an origin carries only the validators of its copy', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, {
    status: 200,
    headers: { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', 'set-cookie': 'session=1' },
    body: disallowsPage,
  })
  const client = newClient({ minTtlMs: 0, ttlMs: 0 })
  await client.check(sites.withPort(checkedPage))
  await client.check(sites.withPort(checkedPage))
  const [, second] = sites.requests
  expect(Object.keys(second?.headers ?? {}).sort()).toEqual([...SENT, 'if-modified-since', 'if-none-match'].sort())
  expect(second?.headers).toMatchObject({
    'if-none-match': '"1"',
    'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT',
  })
})
