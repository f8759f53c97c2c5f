// The meaning of valid responses, over a real connection. Core's tests run the same cases as
// values.
import { gzipSync } from 'node:zlib'
import { bodyLimit } from '@politely/testkit/cases/body-cases'
import {
  checkedPage,
  conditionalCases,
  disallowsPage,
  type ReplyExpectation,
  replyCases,
} from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Sites } from '@politely/testkit/servers/sites'
import { expect } from 'vitest'
import type { RobotsClient } from '../src/index.ts'
import { test } from './with-sites.ts'

test.for(replyCases.map((row) => [row.name, row] as const))('%s', async ([, row], { sites, newClient }) => {
  for (const [url, reply] of Object.entries(row.replies)) sites.respond(url, reply)
  await expectVerdict(
    newClient({ notFoundPages: row.notFoundPages, foreignBodies: row.foreignBodies }),
    sites,
    row.expected,
  )
})

test.for(conditionalCases.map((row) => [row.name, row] as const))('%s', async ([, row], { sites, newClient }) => {
  const { replies, copyUrl, toCondition, expected } = row
  const clock = startClock()
  const client = newClient({ now: clock.now })
  const file = { status: 200, headers: { etag: '"1"' }, body: disallowsPage }
  for (const [url, reply] of Object.entries(replies)) sites.respond(url, reply)
  sites.respond(copyUrl, file, toCondition, ...(replies[copyUrl] ? [replies[copyUrl]] : []))
  await client.check(sites.withPort(checkedPage))
  sites.clearRecords()
  clock.advance(86_400_000)

  await expectVerdict(client, sites, expected)
  const conditional = sites.requests.filter(({ headers }) => headers['if-none-match'] !== undefined)
  expect(conditional.map(({ url }) => url)).toEqual([copyUrl])
})

async function expectVerdict(client: RobotsClient, sites: Sites, expected: ReplyExpectation): Promise<void> {
  const verdict = await client.check(sites.withPort(checkedPage))
  const { requestedUrls: asked, allowed, because, ...access } = expected
  expect(verdict).toMatchObject({ allowed, because, access })
  expect(sites.requestedUrls).toEqual(asked)
  const { hops = [], url } = verdict.access ?? {}
  expect([...hops.map((hop) => hop.url), url]).toEqual([...new Set(asked)].map((one) => sites.withPort(one)))
}

test.for([
  ['RFC 9309 §2.3.1.2 recommends five, but the caller may choose 0', 0],
  ['our choice, more than five', 7],
] as const)('maxRedirects: %s', async ([, maxRedirects], { sites, newClient }) => {
  const urls = Array.from(
    { length: maxRedirects + 2 },
    (_, i) => `http://a.test:PORT/${i === 0 ? 'robots.txt' : `hop${i}`}`,
  )
  for (const [i, url] of urls.entries()) sites.respond(url, { status: 301, headers: { location: `/hop${i + 1}` } })
  const verdict = await newClient({ maxRedirects }).check(sites.withPort(checkedPage))
  expect(verdict).toMatchObject({ because: 'unavailable', access: { reason: 'too-many-redirects' } })
  expect(sites.requestedUrls).toEqual(urls.slice(0, -1))
})

const long = disallowsPage + '#\n'.repeat(bodyLimit)
const gzipped = gzipSync(disallowsPage)
test.for([
  [
    'a file over the size limit is cut',
    long,
    long.length,
    {},
    { because: 'rule', access: { copy: { truncated: true } } },
  ],
  ['a body that is cut, of a shorter file', long, 30, {}, { access: { reason: 'truncated' } }],
  [
    'the length of a coded body is not known after decoding',
    gzipped,
    gzipped.length,
    { 'content-encoding': 'gzip' },
    { access: { reason: 'truncated' } },
  ],
] as const)('our choice, a 206: %s', async ([, body, bytes, coding, expected], { sites, newClient }) => {
  const headers = { ...coding, 'content-range': `bytes 0-${bytes - 1}/${bytes}` }
  sites.respond('http://a.test:PORT/robots.txt', { status: 206, headers, body })
  expect(await newClient().check(sites.withPort(checkedPage))).toMatchObject(expected)
})

test('our choice, with `notFoundPages`, the body of a 503 is not read, so that its Retry-After counts', async ({
  sites,
  newClient,
}) => {
  const clock = startClock()
  sites.respond('http://a.test:PORT/robots.txt', (socket) => {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7200\r\nContent-Length: 100\r\n\r\ntruncated')
  })
  const verdict = await newClient({ now: clock.now, notFoundPages: 'unavailable' }).check(sites.withPort(checkedPage))
  expect(verdict).toMatchObject({ access: { reason: 'status', status: 503, nextAttemptAt: clock.now() + 7_200_000 } })
})
