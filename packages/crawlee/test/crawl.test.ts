// @module-tag full
// A polite crawler as its user sees it, over real sockets: skipped requests, failed requests,
// redirects, request headers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type BaseHttpClient,
  BasicCrawler,
  GotScrapingHttpClient,
  type HttpRequest,
  type HttpResponse,
  Log,
  Logger,
  LogLevel,
  ProxyConfiguration,
  type RedirectHandler,
  RequestQueue,
  type ResponseTypes,
  type StreamingHttpResponse,
} from '@crawlee/basic'
import { CheerioCrawler, type CheerioCrawlerOptions } from '@crawlee/cheerio'
import { HttpCrawler } from '@crawlee/http'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { type Answer, type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { htmlPage, redirectTo } from '@politely/testkit/servers/small-pages'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { collectStarts, sinceFirstStart } from './gate-starts.ts'
import { inMemory } from './in-memory.ts'

const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const ROBOTS = `${HOME}/robots.txt`

let sites: Sites
beforeEach(async () => {
  sites = await startSites()
})
afterEach(() => sites.close())

const rules = (...lines: string[]): Reply => ({ status: 200, body: ['User-agent: *', ...lines].join('\n') })

/** What the crawler reported to its user. URLs contain `:PORT`. */
interface CrawlResult {
  readonly handled: string[]
  readonly skipped: [url: string, reason: string, because: string | undefined][]
  readonly failed: [url: string, error: Error][]
}

const withPlaceholder = (text: string) => text.replaceAll(`:${sites.port}`, ':PORT')

async function crawl(
  urls: readonly (string | { url: string; [more: string]: unknown })[],
  { polite = {}, ...options }: CheerioCrawlerOptions & { polite?: Partial<WithRobotsOptions> } = {},
): Promise<CrawlResult> {
  const result: CrawlResult = { handled: [], skipped: [], failed: [] }
  const crawler = withRobots(
    new CheerioCrawler(
      {
        maxRequestRetries: 2,
        ...options,
        requestHandler: async (context) => {
          result.handled.push(withPlaceholder(context.request.loadedUrl))
          if (typeof options.requestHandler === 'function') await options.requestHandler(context)
        },
        failedRequestHandler: ({ request }, error) => void result.failed.push([withPlaceholder(request.url), error]),
        onSkippedRequest: (skipped) =>
          void result.skipped.push([withPlaceholder(skipped.url), skipped.reason, verdictOf(skipped)?.because]),
      },
      inMemory(),
    ),
    { userAgent, minDelayMs: 0, retries: 0, ...polite } as WithRobotsOptions,
  )
  const here = (url: string) => sites.withPort(url)
  await crawler.run(urls.map((one) => (typeof one === 'string' ? here(one) : { ...one, url: here(one.url) })))
  return result
}

const pages = () => sites.requests.filter(({ url }) => !url.endsWith('/robots.txt'))

describe('skipped requests', () => {
  test('disallowed links are not queued, and onSkippedRequest gets the verdict', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, htmlPage('<a href="/private/a">a</a><a href="/b">b</a>'))
    sites.respond(`${HOME}/b`, htmlPage())
    const enqueued: string[] = []
    const result = await crawl([`${HOME}/`], {
      requestHandler: async ({ enqueueLinks }) => {
        const { processedRequests } = await enqueueLinks()
        enqueued.push(...processedRequests.map(({ uniqueKey }) => withPlaceholder(uniqueKey)))
      },
    })
    expect(enqueued).toEqual([`${HOME}/b`])
    expect(result.skipped).toEqual([[`${HOME}/private/a`, 'robotsTxt', 'rule']])
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/`, `${HOME}/b`])
  })

  test('our choice: links to another origin are queued, and checked when their turn comes', async () => {
    sites.respond(ROBOTS, rules('Disallow: /open'))
    sites.respond(`${OTHER}/robots.txt`, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, htmlPage(sites.withPort(`<a href="${OTHER}/private">a</a><a href="${OTHER}/open">b</a>`)))
    sites.respond(`${OTHER}/open`, htmlPage())
    const result = await crawl([`${HOME}/`], {
      requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks({ strategy: 'all' })),
    })
    expect(result.skipped).toEqual([[`${OTHER}/private`, 'robotsTxt', 'rule']])
    expect(result.handled).toEqual([`${HOME}/`, `${OTHER}/open`])
  })

  test('a robotsTxtFile that is passed to enqueueLinks must also allow a link', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, htmlPage('<a href="/private">a</a><a href="/b">b</a><a href="/c">c</a>'))
    sites.respond(`${HOME}/c`, htmlPage())
    const result = await crawl([`${HOME}/`], {
      requestHandler: async ({ enqueueLinks }) => {
        await enqueueLinks({ robotsTxtFile: { isAllowed: (url: string) => !url.endsWith('/b') } as never })
      },
    })
    expect(result.skipped).toEqual([
      [`${HOME}/private`, 'robotsTxt', 'rule'],
      [`${HOME}/b`, 'robotsTxt', 'no-rule-matched'],
    ])
    expect(result.handled).toEqual([`${HOME}/`, `${HOME}/c`])
  })

  test.each<[string, CheerioCrawlerOptions['respectRobotsTxtFile']]>([
    ['absent', undefined],
    ['false', false],
    ['true', true],
    ['another userAgent', { userAgent: 'OtherBot' }],
  ])('with respectRobotsTxtFile %s, robots.txt is fetched once, with the crawler’s User-Agent', async (_, given) => {
    sites.respond(ROBOTS, rules('Disallow: /private', '', 'User-agent: OtherBot', 'Disallow: /'))
    sites.respond(`${HOME}/open`, htmlPage('<a href="/private">a</a>'))
    const result = await crawl([`${HOME}/private`, `${HOME}/open`], {
      ...(given !== undefined && { respectRobotsTxtFile: given }),
      requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
    })
    expect(result.handled).toEqual([`${HOME}/open`])
    expect(result.skipped.map(([url]) => url)).toEqual([`${HOME}/private`, `${HOME}/private`])
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/open`])
    expect(sites.requests[0]?.headers['user-agent']).toBe(userAgent)
  })

  test('if robots.txt is unreachable, the verdict contains the time of the next attempt (RFC 9309 §2.3.1.4)', async () => {
    sites.respond(ROBOTS, { status: 503, headers: { 'retry-after': '120' } })
    const skipped: unknown[] = []
    const crawler = withRobots(
      new CheerioCrawler({ onSkippedRequest: (one) => void skipped.push(verdictOf(one)) }, inMemory()),
      { userAgent, retries: 0, now: () => 1_000 },
    )
    await crawler.run([sites.withPort(`${HOME}/`)])
    expect(skipped).toMatchObject([{ because: 'unreachable', access: { status: 503, nextAttemptAt: 121_000 } }])
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })
})

