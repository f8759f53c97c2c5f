// @module-tag slow
// @module-tag full
// Waiting requests: outside of Crawlee's pool, without effect on its timeouts, and what happens to
// them when a crawl ends.

import { AsyncResource } from 'node:async_hooks'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { LookupFunction, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  BasicCrawler,
  type BasicCrawlerOptions,
  type Configuration,
  RequestList,
  RequestQueue,
  RequestQueueV1,
} from '@crawlee/basic'
import { CheerioCrawler } from '@crawlee/cheerio'
import { RobotsClient } from '@politely/fetcher'
import { LocalPacer, type Pacer, PoliteGate } from '@politely/gate'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { withRobots } from '../src/index.ts'
import { collectStarts, sinceFirstStart } from './gate-starts.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const SLOW = 'http://localhost:PORT'
const FAST = 'http://127.0.0.1:PORT'

let sites: Sites
beforeEach(async () => {
  sites = await startSites()
})
afterEach(() => sites.close())

const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<title>a page</title>' }

function answerPages(home: string, crawlDelay: number, count: number): readonly string[] {
  sites.respond(`${home}/robots.txt`, { status: 200, body: `User-agent: *\nCrawl-delay: ${crawlDelay}\n` })
  const urls = Array.from({ length: count }, (_, i) => `${home}/${i + 1}`)
  for (const url of urls) sites.respond(url, page)
  return urls
}

const pages = () => sites.requests.filter(({ url }) => !url.endsWith('/robots.txt'))

test('our choice: a request whose turn is far off leaves the pool, so a slow site does not delay others', async () => {
  const slow = answerPages(SLOW, 60, 5)
  const fast = answerPages(FAST, 0, 5)
  const handled: string[] = []
  const waitingInPool: unknown[] = []
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  await robots.prefetch([...slow, ...fast].map((url) => sites.withPort(url)))
  const crawler = withRobots(
    new CheerioCrawler(
      {
        minConcurrency: 3,
        maxConcurrency: 3,
        requestHandler: ({ request }) => {
          handled.push(request.url)
          waitingInPool.push(...gate.queues().filter(({ waiting }) => waiting > 0))
          if (handled.length === 6) crawler.stop()
        },
      },
      inMemory(),
    ),
    { gate },
  )
  await crawler.run([...slow, ...fast].map((url) => sites.withPort(url)))
  // One page of the slow site is requested at once. The others would be requested a minute later.
  expect(handled.sort()).toEqual([slow[0] as string, ...fast].map((url) => sites.withPort(url)).sort())
  expect(waitingInPool).toEqual([])
  await robots.close()
})

test('our choice: a site with a slow robots.txt delays neither the adding nor the handling of other requests', async () => {
  const [first] = answerPages(SLOW, 0, 1)
  const { promise: robotsTxt, resolve: sendRobotsTxt } = Promise.withResolvers<Reply>()
  sites.respond(`${SLOW}/robots.txt`, robotsTxt)
  const fast = answerPages(FAST, 0, 3)
  const handled: string[] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        maxConcurrency: 1,
        requestHandler: ({ request }) => {
          handled.push(request.url)
          if (handled.length === fast.length) sendRobotsTxt({ status: 200, body: '' })
        },
      },
      inMemory(),
    ),
    { userAgent, minDelayMs: 0 },
  )
  await crawler.run([first as string, ...fast].map((url) => sites.withPort(url)))
  expect(handled).toEqual([...fast, first].map((url) => sites.withPort(url as string)))
})

test('our choice: pages that wait for other pages of their site do not delay other sites', async () => {
  const slow = answerPages(SLOW, 0, 4)
  const [fast] = answerPages(FAST, 0, 1)
  const { promise: response, resolve: sendResponse } = Promise.withResolvers<Reply>()
  for (const url of slow) sites.respond(url, response)
  const handled: string[] = []
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 1 })
  await robots.prefetch([...slow, fast as string].map((url) => sites.withPort(url)))
  const crawler = withRobots(
    new CheerioCrawler(
      {
        minConcurrency: 3, // Crawlee starts fewer on a busy machine
        maxConcurrency: 3,
        requestHandler: ({ request }) => {
          handled.push(request.url)
          sendResponse(page)
        },
      },
      inMemory(),
    ),
    { gate },
  )
  await crawler.run([...slow, fast as string].map((url) => sites.withPort(url)))
  await robots.close()
  expect(handled).toEqual([fast, ...slow].map((url) => sites.withPort(url as string)))
})

