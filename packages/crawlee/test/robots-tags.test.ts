// @module-tag browser
// @module-tag full
// What may be done with crawled pages: `usageOf(context)`, and the option `robotsTags`.
import { BasicCrawler } from '@crawlee/basic'
import { CheerioCrawler, createCheerioRouter } from '@crawlee/cheerio'
import { HttpCrawler } from '@crawlee/http'
import { PlaywrightCrawler } from '@crawlee/playwright'
import { PuppeteerCrawler } from '@crawlee/puppeteer'
import type { ClientUsage } from '@politely/fetcher'
import { chromiumLaunch, findBrowser, isMissing } from '@politely/testkit/parts'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { htmlPage, redirectTo } from '@politely/testkit/servers/small-pages'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import { OptionError, robotsTagOf, usageOf, verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { inMemory, withoutFingerprints } from './in-memory.ts'

const HOME = 'http://localhost:PORT'
const ROBOTS: Reply = { status: 200, body: 'User-agent: *\nContent-Usage: train-ai=n\nDisallow: /private\n' }
const FILE = `${HOME}/.well-known/tdmrep.json`
const chromium = findBrowser()

let sites: Sites
beforeEach(async () => {
  sites = await startSites()
  sites.respond(`${HOME}/robots.txt`, ROBOTS)
})
afterEach(() => sites.close())

/** The part of a context that these tests use. */
interface Context {
  readonly crawler: object
  readonly request: { readonly url: string; readonly userData: Record<string, unknown> }
  readonly page: { evaluate(script: string): Promise<unknown> }
  enqueueLinks(options?: object): Promise<{ readonly processedRequests: readonly unknown[] }>
}

interface Options {
  readonly requestHandler: (context: Context) => Promise<void>
  readonly [more: string]: unknown
}

type Make = (options: Options) => AnyCrawler

const cheerio: Make = (options) => new CheerioCrawler(options as never, inMemory())
const http: Make = (options) => new HttpCrawler(options as never, inMemory())
const withChromium = (options: Options) => ({
  ...options,
  browserPoolOptions: withoutFingerprints,
  launchContext: { launchOptions: chromiumLaunch(chromium) },
})
const playwright: Make = (options) => new PlaywrightCrawler(withChromium(options) as never, inMemory())
const puppeteer: Make = (options) => new PuppeteerCrawler(withChromium(options) as never, inMemory())

/** Crawls one page. Rejects with the first error of a handler. */
async function crawl(make: Make, path: string, options: Options, polite: Partial<WithRobotsOptions> = {}) {
  const errors: Error[] = []
  const crawler = make({
    maxRequestRetries: 0,
    ...options,
    failedRequestHandler: (_: unknown, error: Error) => void errors.push(error),
  })
  withRobots(crawler, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, ...polite } as WithRobotsOptions)
  await crawler.run([sites.withPort(`${HOME}${path}`)])
  if (errors[0] !== undefined) throw errors[0]
}

async function usageAt(make: Make, path: string, more: object = {}): Promise<ClientUsage> {
  let usage: ClientUsage | undefined
  const requestHandler = async (context: Context) => {
    usage = await usageOf(context)
  }
  await crawl(make, path, { ...more, requestHandler })
  return usage as ClientUsage
}

/** A page whose lines of X-Robots-Tag are ambiguous if they are joined. */
const TAGGED = htmlPage('text', { 'x-robots-tag': ['otherbot: noarchive', 'nosnippet'] })
const withHead = (head: string): Reply => ({
  ...TAGGED,
  body: `<!doctype html><head>${head}</head><body><a href="/b">b</a>`,
})

const ofHttp: readonly (readonly [string, Make])[] = [
  ['CheerioCrawler', cheerio],
  ['HttpCrawler', http],
]
const ofBrowsers: readonly (readonly [string, Make])[] = [
  ['PlaywrightCrawler', playwright],
  ['PuppeteerCrawler', puppeteer],
]
const canRunBrowsers = !isMissing('chromium', chromium)