describe('failed requests', () => {
  test.each([
    ['disallows it', '/private', 'rule'],
    ['is unreachable, with an error that Crawlee takes for one of a proxy', 'http://127.0.0.1:1/', 'unreachable'],
  ])('a redirected request is skipped if robots.txt %s', async (_, target, because) => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/hop`, redirectTo(target))
    const { failed, skipped } = await crawl([`${HOME}/hop`])
    expect({ failed, skipped }).toEqual({ failed: [], skipped: [[`${HOME}/hop`, 'robotsTxt', because]] })
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/hop`])
  })

  test('sendRequest of a handler is checked, also after a redirect', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/hop`, redirectTo('/private'))
    sites.respond(`${HOME}/open`, htmlPage())
    const seen: unknown[] = []
    const crawler = withRobots(
      new BasicCrawler(
        {
          requestHandler: async ({ sendRequest }) => {
            seen.push((await sendRequest()).body)
            for (const path of ['/private', '/hop']) {
              await sendRequest({ url: sites.withPort(`${HOME}${path}`) }).catch((error) => seen.push(error.code))
            }
          },
        },
        inMemory(),
      ),
      { userAgent, minDelayMs: 0 },
    )
    await crawler.run([sites.withPort(`${HOME}/open`)])
    expect(seen).toEqual([htmlPage().body, 'ERR_POLITELY_DISALLOWED', 'ERR_POLITELY_DISALLOWED'])
  })

  test('run() rejects if the gate’s client is closed', async () => {
    const robots = new RobotsClient({ userAgent })
    const gate = new PoliteGate({ robots })
    await robots.close()
    const crawler = withRobots(new HttpCrawler({ requestHandler: () => undefined }, inMemory()), { gate })
    await expect(crawler.run([sites.withPort(`${HOME}/`)])).rejects.toMatchObject({
      code: 'ERR_POLITELY_CLIENT_CLOSED',
    })
    expect(sites.requestedUrls).toEqual([])
  })

  test.each<[string, Answer, number]>([
    ['waits at the gate', rules('Crawl-delay: 60'), Number.POSITIVE_INFINITY],
    ['is deferred', rules('Crawl-delay: 60'), 20],
    ['waits for robots.txt', new Promise(() => undefined), Number.POSITIVE_INFINITY],
  ])(
    'after an abort, run() rejects with the signal’s reason, and a request that %s goes back to the queue',
    async (_, robotsTxt, deferBeyondMs) => {
      const urls = ['a', 'b'].map((path) => sites.withPort(`${HOME}/${path}`))
      for (const path of ['a', 'b']) sites.respond(`${HOME}/${path}`, htmlPage())
      sites.respond(ROBOTS, robotsTxt)
      const config = inMemory()
      const requestQueue = await RequestQueue.open('aborted', { config })
      const failed: unknown[] = []
      const ending = new AbortController()
      const reason = new Error('enough for today')
      const crawler = withRobots(
        new CheerioCrawler(
          {
            requestQueue,
            minConcurrency: 4,
            requestHandler: () => undefined,
            failedRequestHandler: (_, error) => void failed.push(error),
          },
          config,
        ),
        { userAgent, minDelayMs: 0, deferBeyondMs, signal: ending.signal },
      )
      const ended = expect(crawler.run(urls)).rejects.toBe(reason)
      const firstRequest = robotsTxt instanceof Promise ? ROBOTS : `${HOME}/a`
      await vi.waitFor(() => expect(sites.requestedUrls).toContain(firstRequest), 10_000)
      ending.abort(reason)
      await ended
      expect(failed).toEqual([])
      await expect(crawler.run(urls)).rejects.toBe(reason)
      const lockHead = () => requestQueue.client.listAndLockHead({ limit: 2, lockSecs: 1 })
      await expect.poll(async () => (await lockHead()).items).not.toEqual([])
    },
  )

  test.each([
    'before a run that has no request',
    'after a run has begun and before its pool starts',
    'while a handler never ends',
  ])('run() rejects with the reason of an abort %s', async (when) => {
    sites.respond(`${HOME}/`, htmlPage())
    const ending = new AbortController()
    const reason = new Error('enough for today')
    const requestHandler = () => {
      ending.abort(reason)
      return new Promise<void>(() => undefined)
    }
    const crawler = withRobots(new CheerioCrawler({ requestHandler }, inMemory()), {
      userAgent,
      minDelayMs: 0,
      signal: ending.signal,
    })
    if (when.startsWith('before')) ending.abort(reason)
    if (when.startsWith('after'))
      vi.spyOn(crawler.stats, 'startCapturing').mockImplementation(async () => ending.abort(reason))
    await expect(crawler.run(when.startsWith('before') ? [] : [sites.withPort(`${HOME}/`)])).rejects.toBe(reason)
    expect(pages()).toHaveLength(when.startsWith('while') ? 1 : 0)
  })

  test('a store that throws does not affect requests', async () => {
    sites.respond(`${HOME}/`, htmlPage())
    const fail = () => Promise.reject(new Error('no store today'))
    const result = await crawl([`${HOME}/`], { polite: { store: { get: fail, set: fail, delete: fail } as never } })
    expect(result.handled).toEqual([`${HOME}/`])
  })

  test('Crawlee’s retry of a 429 response waits for Retry-After', async () => {
    sites.respond(`${HOME}/`, { status: 429, headers: { 'retry-after': '1' } }, htmlPage())
    const result = await crawl([`${HOME}/`])
    const [first, second] = pages()
    expect(result.handled).toEqual([`${HOME}/`])
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(900)
  })
})

test('a page waits for the Retry-After of robots.txt', async () => {
  sites.respond(ROBOTS, { status: 404, headers: { 'retry-after': '1' } })
  sites.respond(`${HOME}/`, htmlPage())
  const result = await crawl([`${HOME}/`])
  expect(result.handled).toEqual([`${HOME}/`])
  expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/`])
  const [robots, page] = sites.requests.map(({ at }) => at)
  expect((page ?? 0) - (robots ?? 0)).toBeGreaterThanOrEqual(1_000)
})