/** Resolves any host name to loopback, where the sites are. */
const lookup: LookupFunction = (_, { all }, done) =>
  all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)

/**
 * Crawls pages whose site does not respond until `respond` is called. Calls it when all pages of
 * another site have been handled.
 */
async function crawlBeside(slow: readonly string[], respond: () => void, maxConcurrency: number): Promise<void> {
  const fast = answerPages(FAST, 0, 3)
  const handled: string[] = []
  const robots = new RobotsClient({ userAgent, lookup, allowAddresses: ['127.0.0.1'] })
  const crawler = withRobots(
    new BasicCrawler(
      {
        minConcurrency: maxConcurrency, // Crawlee starts fewer on a busy machine
        maxConcurrency,
        requestHandler: async ({ request, sendRequest }) => {
          await sendRequest({ dnsLookup: lookup as never })
          handled.push(request.url)
          if (handled.length === fast.length) respond()
        },
      },
      inMemory(),
    ),
    { robots, minDelayMs: 0 },
  )
  const { requestsFinished } = await crawler.run([...slow, ...fast].map((url) => sites.withPort(url)))
  await robots.close()
  expect(requestsFinished).toBe(slow.length + fast.length)
  expect(handled.slice(0, fast.length).sort()).toEqual(fast.map((url) => sites.withPort(url)))
}

const hosts = (count: number, domain: string) =>
  Array.from({ length: count }, (_, n) => `http://host-${n}.${domain}:PORT/page`)

test.each([
  ['of many hosts of one domain', hosts(60, 'slow.test')],
  [
    'of one host with many pages, beside many other such domains,',
    [
      ...Array.from({ length: 34 }, (_, n) => `http://slow-${n}.test:PORT/page`),
      ...Array.from({ length: 20 }, (_, n) => `http://slow.test:PORT/${n}`),
    ],
  ],
])('our choice: robots.txt files %s that do not arrive delay no other site', async (_, slow) => {
  const { promise: robotsTxt, resolve: sendRobotsTxt } = Promise.withResolvers<Reply>()
  for (const url of slow) {
    sites.respond(url.replace(/[^/]+$/, 'robots.txt'), robotsTxt)
    sites.respond(url, page)
  }
  await crawlBeside(slow, () => sendRobotsTxt({ status: 404 }), 6)
})

test('our choice: pages of many hosts of one domain that do not arrive delay no other site', async () => {
  const slow = hosts(60, 'slow.test')
  const { promise: response, resolve: sendResponse } = Promise.withResolvers<Reply>()
  for (const url of slow) sites.respond(url, response)
  // 8 pages are under way (`maxConcurrentPerDomain`), and at most 4 more are in the pool.
  await crawlBeside(slow, () => sendResponse(page), 14)
})

test('a deferred request does not inherit the timeout of the task that deferred it', async () => {
  const urls = answerPages(SLOW, 1, 3)
  const handled: string[] = []
  const failed: string[] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        maxConcurrency: 1,
        maxRequestRetries: 0,
        requestHandlerTimeoutSecs: 0.8,
        requestHandler: async ({ request }) => {
          handled.push(request.url)
          if (handled.length === 1) await new Promise(() => undefined)
        },
        failedRequestHandler: (_, { name, message }) => void failed.push(`${name}: ${message}`),
      },
      inMemory(),
    ),
    { userAgent, minDelayMs: 0, deferBeyondMs: 0 },
  )
  const { requestsFinished } = await crawler.run(urls.map((url) => sites.withPort(url)))
  expect({ requestsFinished, failed }).toEqual({
    requestsFinished: 2,
    failed: ['Error: requestHandler timed out after 0.8 seconds.'],
  })
})

test('a page answered with 101, for which got never settles, holds no permit after its timeout', async () => {
  const switching = (socket: Socket) => socket.write('HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  sites.respond(`${FAST}/robots.txt`, { status: 404 })
  for (const n of [1, 2, 3]) sites.respond(`${FAST}/${n}`, switching)
  const robots = new RobotsClient({ userAgent })
  onTestFinished(() => robots.close())
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 1 })
  const failed: string[] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        navigationTimeoutSecs: 0.5,
        maxRequestRetries: 0,
        requestHandler: () => undefined,
        failedRequestHandler: (_, { message }) => void failed.push(message),
      },
      inMemory(),
    ),
    { gate },
  )
  await crawler.run([1, 2, 3].map((n) => sites.withPort(`${FAST}/${n}`)))
  expect(failed).toHaveLength(3)
  expect(gate.queues()).toEqual([])
})

