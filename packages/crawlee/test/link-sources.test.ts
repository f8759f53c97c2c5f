// @module-tag full
// A public page that links to private hosts: their requests are skipped, and nothing reaches the
// hosts. 127.0.0.3 stands for a public address.
import { RequestQueue } from '@crawlee/basic'
import { CheerioCrawler, type CheerioCrawlingContext } from '@crawlee/cheerio'
import {
  type PrivateServer,
  type PublicSite,
  startPrivateServer,
  startPublicSite,
} from '@politely/testkit/servers/private-hosts'
import { htmlPage } from '@politely/testkit/servers/small-pages'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

let site: PublicSite
let inside: PrivateServer
beforeEach(async () => {
  site = await startPublicSite()
  inside = await startPrivateServer()
})
afterEach(async () => {
  await site.close()
  await inside.close()
})

interface Crawl {
  readonly handled: string[]
  readonly skipped: [url: string, reason: string, access: string | undefined][]
  readonly crawler: CheerioCrawler
  readonly queue: RequestQueue
}

async function newCrawl(
  handler: (context: CheerioCrawlingContext, crawl: Crawl) => Promise<unknown>,
  polite: Partial<WithRobotsOptions> = {},
): Promise<Crawl> {
  const configuration = inMemory()
  const queue = await RequestQueue.open(null, { config: configuration })
  const handled: string[] = []
  const skipped: Crawl['skipped'] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        requestQueue: queue,
        maxRequestRetries: 0,
        requestHandler: async (context) => {
          handled.push(context.request.loadedUrl)
          await handler(context, crawl)
        },
        onSkippedRequest: (one) => void skipped.push([one.url, one.reason, verdictOf(one)?.access?.reason]),
      },
      configuration,
    ),
    {
      userAgent: 'ExampleBot/1.0',
      minDelayMs: 0,
      retries: 0,
      allowAddresses: ['127.0.0.3'],
      ...polite,
    } as WithRobotsOptions,
  )
  const crawl: Crawl = { handled, skipped, crawler, queue }
  return crawl
}

const ways: Readonly<Record<string, (context: CheerioCrawlingContext, crawl: Crawl, url: string) => Promise<unknown>>> =
  {
    enqueueLinks: ({ enqueueLinks }) => enqueueLinks({ strategy: 'all' }),
    'enqueueLinks with URLs': ({ enqueueLinks }, _, url) => enqueueLinks({ strategy: 'all', urls: [url] }),
    'enqueueLinks with respectRobotsTxtFile: false': ({ enqueueLinks }) =>
      enqueueLinks({ strategy: 'all', respectRobotsTxtFile: false }),
    'addRequests of the context': ({ addRequests }, _, url) => addRequests([url]),
    'addRequests of the crawler': (_, { crawler }, url) => crawler.addRequests([{ url, userData: { own: 1 } }]),
    'addRequest of the queue': (_, { queue }, url) => queue.addRequest({ url }),
    'addRequestsBatched of the queue': (_, { queue }, url) => queue.addRequestsBatched([url]),
  }

test.for(Object.entries(ways))('a link to a private host is skipped: %s', async ([, add]) => {
  const url = `http://127.0.0.1:${inside.port}/admin`
  site.respond({ '/': htmlPage(`<a href="${url}">a</a>`) })
  const crawl = await newCrawl((context, self) => add(context, self, url))
  await crawl.crawler.run([`${site.literal}/`])
  expect(crawl.skipped).toEqual([[url, 'robotsTxt', 'blocked-address']])
  expect(crawl.handled).toEqual([`${site.literal}/`])
  expect(inside.connections).toBe(0)
})

test('a link that was added to a private name keeps its page in the queue, next to the data of the caller', async () => {
  site.respond({ '/': htmlPage() })
  const crawl = await newCrawl(
    async ({ addRequests, crawler }, { queue }) => {
      await addRequests([{ url: 'http://wiki.corp/', userData: { own: 1 } }])
      const request = await queue.fetchNextRequest()
      expect(request?.userData).toEqual({ own: 1, politely: { redirectedFrom: [site.literal] } })
      crawler.stop()
    },
    {
      lookup: (_, options, callback) =>
        options.all ? callback(null, [{ address: '127.0.0.3', family: 4 }]) : callback(null, '127.0.0.3', 4),
    },
  )
  await crawl.crawler.run([`${site.literal}/`])
  expect(crawl.handled).toHaveLength(1)
})

test('pages of the own network may link to each other, and keep their data as it is', async () => {
  const home = `http://127.0.0.1:${inside.port}/`
  const data: unknown[] = []
  const crawl = await newCrawl(async ({ request, addRequests }) => {
    data.push(request.userData)
    await addRequests([`${home}next`])
  })
  await crawl.crawler.run([home])
  expect(crawl.handled).toEqual([home, `${home}next`])
  expect(data).toEqual([{}, {}])
})

test('a private URL of the caller is crawled, although a public page has linked to it', async () => {
  const url = `http://127.0.0.1:${inside.port}/admin`
  site.respond({ '/': htmlPage(`<a href="${url}">a</a>`) })
  const crawl = await newCrawl(({ enqueueLinks }) => enqueueLinks({ strategy: 'all' }))
  await crawl.crawler.run([`${site.literal}/`])
  await crawl.crawler.run([url], { purgeRequestQueue: false })
  expect(crawl.handled).toEqual([`${site.literal}/`, url])
})

test('a mark of another program in the queue is read as far as it is one', async () => {
  const url = `http://127.0.0.1:${inside.port}/`
  const crawl = await newCrawl(async () => undefined)
  const userData = (redirectedFrom: unknown) => ({ politely: { redirectedFrom } })
  await crawl.crawler.run([
    { url: `${url}1`, userData: userData('no list') },
    { url: `${url}2`, userData: userData([1, 'no URL']) },
    { url: `${url}3`, userData: userData(['https://example.com']) },
  ])
  expect(crawl.handled.toSorted()).toEqual([`${url}1`, `${url}2`])
  expect(crawl.skipped).toEqual([[`${url}3`, 'robotsTxt', 'blocked-address']])
})