describe('redirects', () => {
  test('a cookie that a redirect sets is sent with the next hops, and handlers see the final URL and redirectUrls', async () => {
    sites.respond(`${HOME}/hop`, { ...redirectTo('/step'), headers: { location: '/step', 'set-cookie': 'a=1' } })
    sites.respond(`${HOME}/step`, redirectTo('/end'))
    sites.respond(`${HOME}/end`, htmlPage())
    const seen: unknown[] = []
    const result = await crawl([`${HOME}/hop`], {
      requestHandler: ({ response }) =>
        void seen.push(response.redirectUrls.map((url: URL) => withPlaceholder(String(url)))),
    })
    expect(result.handled).toEqual([`${HOME}/end`])
    expect(pages().map(({ url, headers }) => [url, headers.cookie])).toEqual([
      [`${HOME}/hop`, undefined],
      [`${HOME}/step`, 'a=1'],
      [`${HOME}/end`, 'a=1'],
    ])
    expect(seen).toEqual([[`${HOME}/step`, `${HOME}/end`]])
  })

  test.each<[string, number, { method: 'POST'; payload: string }, [string, string | undefined]]>([
    ['303', 303, { method: 'POST', payload: 'a=1' }, ['GET', undefined]],
    ['302', 302, { method: 'POST', payload: 'a=1' }, ['GET', undefined]],
    ['307', 307, { method: 'POST', payload: 'a=1' }, ['POST', 'text/plain']],
  ])('a POST that is redirected with %s continues as in fetch', async (_, status, request, expected) => {
    sites.respond(`${HOME}/hop`, { status, headers: { location: '/end' } })
    sites.respond(`${HOME}/end`, htmlPage())
    await crawl([
      { url: `${HOME}/hop`, ...request, headers: { 'content-type': 'text/plain' }, useExtendedUniqueKey: true },
    ])
    const end = pages().find(({ url }) => url === `${HOME}/end`)
    expect([end?.method, end?.headers['content-type']]).toEqual(expected)
  })

  test('an Authorization header is not sent to another origin', async () => {
    sites.respond(`${HOME}/hop`, redirectTo(`${OTHER}/end`))
    sites.respond(`${OTHER}/end`, htmlPage())
    await crawl([{ url: `${HOME}/hop`, headers: { Authorization: 'Basic eDp5', 'x-other': 'kept' } }])
    expect(pages().map(({ headers }) => [headers.authorization, headers['x-other']])).toEqual([
      ['Basic eDp5', 'kept'],
      [undefined, 'kept'],
    ])
  })

  test.each([
    ['a redirect loop', '/hop', /was redirected more than 10 times/, 11],
    [
      'a redirect to a URL that is not http',
      'ftp://user:secret@localhost/',
      /redirects to "ftp:\/\/localhost\/", which is not an http or https URL/,
      1,
    ],
  ])('%s fails and is not retried', async (_, location, message, requests) => {
    sites.respond(`${HOME}/hop`, redirectTo(location))
    const result = await crawl([`${HOME}/hop`])
    expect(result.failed.map(([, error]) => error)).toMatchObject([
      { code: 'ERR_POLITELY_REDIRECT', message: expect.stringMatching(message) },
    ])
    expect(pages()).toHaveLength(requests)
  })

  test.each([
    ['requestHandlerTimeoutSecs', 0.5, undefined, /^requestHandler timed out/],
    ['its own signal, which also releases its permit', 60, 300, /aborted/],
  ])('a sendRequest whose redirect has an endless body is ended by %s', async (_, handlerSecs, signalMs, message) => {
    const endless = 'HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 10\r\n\r\nx'
    sites.respond(`${HOME}/hop`, (socket) => void socket.write(endless))
    sites.respond(`${HOME}/`, htmlPage())
    sites.respond(`${HOME}/after`, htmlPage())
    const result = await crawl([`${HOME}/`], {
      polite: { maxConcurrentPerKey: 1 },
      maxRequestRetries: 0,
      requestHandlerTimeoutSecs: handlerSecs,
      requestHandler: async ({ request, sendRequest, addRequests }) => {
        if (!request.url.endsWith('/')) return
        if (signalMs !== undefined) await addRequests([sites.withPort(`${HOME}/after`)])
        const signal = signalMs === undefined ? {} : { signal: AbortSignal.timeout(signalMs) }
        await sendRequest({ url: sites.withPort(`${HOME}/hop`), ...signal })
      },
    })
    expect(result.failed.map(([url, error]) => [url, error.message])).toEqual([
      [`${HOME}/`, expect.stringMatching(message)],
    ])
    expect(result.handled).toEqual([`${HOME}/`, ...(signalMs === undefined ? [] : [`${HOME}/after`])])
  })

  test('sendRequest respects the option followRedirect', async () => {
    sites.respond(`${HOME}/hop`, redirectTo('/private'))
    sites.respond(ROBOTS, rules('Disallow: /private'))
    const seen: number[] = []
    const crawler = withRobots(
      new BasicCrawler(
        {
          requestHandler: async ({ sendRequest }) => {
            seen.push((await sendRequest({ followRedirect: false })).statusCode)
            seen.push((await sendRequest({ followRedirect: () => false })).statusCode)
          },
        },
        inMemory(),
      ),
      { userAgent, minDelayMs: 0 },
    )
    await crawler.run([sites.withPort(`${HOME}/hop`)])
    expect(seen).toEqual([302, 302])
  })
})