test('a crawl-delay longer than all timeouts of Crawlee is kept, and fails no request', async () => {
  const urls = answerPages(SLOW, 1, 3)
  const failed: unknown[] = []
  const crawler = withRobots(
    new CheerioCrawler(
      {
        minConcurrency: 3,
        navigationTimeoutSecs: 0.8,
        requestHandlerTimeoutSecs: 0.8,
        requestHandler: () => undefined,
        failedRequestHandler: (_, error) => void failed.push(error),
      },
      inMemory(),
    ),
    { userAgent, minDelayMs: 0, deferBeyondMs: Infinity },
  )
  const { requestsFinished, retryHistogram } = await crawler.run(urls.map((url) => sites.withPort(url)))
  expect({ failed, requestsFinished, retryHistogram }).toEqual({ failed: [], requestsFinished: 3, retryHistogram: [3] })
})

test('a redirect whose second hop waits does not time out, nor does a sendRequest of a handler', async () => {
  answerPages(SLOW, 1.6, 1)
  sites.respond(`${SLOW}/hop`, { status: 302, headers: { location: '/1' } })
  const statuses: number[] = []
  const failed: unknown[] = []
  const crawler = withRobots(
    new BasicCrawler(
      {
        requestHandlerTimeoutSecs: 1,
        maxRequestRetries: 0,
        requestHandler: async ({ sendRequest }) => void statuses.push((await sendRequest()).statusCode),
        failedRequestHandler: (_, error) => void failed.push(error),
      },
      inMemory(),
    ),
    { userAgent, minDelayMs: 0 },
  )
  await crawler.run([sites.withPort(`${SLOW}/hop`)])
  expect({ statuses, failed, requested: pages().map(({ url }) => url) }).toEqual({
    statuses: [200],
    failed: [],
    requested: [`${SLOW}/hop`, `${SLOW}/1`],
  })
})

test.each([
  ['out of the pool', 100],
  ['in the pool', Number.POSITIVE_INFINITY],
])(
  'requests that wait %s are handled once and in the order of the queue, though their locks expire',
  async (_, deferBeyondMs) => {
    const urls = answerPages(SLOW, 0.4, 4)
    const configuration = inMemory()
    const queue = await RequestQueue.open('short-locks', { config: configuration })
    const crawler = withRobots(
      new CheerioCrawler({ requestQueue: queue, minConcurrency: 4, requestHandler: () => undefined }, configuration),
      { userAgent, minDelayMs: 0, deferBeyondMs },
    )
    queue.requestLockSecs = 0.3
    // Imitates a storage that cannot change locks.
    queue.client.prolongRequestLock = async () => ({ lockExpiresAt: new Date(Date.now() + 300) })
    const { requestsFinished } = await crawler.run(urls.map((url) => sites.withPort(url)))
    expect(requestsFinished).toBe(4)
    expect(pages().map(({ url }) => url)).toEqual(urls)
  },
)

test('a retry is not lost when its turn comes before its first task has ended, as with browser pages that close slowly', async () => {
  const [url] = answerPages(SLOW, 0, 1)
  const config = inMemory()
  const requestQueue = await RequestQueue.open('tried-again', { config })
  const fetchNextRequest = vi.spyOn(requestQueue, 'fetchNextRequest')
  const fetchedCount = () => fetchNextRequest.mock.settledResults.filter(({ value }) => value).length
  const retries: number[] = []
  let fetchedBefore = 0
  class SlowToClose extends BasicCrawler {
    protected override async _cleanupContext(): Promise<void> {
      if (retries.length === 1) await vi.waitFor(() => expect(fetchedCount()).toBeGreaterThan(fetchedBefore), 10_000)
    }
  }
  const crawler = withRobots(
    new SlowToClose(
      {
        requestQueue,
        minConcurrency: 2,
        requestHandler: ({ request }) => {
          retries.push(request.retryCount)
          fetchedBefore = fetchedCount()
          if (request.retryCount === 0) throw new Error('the first time')
        },
      },
      config,
    ),
    { userAgent, minDelayMs: 0 },
  )
  const { requestsFinished } = await crawler.run([sites.withPort(url as string)])
  expect({ requestsFinished, retries }).toEqual({ requestsFinished: 1, retries: [0, 1] })
})

