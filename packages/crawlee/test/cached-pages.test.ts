// @module-tag full
// The option `cache`: pages that are stored are handled without a request, or revalidated.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type BaseHttpClient, BasicCrawler, GotScrapingHttpClient, type HttpRequest } from '@crawlee/basic'
import { CheerioCrawler, type CheerioCrawlerOptions } from '@crawlee/cheerio'
import { HttpCrawler } from '@crawlee/http'
import { PlaywrightCrawler } from '@crawlee/playwright'
import { PuppeteerCrawler } from '@crawlee/puppeteer'
import { cacheOf, PageCache } from '@politely/cache'
import { type EvidenceSink, RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely, type ResponseCache, resolveGate } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { OptionError, usageOf, verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const HOME = 'http://127.0.0.1:PORT'
const HTML = { 'content-type': 'text/html' }
const FRESH = { ...HTML, 'cache-control': 'max-age=600' }

let sites: Sites
let cache: PageCache
beforeEach(async () => {
  sites = await startSites()
  cache = new PageCache()
})
afterEach(async () => {
  await cache.close()
  await sites.close()
})

const pages = () => sites.requestedUrls.filter((url) => !url.endsWith('/robots.txt'))

async function stored(): Promise<number> {
  let count = 0
  for await (const _ of cache.pages()) count++
  return count
}

interface Handled {
  readonly url: string
  readonly status: number | undefined
  readonly title: string
}

/** Crawls these paths with a new crawler. */
async function crawl(
  paths: readonly string[],
  { options = {}, polite = {} }: { options?: CheerioCrawlerOptions; polite?: Partial<WithRobotsOptions> } = {},
) {
  const handled: Handled[] = []
  const skipped: (string | undefined)[] = []
  const failed: string[] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        maxRequestRetries: 0,
        ...options,
        requestHandler: async (context) => {
          const { request, response, $ } = context
          const url = request.loadedUrl.replace(String(sites.port), 'PORT')
          handled.push({ url, status: response.statusCode, title: $('title').text() })
          if (typeof options.requestHandler === 'function') await options.requestHandler(context)
        },
        failedRequestHandler: (_, error) => void failed.push(error.message),
        onSkippedRequest: (one) => void skipped.push(verdictOf(one)?.because),
      },
      inMemory(),
    ),
    { ...('gate' in polite ? {} : { userAgent, minDelayMs: 0 }), cache, ...polite } as WithRobotsOptions,
  )
  await crawler.run(paths.map((path) => sites.withPort(`${HOME}${path}`)))
  return { handled, skipped, failed }
}

test('a page that is fresh is handled without a request and without its slot', async () => {
  const delay = 'User-agent: *\nCrawl-delay: 3600'
  sites.respond(`${HOME}/robots.txt`, { status: 404 }, { status: 200, body: delay })
  const paths = Array.from({ length: 5 }, (_, n) => `/${n}`)
  for (const path of paths)
    sites.respond(`${HOME}${path}`, { status: 200, headers: FRESH, body: `<title>${path}</title>` })
  await crawl(paths)
  expect(pages()).toHaveLength(5)
  const { gate, close } = resolveGate({ userAgent })
  const { handled, failed } = await crawl(paths, { polite: { gate } })
  expect(handled.toSorted((a, b) => a.url.localeCompare(b.url))).toEqual(
    paths.map((path) => ({ url: `${HOME}${path}`, status: 200, title: path })),
  )
  expect([failed, gate.counters.started]).toEqual([[], 0])
  expect(pages()).toHaveLength(5)
  await close()
})

test('what a crawler stores, politely(fetch) returns, and the other way round', async () => {
  sites.respond(`${HOME}/a`, { status: 200, headers: FRESH, body: '<title>a</title>' })
  sites.respond(`${HOME}/b`, { status: 200, headers: FRESH, body: '<title>b</title>' })
  const fetch = politely(globalThis.fetch, { userAgent, cache, minDelayMs: 0 })
  await (await fetch(sites.withPort(`${HOME}/b`))).text()
  const { handled } = await crawl(['/a', '/b'])
  expect(handled.map(({ title }) => title).toSorted()).toEqual(['a', 'b'])
  const response = await fetch(sites.withPort(`${HOME}/a`))
  expect([await response.text(), cacheOf(response)?.state]).toEqual(['<title>a</title>', 'hit'])
  expect(pages()).toHaveLength(2)
  await fetch.close()
})