describe.each([...ofHttp, ...(canRunBrowsers ? ofBrowsers : [])])('usageOf(context) of %s', (kind, make) => {
  test('reads robots.txt, tdmrep.json, headers and head, of the URL after redirects', async () => {
    sites.respond(`${HOME}/old`, redirectTo('/page'))
    sites.respond(`${HOME}/page`, withHead('<meta name="robots" content="noindex">'))
    const usage = await usageAt(make, '/old')
    expect(usage).toMatchObject({
      url: sites.withPort(`${HOME}/page`),
      page: { reading: 'read' },
      tdmrep: { reading: 'none' },
      purposes: {
        index: { answer: 'disallowed', statements: [{ source: { in: 'html' } }] },
        archive: { answer: 'unstated' }, // the first line is for OtherBot
        'train-ai': { answer: 'disallowed', statements: [{ source: { line: 2 } }] },
      },
    })
    expect(usage.directives).toMatchObject({ nosnippet: true, uncertain: [], noarchive: false })
    expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`, `${HOME}/old`, `${HOME}/page`, FILE])
  })

  test('reads the headers of a page that is not HTML', async () => {
    sites.respond(`${HOME}/data`, {
      status: 200,
      headers: { 'content-type': 'application/json', 'x-robots-tag': 'noindex' },
      body: '"<meta name=robots content=nofollow>"',
    })
    const usage = await usageAt(
      make,
      '/data',
      kind === 'CheerioCrawler' || kind === 'HttpCrawler' ? { additionalMimeTypes: ['application/json'] } : {},
    )
    expect(usage.page).toEqual({ reading: 'headers-only', why: 'no HTML was given' })
    expect([usage.purposes.index.answer, usage.purposes.follow.answer]).toEqual(['disallowed', 'unstated'])
  })

  test('says of an error page that it is not the page', async () => {
    sites.respond(`${HOME}/gone`, { ...withHead('<meta name="robots" content="noindex">'), status: 404 })
    const usage = await usageAt(make, '/gone', { retryOnBlocked: false })
    expect(usage.page).toEqual({ reading: 'not-the-page', why: 'the response has the status 404' })
    expect(usage.purposes.index.answer).toBe('unstated')
  })
})

test('usageOf reads a body in the encoding of its Content-Type', async () => {
  const head = Buffer.from('<head><meta name=robots content=noindex></head>', 'utf16le')
  sites.respond(`${HOME}/page`, { status: 200, headers: { 'content-type': 'text/html; charset=utf-16le' }, body: head })
  expect((await usageAt(http, '/page')).purposes.index.answer).toBe('disallowed')
})

test('usageOf keeps the lines of a header apart if Crawlee converts the encoding of the body', async () => {
  const headers = { ...TAGGED.headers, 'content-type': 'text/html; charset=windows-1251' }
  sites.respond(`${HOME}/page`, { status: 200, headers, body: '<head><meta name=robots content=noindex></head>' })
  const { directives } = await usageAt(cheerio, '/page')
  expect(directives).toMatchObject({ noindex: true, nosnippet: true, uncertain: [] })
})

test.runIf(canRunBrowsers)('an unclear refusal counts if Puppeteer joins the lines of a header', async () => {
  sites.respond(`${HOME}/`, htmlPage('<a href="/b">b</a>', { 'x-robots-tag': ['otherbot: noarchive', 'none'] }))
  const crawled = await crawlLinks(puppeteer, { robotsTags: 'obey', pageRequests: 'ignore' })
  expect(crawled).toEqual({
    handled: [['/', { noindex: true, nofollow: true }]],
    skipped: [['/b', 'filters', 'none', 'X-Robots-Tag', undefined]],
    enqueued: [0],
  })
})

test('the time limit of a handler stands still while usageOf fetches its own files', async () => {
  sites.respond(`${HOME}/page`, withHead(''))
  const held = Promise.withResolvers<Reply>()
  sites.respond(FILE, held.promise)
  setTimeout(() => held.resolve({ status: 404 }), 3_000)
  const usage = await usageAt(cheerio, '/page', { requestHandlerTimeoutSecs: 2 })
  expect(usage.tdmrep.reading).toBe('none')
})

test('usageOf rejects for other values', async () => {
  await expect(usageOf(undefined as never)).rejects.toThrow('context: undefined is not a context')
  const context = { request: { url: 'https://a.test/' }, crawler: {} }
  await expect(usageOf(context)).rejects.toThrow('context: its crawler is not polite; write withRobots(crawler')
})

interface Skipped {
  readonly url: string
  readonly reason: string
}

/** What a crawl with links did. */
async function crawlLinks(
  make: Make,
  polite: Partial<WithRobotsOptions>,
  before?: (context: Context) => Promise<void>,
) {
  const handled: unknown[] = []
  const skipped: unknown[] = []
  const enqueued: number[] = []
  await crawl(
    make,
    '/',
    {
      requestHandler: async (context) => {
        handled.push([new URL(context.request.url).pathname, context.request.userData.politely])
        await before?.(context)
        enqueued.push((await context.enqueueLinks()).processedRequests.length)
      },
      onSkippedRequest: (one: Skipped) => {
        const { name, source } = robotsTagOf(one) ?? {}
        skipped.push([new URL(one.url).pathname, one.reason, name, source?.name, verdictOf(one)?.because])
      },
    },
    polite,
  )
  return { handled, skipped, enqueued }
}

describe.each([...ofHttp.slice(0, 1), ...(canRunBrowsers ? ofBrowsers : [])])(
  "robotsTags: 'obey' with %s",
  (_, make) => {
    const obey = { robotsTags: 'obey' } as const

    test('links of a page with nofollow are not enqueued, and its request is marked', async () => {
      sites.respond(`${HOME}/`, withHead('<meta name="examplebot" content="none">'))
      sites.respond(`${HOME}/b`, htmlPage())
      expect(await crawlLinks(make, obey)).toEqual({
        handled: [['/', { noindex: true, nofollow: true }]],
        skipped: [['/b', 'filters', 'none', 'examplebot', undefined]],
        enqueued: [0],
      })
    })

    test('links of other pages are enqueued', async () => {
      sites.respond(`${HOME}/`, withHead('<meta name="otherbot" content="none"><meta name="robots" content="noindex">'))
      sites.respond(`${HOME}/b`, htmlPage())
      expect(await crawlLinks(make, obey)).toEqual({
        handled: [
          ['/', { noindex: true, nofollow: false }],
          ['/b', { noindex: false, nofollow: false }],
        ],
        skipped: [],
        enqueued: [1, 0],
      })
    })
  },
)

test.each([{ robotsTags: 'ignore' }, {}] as const)('%j: robots tags have no effect', async (polite) => {
  sites.respond(`${HOME}/`, withHead('<meta name="robots" content="none">'))
  sites.respond(`${HOME}/b`, htmlPage())
  const { handled, skipped } = await crawlLinks(cheerio, polite)
  expect({ handled, skipped }).toEqual({
    handled: [
      ['/', undefined],
      ['/b', undefined],
    ],
    skipped: [],
  })
})

test("robotsTags: 'obey' keeps the router of the crawler", async () => {
  sites.respond(`${HOME}/`, withHead('<meta name="robots" content="noindex">'))
  const router = createCheerioRouter()
  const marks: unknown[] = []
  router.addDefaultHandler(({ request }) => void marks.push(request.userData.politely))
  await crawl(
    (options) => cheerio({ ...options, requestHandler: router as never }),
    '/',
    { requestHandler: async () => {} },
    { robotsTags: 'obey' },
  )
  expect(marks).toEqual([{ noindex: true, nofollow: false }])
})

test("robotsTags: 'obey' needs a crawler that loads pages", () => {
  const crawler = new BasicCrawler({ requestHandler: () => undefined }, inMemory())
  const polite = () => withRobots(crawler, { userAgent: 'ExampleBot', robotsTags: 'obey' })
  expect(polite).toThrow(OptionError)
  expect(polite).toThrow("robotsTags: 'obey' needs an HTTP crawler or a browser crawler")
  expect(() =>
    withRobots(cheerio({ requestHandler: async () => {} }), { userAgent: 'ExampleBot', robotsTags: true as never }),
  ).toThrow(OptionError)
})

describe.runIf(canRunBrowsers).each(ofBrowsers)('scripts in %s', (_, make) => {
  test('the tags that the server sent and the tags of scripts both count', async () => {
    const script = (code: string) => `<script>${code}</script>`
    sites.respond(
      `${HOME}/`,
      withHead(
        `<meta name="robots" content="noindex">${script("document.querySelector('meta').remove(); document.head.append(Object.assign(document.createElement('meta'), { name: 'robots', content: 'noarchive' }))")}`,
      ),
    )
    const { purposes } = await usageAt(make, '/')
    expect([purposes.index.answer, purposes.archive.answer]).toEqual(['disallowed', 'disallowed'])
  })

  test("robotsTags: 'obey' reads the tags again when links are enqueued", async () => {
    sites.respond(`${HOME}/`, withHead(''))
    const addTag = "document.head.insertAdjacentHTML('beforeend', '<meta name=robots content=nofollow>')"
    const before = async ({ page }: Context) => void (await page.evaluate(addTag))
    const { handled, skipped } = await crawlLinks(make, { robotsTags: 'obey' }, before)
    expect(handled).toEqual([['/', { noindex: false, nofollow: false }]])
    expect(skipped).toEqual([['/b', 'filters', 'nofollow', 'robots', undefined]])
  })
})