test.each(['a RequestQueue', 'a RequestList and a RequestQueue'])(
  'a request of %s is handled once with all its retries counted, though its lock expires each time',
  async (source) => {
    const [url] = answerPages(SLOW, 0, 1).map((page) => sites.withPort(page))
    const config = inMemory()
    const requestQueue = await RequestQueue.open('short-locks-and-failures', { config })
    const requestList = source === 'a RequestQueue' ? undefined : await RequestList.open(null, [url as string])
    if (requestList === undefined) await requestQueue.addRequest({ url: url as string })
    const retries: number[] = []
    const crawler = withRobots(
      new BasicCrawler(
        {
          requestQueue,
          ...(requestList && { requestList }),
          minConcurrency: 2,
          maxRequestRetries: 2,
          requestHandler: async ({ request }) => {
            retries.push(request.retryCount)
            await new Promise((resolve) => setTimeout(resolve, 800))
            if (request.retryCount < 2) throw new Error('the first two times')
          },
        },
        config,
      ),
      { userAgent, minDelayMs: 0 },
    )
    requestQueue.requestLockSecs = 0.3
    const { requestsFinished } = await crawler.run()
    expect({ requestsFinished, retries }).toEqual({ requestsFinished: 1, retries: [0, 1, 2] })
  },
)

type OpenSource = (
  urls: string[],
  configuration: Configuration,
) => Promise<Pick<BasicCrawlerOptions, 'requestList' | 'requestQueue'>>

const sources: readonly [string, OpenSource][] = [
  ['RequestList', async (urls) => ({ requestList: await RequestList.open(null, urls) })],
  [
    'RequestQueueV1',
    async (urls, config) => {
      const requestQueue = await RequestQueueV1.open('first-version', { config })
      await requestQueue.addRequests(urls.map((url) => ({ url })))
      return { requestQueue }
    },
  ],
]

test.each(sources)('requests of a %s are deferred too, and handled in order', async (_, source) => {
  const urls = answerPages(SLOW, 0.1, 6)
  const configuration = inMemory()
  const requests = await source(
    urls.map((url) => sites.withPort(url)),
    configuration,
  )
  const crawler = withRobots(new CheerioCrawler({ ...requests, requestHandler: () => undefined }, configuration), {
    userAgent,
    minDelayMs: 0,
    deferBeyondMs: 0,
    maxConcurrentPerKey: 1, // two connections could overtake each other
  })
  expect((await crawler.run()).requestsFinished).toBe(6)
  expect(pages().map(({ url }) => url)).toEqual(urls)
})

test('a deferred request does not go through Crawlee’s queue again', async () => {
  const urls = answerPages(SLOW, 0.05, 5)
  const config = inMemory()
  const requestQueue = await RequestQueue.open('deferred-once', { config })
  const reclaimed = vi.spyOn(requestQueue, 'reclaimRequest')
  const crawler = withRobots(new CheerioCrawler({ requestQueue, requestHandler: () => undefined }, config), {
    userAgent,
    minDelayMs: 0,
    deferBeyondMs: 0,
    maxConcurrentPerKey: 1, // two connections could overtake each other
  })
  await crawler.run(urls.map((url) => sites.withPort(url)))
  expect(pages().map(({ url }) => url)).toEqual(urls)
  expect(reclaimed).not.toHaveBeenCalled()
})

test('a pacer elsewhere estimates once for each request, and not again when its turn comes', async () => {
  const urls = answerPages(SLOW, 0, 6)
  const local = new LocalPacer()
  const calls = { estimate: 0, reserve: 0 }
  const pacer: Pacer = {
    reserve: async (key, limits) => {
      calls.reserve++
      return local.reserve(key, limits)
    },
    estimate: async (...args) => {
      calls.estimate++
      return local.estimate(...args)
    },
    cancel: (...args) => local.cancel(...args),
    report: (...args) => local.report(...args),
    end: (...args) => local.end(...args),
  }
  const crawler = withRobots(new CheerioCrawler({ requestHandler: () => undefined }, inMemory()), {
    userAgent,
    pacer,
    minDelayMs: 200,
  })
  await crawler.run(urls.map((url) => sites.withPort(url)))
  expect(pages()).toHaveLength(6)
  expect(calls.estimate).toBeLessThanOrEqual(6 + 3) // a busy machine may make some estimates too old
  expect(calls.reserve).toBeLessThanOrEqual(2 * 6)
})