test('a page that is not fresh is revalidated, with a slot', async () => {
  const headers = { ...HTML, etag: '"1"' }
  sites.respond(`${HOME}/`, { status: 200, headers, body: '<title>one</title>' }, { status: 304, headers })
  await crawl(['/'])
  const { gate, close } = resolveGate({ userAgent })
  const { handled } = await crawl(['/'], { polite: { gate } })
  expect(handled).toEqual([{ url: `${HOME}/`, status: 200, title: 'one' }])
  expect(gate.counters.started).toBe(1)
  expect(sites.requests.at(-1)?.headers['if-none-match']).toBe('"1"')
  expect((await cache.visits(sites.withPort(`${HOME}/`)))?.visits.map(({ status }) => status)).toEqual([200, 304])
  await close()
})

test('hops of a redirect are stored, and handlers see them', async () => {
  sites.respond(`${HOME}/hop`, { status: 301, headers: { location: '/end', 'cache-control': 'max-age=600' } })
  sites.respond(`${HOME}/end`, { status: 200, headers: FRESH, body: '<title>end</title>' })
  const seen: unknown[] = []
  const requestHandler = ({ response }: { response: { redirectUrls?: URL[] } }) => void seen.push(response.redirectUrls)
  for (let n = 0; n < 2; n++)
    expect((await crawl(['/hop'], { options: { requestHandler: requestHandler as never } })).handled).toEqual([
      { url: `${HOME}/end`, status: 200, title: 'end' },
    ])
  expect(seen).toEqual(Array(2).fill([new URL(sites.withPort(`${HOME}/end`))]))
  expect(pages()).toHaveLength(2)
})

test('a stored page that robots.txt now disallows is skipped', async () => {
  const close = 'User-agent: *\nDisallow: /'
  sites.respond(`${HOME}/robots.txt`, { status: 404 }, { status: 200, body: close })
  sites.respond(`${HOME}/`, { status: 200, headers: FRESH, body: '<title>one</title>' })
  await crawl(['/'])
  expect(await crawl(['/'])).toEqual({ handled: [], skipped: ['rule'], failed: [] })
})

test('a compressed page is stored decoded', async () => {
  const body = gzipSync('<title>packed</title>')
  sites.respond(`${HOME}/`, { status: 200, headers: { ...FRESH, 'content-encoding': 'gzip' }, body })
  for (let n = 0; n < 2; n++)
    expect((await crawl(['/'])).handled).toEqual([{ url: `${HOME}/`, status: 200, title: 'packed' }])
  expect(pages()).toHaveLength(1)
})

test('a page of another charset is handled as it was sent', async () => {
  const headers = { 'content-type': 'text/html; charset=windows-1251', 'cache-control': 'max-age=600' }
  sites.respond(`${HOME}/`, { status: 200, headers, body: Buffer.from([...Buffer.from('<title>'), 0xc4, 0xe0]) })
  for (let n = 0; n < 2; n++) expect((await crawl(['/'])).handled).toMatchObject([{ title: 'Да' }])
  expect(pages()).toHaveLength(1)
})

test('a body that breaks off is not stored', async () => {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncache-control: max-age=600\r\ncontent-length: 1000\r\n\r\n'
  sites.respond(`${HOME}/`, (socket) => socket.end(`${head}<title>half`), {
    status: 200,
    headers: FRESH,
    body: '<title>whole</title>',
  })
  expect((await crawl(['/'])).failed).toHaveLength(1)
  expect((await crawl(['/'])).handled).toMatchObject([{ title: 'whole' }])
})

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
] as const)('a body whose %s is cut is not stored', async (coding, encode) => {
  const bytes = encode(`<title>whole</title>${Array.from({ length: 1_000 }, (_, n) => `<p>${n}</p>`).join('')}`)
  const headers = { ...FRESH, 'content-encoding': coding }
  const cut = bytes.subarray(0, bytes.length / 2)
  sites.respond(`${HOME}/`, { status: 200, headers, body: cut }, { status: 200, headers, body: bytes })
  await crawl(['/'])
  expect(await stored()).toBe(0)
  expect((await crawl(['/'])).handled).toMatchObject([{ title: 'whole' }])
  expect(await stored()).toBe(1)
})

test('a compressed page of a client that decodes it is not stored', async () => {
  class OwnClient implements BaseHttpClient {
    readonly #got = new GotScrapingHttpClient()
    readonly sendRequest = this.#got.sendRequest.bind(this.#got)
    stream = ({ decompress: _, ...request }: HttpRequest) => this.#got.stream(request)
  }
  const body = gzipSync('<title>packed</title>')
  sites.respond(`${HOME}/`, { status: 200, headers: { ...FRESH, 'content-encoding': 'gzip' }, body })
  await crawl(['/'], { options: { httpClient: new OwnClient() } })
  expect(await stored()).toBe(0)
  await crawl(['/'], { options: { httpClient: new (class extends GotScrapingHttpClient {})() } })
  expect(await stored()).toBe(1)
})

