// The methods for people and tools: why a verdict is as it is, and what else the file says.
import type { Reply } from '@politely/testkit/servers/sites'
import { expect } from 'vitest'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const PAGE = 'http://a.test:PORT/cart/pay'
const TEXT = `User-agent: *
Disallow: /cart # not for crawlers
Allow: /
Crawl-delay: 2
Sitemap: https://a.test/sitemap.xml
Sitemap: /relative.xml
`
const file: Reply = { status: 200, body: TEXT }

test('explain returns the verdict, the rules that match with their lines, and the records', async ({
  sites,
  newClient,
}) => {
  sites.respond(ROBOTS, file)
  const client = newClient({ now: () => 0 })
  const explained = await client.explain(sites.withPort(PAGE))
  expect(explained).toMatchObject({
    verdict: { allowed: false, because: 'rule', rule: { line: 2 }, crawlDelayMs: 2_000 },
    explanation: {
      target: '/cart/pay',
      wonBy: 'most-octets',
      matches: [
        { line: 2, form: '/cart', source: 'Disallow: /cart # not for crawlers' },
        { line: 3, source: 'Allow: /' },
      ],
    },
    records: [{ field: 'crawl-delay' }, { field: 'sitemap' }, { field: 'sitemap', value: '/relative.xml' }],
  })
  expect(explained.verdict).toEqual(await client.check(sites.withPort(PAGE)))
  expect(structuredClone(explained)).toEqual(explained)
  expect(client.counters).toMatchObject({ questions: 1, requests: 1 })
})

test.for<[name: string, reply: Reply, because: string]>([
  ['no robots.txt', { status: 404 }, 'unavailable'],
  ['an unreachable robots.txt', { status: 500 }, 'unreachable'],
])('%s: nothing to explain, no sitemaps, no file', async ([, reply, because], { sites, newClient }) => {
  sites.respond(ROBOTS, reply)
  const client = newClient()
  expect(await client.explain(sites.withPort(PAGE))).toMatchObject({
    verdict: { because },
    explanation: undefined,
    records: [],
  })
  const sitemaps = await client.sitemaps(sites.withPort(PAGE))
  expect(sitemaps).toEqual([])
  expect(sitemaps.access).toMatchObject({ outcome: because, status: reply.status })
  expect(await client.robots(sites.withPort(PAGE))).toBeUndefined()
  expect(sites.requests).toHaveLength(1)
})

test('explain gives the verdict about an invalid URL', async ({ newClient }) => {
  expect(await newClient().explain('example.com/page')).toEqual({
    verdict: { url: 'example.com/page', allowed: false, because: 'invalid-url', problem: 'relative' },
    explanation: undefined,
    records: [],
  })
})

test('sitemaps: relative URLs are resolved, and an empty list of a file is a success', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, { status: 200, body: 'Sitemap: /a.xml https://b.test/b.xml\n' }, { status: 200 })
  const client = newClient()
  expect(await client.sitemaps(sites.withPort(PAGE))).toEqual([
    sites.withPort('http://a.test:PORT/a.xml'),
    'https://b.test/b.xml',
  ])
  await client.forget(sites.withPort(PAGE))
  const sitemaps = await client.sitemaps(sites.withPort(PAGE))
  expect(JSON.stringify(sitemaps)).toBe('[]')
  expect(sitemaps.access).toMatchObject({ outcome: 'success', status: 200 })
})

test('sitemaps and robots fetch robots.txt once, and use a stale copy', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, file, { status: 503 })
  const sitemaps = ['https://a.test/sitemap.xml', sites.withPort('http://a.test:PORT/relative.xml')]
  let now = 0
  const client = newClient({ now: () => now })
  expect(await client.sitemaps(sites.withPort(PAGE))).toEqual(sitemaps)
  const robots = await client.robots(new URL(sites.withPort(PAGE)))
  expect(robots?.text).toBe(TEXT)
  expect(robots?.origin).toBe(sites.withPort('http://a.test:PORT'))
  expect(robots?.records).toHaveLength(3)
  expect(sites.requests).toHaveLength(1)
  now = 86_400_000
  expect(await client.sitemaps(sites.withPort(PAGE))).toEqual(sitemaps)
  expect(sites.requests).toHaveLength(2)
})

test.for(['explain', 'sitemaps', 'robots'] as const)(
  '%s ends when its signal is aborted or the client closed',
  async (method, { newClient }) => {
    const client = newClient()
    const reason = new Error('the caller has left')
    await expect(client[method]('http://a.test/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await client.close()
    await expect(client[method]('http://a.test/')).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  },
)