test('with default options, a request that waits for the default delay leaves the pool', async () => {
  const slow = answerPages(SLOW, 0, 3)
  const [fast] = answerPages(FAST, 0, 1)
  const handled: string[] = []
  const now = () => 1_000_000 // no delay ever ends
  const robots = new RobotsClient({ userAgent, now })
  const gate = new PoliteGate({ robots, now })
  await robots.prefetch([...slow, fast as string].map((url) => sites.withPort(url)))
  const crawler = withRobots(
    new CheerioCrawler(
      {
        maxConcurrency: 1,
        requestHandler: ({ request }) => {
          handled.push(request.url)
          if (handled.length === 2) void crawler.teardown()
        },
      },
      inMemory(),
    ),
    { gate },
  )
  await crawler.run([...slow, fast as string].map((url) => sites.withPort(url)))
  await robots.close()
  expect(handled).toEqual([slow[0], fast].map((url) => sites.withPort(url as string)))
})

test('the lock of a deferred request ends within a minute, and is renewed before that', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const urls = answerPages(SLOW, 600, 3)
  const config = inMemory()
  const requestQueue = await RequestQueue.open('renewed-locks', { config })
  const prolong = vi.spyOn(requestQueue.client, 'prolongRequestLock')
  /** How long each request stays locked, in seconds. Two of them are deferred. */
  const locks = () => {
    const ends = prolong.mock.calls.map(([id], i) => [id, prolong.mock.settledResults[i]?.value] as const)
    return [...new Map(ends).values()].map((lock) => ((lock?.lockExpiresAt.getTime() ?? 0) - Date.now()) / 1_000)
  }
  const areShort = () => expect(locks().filter((seconds) => seconds > 30 && seconds < 60)).toHaveLength(2)
  const crawler = withRobots(
    new CheerioCrawler(
      {
        requestQueue,
        minConcurrency: 3,
        requestHandlerTimeoutSecs: 300, // Crawlee's own locks are far longer
        requestHandler: async () => {
          try {
            await vi.waitFor(areShort, 30_000)
            prolong.mockClear()
            vi.advanceTimersByTime(30_000)
            await vi.waitFor(areShort, 30_000)
          } finally {
            void crawler.teardown()
          }
        },
        maxRequestRetries: 0,
      },
      config,
    ),
    { userAgent },
  )
  const { requestsFinished } = await crawler.run(urls.map((url) => sites.withPort(url)))
  expect(requestsFinished).toBe(1)
})

test('after the process is killed, the next run gets the deferred requests', async () => {
  const urls = answerPages(SLOW, 60, 20)
  const folder = await mkdtemp(join(tmpdir(), 'politely-killed-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const crawl = (...args: readonly string[]) =>
    fork(join(import.meta.dirname, 'stored-queue-child.ts'), [folder, ...args], { execArgv: [] })
  const first = crawl(...urls.map((url) => sites.withPort(url)))
  await vi.waitFor(() => expect(pages()).toHaveLength(1), 30_000)
  const stored = join(folder, 'request_queues', 'kept')
  const files = async () =>
    (await readdir(stored)).filter((name) => /^[^_].*\.json$/.test(name)).map((n) => join(stored, n))
  // Crawlee ignores a file that is half written.
  await vi.waitFor(async () => {
    const stats = await Promise.all((await files()).map((file) => stat(file)))
    expect(stats).toHaveLength(urls.length)
    expect(Math.max(...stats.map(({ mtimeMs }) => mtimeMs))).toBeLessThan(Date.now() - 500)
  }, 30_000)
  first.kill('SIGKILL')
  await once(first, 'exit')
  answerPages(SLOW, 0, 20)
  // `orderNo` is when the lock of a request expires; null if the request was handled.
  for (const file of await files()) {
    const entry = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...entry, orderNo: entry.orderNo && Date.now() - 1 }))
  }
  expect(await once(crawl(), 'exit')).toEqual([0, null])
  expect(sites.requestedPages).toEqual([...urls].sort())
})

test.each(['stop', 'teardown'] as const)(
  '%s returns waiting requests to the queue in order, and the next run handles them after the crawl-delay',
  async (end) => {
    const urls = answerPages(SLOW, 1.2, 3)
    const config = inMemory()
    const requestQueue = await RequestQueue.open('again', { config })
    let isFirst = true
    const crawler = withRobots(
      new CheerioCrawler(
        {
          requestQueue,
          requestHandler: async () => {
            if (isFirst) void crawler[end]()
            isFirst = false
          },
        },
        config,
      ),
      { userAgent, minDelayMs: 0, deferBeyondMs: 50 },
    )
    const starts = collectStarts()
    await crawler.run(urls.map((url) => sites.withPort(url)))
    const atFirst = pages().length
    await crawler.run()
    expect(atFirst).toBe(1)
    expect(sites.requestedUrls).toEqual([`${SLOW}/robots.txt`, ...urls])
    expect(sinceFirstStart(starts, pages()[1])).toBeGreaterThanOrEqual(1200)
  },
)