test('a page that says no-store, and a POST, go to the site', async () => {
  sites.respond(`${HOME}/`, {
    status: 200,
    headers: { ...HTML, 'cache-control': 'no-store' },
    body: '<title>a</title>',
  })
  for (let n = 0; n < 2; n++) expect((await crawl(['/'])).handled).toMatchObject([{ title: 'a' }])
  expect(pages()).toHaveLength(2)
  sites.respond(`${HOME}/fresh`, { status: 200, headers: FRESH, body: '<title>b</title>' })
  await crawl(['/fresh'])
  const url = sites.withPort(`${HOME}/fresh`)
  const crawler = new HttpCrawler({ requestHandler: () => undefined }, inMemory())
  await withRobots(crawler, { userAgent, minDelayMs: 0, cache }).run([{ url, method: 'POST', payload: 'a=1' }] as never)
  expect(sites.requests.at(-1)?.method).toBe('POST')
  expect(await cache.get(url)).toBeUndefined() // RFC 9111 §4.4
})

test('usageOf reads the lines of X-Robots-Tag that were stored', async () => {
  const headers = { ...FRESH, 'x-robots-tag': ['noindex', 'otherbot: nofollow'] }
  sites.respond(`${HOME}/`, { status: 200, headers: headers as never, body: '<title>a</title>' })
  const answers: unknown[] = []
  const requestHandler = async (context: Parameters<typeof usageOf>[0]) => {
    const { purposes } = await usageOf(context, { tdmrep: 'ignore' })
    answers.push([purposes.index.answer, purposes.follow.answer])
  }
  for (let n = 0; n < 2; n++) await crawl(['/'], { options: { requestHandler: requestHandler as never } })
  expect(answers).toEqual(Array(2).fill(['disallowed', 'unstated']))
  expect(pages()).toHaveLength(1)
})

test('a page that is stored is a decision of the gate without a request', async () => {
  const told: string[] = []
  const evidence: EvidenceSink = {
    decided: ({ use, verdict }) => ({ id: `d${told.push(`${use} ${verdict.because}`)}` }),
    ended: ({ id, outcome, status }) => told.push(`${id} ${outcome} ${status}`),
  }
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs: 0, evidence })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  sites.respond(`${HOME}/a`, { status: 200, headers: FRESH, body: '<title>a</title>' })
  for (let n = 0; n < 2; n++) await crawl(['/a'], { polite: { gate } })
  expect(told).toEqual(['request unavailable', 'd1 answered 200', 'stored-page unavailable', 'd3 stored-page 200'])
})

test('any cache is called with the headers that are sent, and without a dependency', async () => {
  const asked: unknown[] = []
  const own: ResponseCache = {
    respond: async ({ method, headers }, exchange) => {
      asked.push([method, headers['user-agent'], headers['cache-control']])
      return exchange.send({ ...headers, 'if-none-match': '"x"' })
    },
  }
  sites.respond(`${HOME}/`, { status: 200, headers: HTML, body: '<title>a</title>' })
  expect((await crawl(['/'], { polite: { cache: own } })).handled).toMatchObject([{ title: 'a' }])
  expect(asked).toEqual([
    ['HEAD', userAgent, 'only-if-cached'],
    ['GET', userAgent, undefined],
  ])
  expect(sites.requests.at(-1)?.headers['if-none-match']).toBe('"x"')
})

test.each([
  [
    'PlaywrightCrawler',
    () => new PlaywrightCrawler({}, inMemory()),
    /a browser loads its own pages; use a CheerioCrawler/,
  ],
  [
    'PuppeteerCrawler',
    () => new PuppeteerCrawler({}, inMemory()),
    /a browser loads its own pages; use a CheerioCrawler/,
  ],
  ['BasicCrawler', () => new BasicCrawler({}, inMemory()), /a BasicCrawler does not load pages/],
])('a %s refuses the option', (_, make, message) => {
  expect(() => withRobots(make(), { userAgent, cache })).toThrow(OptionError)
  expect(() => withRobots(make(), { userAgent, cache })).toThrow(message)
})

test('a value that is not a cache is refused', () => {
  const crawler = new HttpCrawler({ requestHandler: () => undefined }, inMemory())
  expect(() => withRobots(crawler, { userAgent, cache: new Map() as never })).toThrow(/^cache: is not a cache of pages/)
})