describe('request headers', () => {
  const sentHeaders = async (request: { headers?: Record<string, string> }, options: CheerioCrawlerOptions = {}) => {
    sites.respond(`${HOME}/`, htmlPage())
    await crawl([{ url: `${HOME}/`, ...request }], options)
    const { headers } = pages()[0] as { headers: Record<string, string> }
    return { userAgent: headers['user-agent'], clientHints: headers['sec-ch-ua'] !== undefined, accept: headers.accept }
  }

  test('our choice: the crawler’s User-Agent is sent, without generated browser headers', async () => {
    expect(await sentHeaders({})).toEqual({
      userAgent,
      clientHints: false,
      accept: expect.stringMatching(/^text\/html,/),
    })
  })

  test('the User-Agent of a request is kept', async () => {
    expect(await sentHeaders({ headers: { 'User-Agent': 'OtherBot/2.0' } })).toMatchObject({
      userAgent: 'OtherBot/2.0',
    })
  })

  test.each([
    ['a Host header of another site', { host: 'other.example' }],
    ['a pseudo-header with another path', { ':path': '/private' }],
    ['a pseudo-header with another site', { ':authority': 'other.example' }],
  ])('%s fails the request, because robots.txt is that of the URL', async (_, headers) => {
    const result = await crawl([{ url: `${HOME}/`, headers }])
    expect(result.failed).toMatchObject([[`${HOME}/`, { code: 'ERR_POLITELY_REQUEST' }]])
    expect(pages()).toEqual([])
  })

  test('headerGeneratorOptions adds generated browser headers to the crawler’s User-Agent', async () => {
    const preNavigationHooks: CheerioCrawlerOptions['preNavigationHooks'] = [
      (_, gotOptions) => void Object.assign(gotOptions, { headerGeneratorOptions: { browsers: ['chrome'] } }),
    ]
    expect(await sentHeaders({}, { preNavigationHooks })).toMatchObject({ userAgent })
    expect(Object.keys(pages()[0]?.headers ?? {})).toContain('accept-language')
  })
})