test.each(['from outside', 'in a handler'])(
  'teardown %s returns a request that waits at the gate to the queue, and the request has not failed',
  async (where) => {
    const urls = answerPages(SLOW, 3, 2) // long enough for a teardown on a busy machine
    const config = inMemory()
    const requestQueue = await RequestQueue.open('aborted-at-gate', { config })
    const robots = new RobotsClient({ userAgent })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    await robots.prefetch(urls.map((url) => sites.withPort(url)))
    const failed: unknown[] = []
    const retries: number[] = []
    let end: Promise<void> | undefined
    const crawler = withRobots(
      new CheerioCrawler(
        {
          requestQueue,
          maxRequestRetries: 0,
          minConcurrency: 4,
          requestHandler: async ({ request }) => {
            retries.push(request.retryCount)
            if (end !== undefined) return
            // Wait until another request waits at the gate.
            await vi.waitFor(() => expect(gate.queues()).toMatchObject([{ waiting: 1 }]), 30_000)
            end = where === 'in a handler' ? crawler.teardown() : outside(() => crawler.teardown())
            if (where === 'in a handler') await end
          },
          failedRequestHandler: (_, error) => void failed.push(error),
          errorHandler: (_, error) => void failed.push(error),
        },
        config,
      ),
      { gate, deferBeyondMs: 10_000 },
    )
    const outside = AsyncResource.bind((work: () => Promise<void>) => work())
    await crawler.run(urls.map((url) => sites.withPort(url)))
    await end
    const atFirst = pages().length
    await crawler.run()
    expect({ failed, retries, atFirst }).toEqual({ failed: [], retries: [0, 0], atFirst: 1 })
    expect(pages().map(({ url }) => url)).toEqual(urls)
    await robots.close()
  },
)

test('crawlers of one process that share a queue and a gate do not wait for each other’s requests', async () => {
  const urls = answerPages(SLOW, 0.2, 8)
  const config = inMemory()
  const requestQueue = await RequestQueue.open('shared', { config })
  await requestQueue.addRequests(urls.map((url) => ({ url: sites.withPort(url) })))
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const crawlers = [1, 2].map(() =>
    withRobots(new CheerioCrawler({ requestQueue, requestHandler: () => undefined }, config), {
      gate,
      deferBeyondMs: 50,
    }),
  )
  const starts = collectStarts()
  const runs = await Promise.all(crawlers.map((crawler) => crawler.run()))
  const pauses = starts.slice(1).map((time, i) => time - (starts[i] as number))
  expect(runs.reduce((sum, { requestsFinished }) => sum + requestsFinished, 0)).toBe(urls.length)
  expect(new Set(pages().map(({ url }) => url))).toEqual(new Set(urls))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(200)
  await robots.close()
})

test.each(['continues', 'is torn down'])(
  'a deferred request that another crawler has handled is not pending again when the crawl %s',
  async (how) => {
    const urls = answerPages(SLOW, 0.4, 3)
    const config = inMemory()
    const requestQueue = await RequestQueue.open('handled-elsewhere', { config })
    const { processedRequests } = await requestQueue.addRequests(urls.map((url) => ({ url: sites.withPort(url) })))
    const [, { requestId: id, uniqueKey }] = processedRequests as [unknown, (typeof processedRequests)[number]]
    const crawler = withRobots(
      new CheerioCrawler(
        {
          requestQueue,
          minConcurrency: 4,
          requestHandler: async ({ request }) => {
            if (!request.url.endsWith('/1')) return
            const handledAt = new Date().toISOString()
            await requestQueue.client.updateRequest({ id, uniqueKey, url: uniqueKey, handledAt })
            if (how === 'is torn down') void crawler.teardown()
          },
        },
        config,
      ),
      { userAgent, minDelayMs: 0, deferBeyondMs: 50 },
    )
    await crawler.run()
    if (how === 'is torn down') await crawler.run()
    expect(pages().map(({ url }) => url)).toEqual([urls[0], urls[2]])
  },
)