describe('the HTTP client', () => {
  class OwnClient implements BaseHttpClient {
    readonly seen: HttpRequest<keyof ResponseTypes>[] = []
    readonly #got = new GotScrapingHttpClient()
    readonly #change: object
    constructor(change: object = {}) {
      this.#change = change
    }
    async sendRequest<T extends keyof ResponseTypes = 'text'>(request: HttpRequest<T>): Promise<HttpResponse<T>> {
      this.seen.push(request)
      return this.#got.sendRequest({ ...request, ...this.#change })
    }
    async stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
      this.seen.push(request)
      return this.#got.stream({ ...request, ...this.#change }, onRedirect)
    }
  }

  test('of the user is wrapped: it makes each request and follows no redirect', async () => {
    sites.respond(`${HOME}/hop`, redirectTo('/end'))
    sites.respond(`${HOME}/end`, htmlPage())
    const httpClient = new OwnClient()
    const result = await crawl([`${HOME}/hop`], { httpClient })
    expect(result.handled).toEqual([`${HOME}/end`])
    expect(httpClient.seen.map(({ url, followRedirect }) => [withPlaceholder(String(url)), followRedirect])).toEqual([
      [`${HOME}/hop`, false],
      [`${HOME}/end`, false],
    ])
  })

  test('that follows redirects despite followRedirect: false fails the request, which is not retried', async () => {
    sites.respond(`${HOME}/hop`, redirectTo('/end'))
    sites.respond(`${HOME}/end`, htmlPage())
    const httpClient = new OwnClient({ followRedirect: true })
    const result = await crawl([`${HOME}/hop`], { httpClient })
    expect(result.handled).toEqual([])
    expect(result.failed.map(([, error]) => (error as { code?: string }).code)).toEqual([
      'ERR_POLITELY_FOLLOWING_CLIENT',
    ])
  })

  /** Starts two proxies that answer every request themselves, and records what they get. */
  async function startProxies() {
    const seen: string[] = []
    const servers = ['first', 'second'].map((name) =>
      createServer((request, response) => {
        seen.push(
          `${name}: ${withPlaceholder(request.url ?? '')} ${request.headers['proxy-authorization'] ?? ''}`.trim(),
        )
        const isRobots = request.url?.endsWith('/robots.txt')
        response.writeHead(200, { 'content-type': isRobots ? 'text/plain' : 'text/html' })
        response.end(isRobots ? 'User-agent: *\nDisallow: /private' : '<title>from the proxy</title>')
      }),
    )
    const proxyUrls = []
    for (const server of servers) {
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      proxyUrls.push(`http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}`)
    }
    onTestFinished(() => {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    })
    return { seen, proxyUrls }
  }
  const CREDENTIALS = `Basic ${Buffer.from('user:secret').toString('base64')}`

  test('uses Crawlee’s proxies for pages and for robots.txt, a new one for each request', async () => {
    const { seen, proxyUrls } = await startProxies()
    const result = await crawl([`${HOME}/`, `${HOME}/private`], {
      proxyConfiguration: new ProxyConfiguration({ proxyUrls }),
    })
    expect(result.handled).toEqual([`${HOME}/`])
    expect(result.skipped).toEqual([[`${HOME}/private`, 'robotsTxt', 'rule']])
    expect(seen).toEqual([`first: ${ROBOTS} ${CREDENTIALS}`, `second: ${HOME}/ ${CREDENTIALS}`])
    expect(sites.requestedUrls).toEqual([])
  })

  test("with robotsVia: 'own', robots.txt is fetched without Crawlee’s proxies", async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    const { seen, proxyUrls } = await startProxies()
    const result = await crawl([`${HOME}/`], {
      proxyConfiguration: new ProxyConfiguration({ proxyUrls }),
      polite: { robotsVia: 'own' },
    })
    expect(result.handled).toEqual([`${HOME}/`])
    expect(seen).toEqual([`first: ${HOME}/ ${CREDENTIALS}`])
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('a request for which Crawlee has no proxy goes to the site, also for robots.txt', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, htmlPage())
    const proxyConfiguration = new ProxyConfiguration({ newUrlFunction: () => null })
    const result = await crawl([`${HOME}/`], { proxyConfiguration })
    expect(result.handled).toEqual([`${HOME}/`])
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/`])
  })
})

describe('the log', () => {
  /** Crawls with a separate log, and returns the warnings and errors that the user sees. */
  async function logOf(
    urls: readonly string[],
    options: Parameters<typeof crawl>[1] = {},
  ): Promise<{ warnings: string[]; errors: string[] }> {
    const warnings: string[] = []
    const errors: string[] = []
    class Recorder extends Logger {
      override _log(level: number, message: string): void {
        if (level === LogLevel.WARNING) warnings.push(withPlaceholder(message))
        if (level === LogLevel.ERROR) errors.push(withPlaceholder(message))
      }
    }
    const log = new Log({ level: LogLevel.WARNING, logger: new Recorder({}) })
    await crawl(urls, { ...options, log } as CheerioCrawlerOptions)
    return { warnings, errors }
  }
  const warningsOf = async (...args: Parameters<typeof logOf>) => (await logOf(...args)).warnings
  const REST = `. Further requests to ${HOME} that are skipped for this reason are not logged; onSkippedRequest gets them all`

  test('says once for each origin that robots.txt is unreachable', async () => {
    sites.respond(ROBOTS, { status: 500 })
    const warnings = await warningsOf([`${HOME}/a`, `${HOME}/b`, `${HOME}/c`])
    expect(warnings).toEqual([`Skipping request ${HOME}/a: disallowed: robots.txt is unreachable (status 500)${REST}`])
  })

  test('quotes the rule that disallows a request', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    const warnings = await warningsOf([`${HOME}/private/a`, `${HOME}/private/b`])
    expect(warnings).toEqual([
      `Skipping request ${HOME}/private/a: disallowed: line 2 of robots.txt says "Disallow: /private" to *${REST}`,
    ])
  })

  test('says in one line why a redirected request is skipped', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/hop`, redirectTo('/private/a'))
    expect(await logOf([`${HOME}/hop`], { maxRequestRetries: 3 })).toEqual({
      warnings: [
        `Skipping request ${HOME}/hop: it leads to ${HOME}/private/a, which is disallowed: line 2 of robots.txt says "Disallow: /private" to *${REST}`,
      ],
      errors: [],
    })
  })

  test('does not speak of retries if there were none', async () => {
    sites.respond(`${HOME}/hop`, redirectTo('/hop'))
    const { errors } = await logOf([`${HOME}/hop`], { maxRequestRetries: 3 })
    expect(errors).toEqual([
      `Request failed, and is not retried: ${HOME}/hop was redirected more than 10 times, the last time by ${HOME}/hop`,
    ])
  })

  test('keeps all other messages', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, { status: 500 })
    const { warnings, errors } = await logOf([`${HOME}/`], { maxRequestRetries: 1 })
    expect(warnings).toEqual([expect.stringMatching(/^Reclaiming failed request back to the list or queue/)])
    expect(errors).toEqual([expect.stringMatching(/^Request failed and reached maximum retries/)])
  })
})

describe('runs', () => {
  test('a second run reuses robots.txt and keeps the crawl-delay after the first run’s last request', async () => {
    sites.respond(ROBOTS, rules('Crawl-delay: 0.7'))
    for (const path of ['/1', '/2']) sites.respond(`${HOME}${path}`, htmlPage())
    const crawler = withRobots(new CheerioCrawler({ requestHandler: () => undefined }, inMemory()), {
      userAgent,
      minDelayMs: 0,
    })
    const starts = collectStarts()
    await crawler.run([sites.withPort(`${HOME}/1`)])
    await crawler.run([sites.withPort(`${HOME}/2`)])
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/1`, `${HOME}/2`])
    expect(sinceFirstStart(starts, pages()[1])).toBeGreaterThanOrEqual(700)
  })

  test('a gate that the caller passes is used and not closed', async () => {
    sites.respond(`${HOME}/`, htmlPage())
    const robots = new RobotsClient({ userAgent })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    const crawler = withRobots(new CheerioCrawler({ requestHandler: () => undefined }, inMemory()), { gate })
    await crawler.run([sites.withPort(`${HOME}/`)])
    expect(gate.counters.started).toBe(1)
    expect((await gate.when(sites.withPort(`${HOME}/`))).allowed).toBe(true)
    gate.close()
    await robots.close()
  })
})

test('with `obey: { rules: false }` for one site, its disallowed pages and links are crawled', async () => {
  const emitWarning = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => void emitWarning.mockRestore())
  for (const site of [HOME, OTHER]) sites.respond(`${site}/robots.txt`, rules('Disallow: /private'))
  sites.respond(`${HOME}/private/1`, htmlPage('<a href="/private/2">next</a>'))
  sites.respond(`${HOME}/private/2`, htmlPage())
  const { handled, skipped } = await crawl([`${HOME}/private/1`, `${OTHER}/private/1`], {
    polite: { pace: (origin) => (origin.includes('localhost') ? { obey: { rules: false } } : undefined) },
    requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
  })
  expect(handled).toEqual([`${HOME}/private/1`, `${HOME}/private/2`])
  expect(skipped).toEqual([[`${OTHER}/private/1`, 'robotsTxt', 'rule']])
})

test('a request over the budget fails, and is not retried', async () => {
  for (const name of ['1', '2', '3']) sites.respond(`${HOME}/${name}`, htmlPage())
  const { handled, failed } = await crawl(
    ['1', '2', '3'].map((name) => `${HOME}/${name}`),
    {
      maxConcurrency: 1,
      polite: { budget: 2 },
    },
  )
  expect(handled).toHaveLength(2)
  expect(failed.map(([, error]) => (error as { code?: string }).code)).toEqual(['ERR_POLITELY_BUDGET'])
  expect(pages()).toHaveLength(2)
})

test.each<[string, Answer]>([
  ['timeout', new Promise(() => undefined)],
  ['reset', (socket) => void socket.destroy()],
])('a %s counts with backoff.failures', async (_, answer) => {
  sites.respond(`${HOME}/`, answer)
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs: 0, backoff: { failures: true } })
  const options = { maxRequestRetries: 0, navigationTimeoutSecs: 0.3, requestHandler: () => undefined }
  await withRobots(new CheerioCrawler(options, inMemory()), { gate }).run([sites.withPort(`${HOME}/`)])
  expect(gate.counters).toMatchObject({ done: 1, pushbacks: 1 })
  gate.close()
  await robots.close()
})
