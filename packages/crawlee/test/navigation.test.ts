// @module-tag full
// @module-tag browser
// Requests of a browser crawler's pages: waiting redirects, page requests, and the option
// pageRequests.

import type { Socket } from 'node:net'
import { PlaywrightCrawler, type PlaywrightCrawlerOptions } from '@crawlee/playwright'
import { PuppeteerCrawler, type PuppeteerCrawlerOptions } from '@crawlee/puppeteer'
import { RobotsDisallowedError } from '@politely/gate'
import { chromiumLaunch, findBrowser, isMissing } from '@politely/testkit/parts'
import { type Reply, type Sites, startSites } from '@politely/testkit/servers/sites'
import { htmlPage, redirectTo, scriptOf } from '@politely/testkit/servers/small-pages'
import { chromium as playwright } from 'playwright'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import { refusalOf, verdictOf, type WithRobotsOptions, withRobots } from '../src/index.ts'
import { collectStarts, sinceFirstStart } from './gate-starts.ts'
import { inMemory, withoutFingerprints } from './in-memory.ts'

const chromium = findBrowser()
const userAgent = 'ExampleBot/1.0 (+https://example.com/bot)'
const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const ROBOTS = `${HOME}/robots.txt`

let sites: Sites
beforeEach(async () => {
  vi.spyOn(console, 'warn').mockReturnValue() // Crawlee warns about a POST with a browser
  sites = await startSites()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await sites.close()
})

const rules = (...lines: string[]): Reply => ({ status: 200, body: ['User-agent: *', ...lines].join('\n') })
const pages = () => sites.requestedUrls.filter((url) => url !== ROBOTS)

/** The methods that pages of Playwright and of Puppeteer have in common. */
interface AnyPage {
  url(): string
  goto(url: string): Promise<unknown>
  setContent(html: string): Promise<unknown>
}

/** Crawlee's wrapper of a browser. With Playwright, `pages` is a method of its contexts. */
interface AnyBrowser {
  newPage(): Promise<AnyPage>
  pages?(): Promise<readonly AnyPage[]>
  contexts(): readonly { pages(): readonly AnyPage[] }[]
}

type PageHook = (context: { page: AnyPage }) => Promise<void>

interface Options {
  readonly requestHandler?: PageHook
  readonly preNavigationHooks?: readonly PageHook[]
  readonly browserPoolOptions?: object
  readonly useIncognitoPages?: boolean
  readonly navigationTimeoutSecs?: number
  readonly requestHandlerTimeoutSecs?: number
  readonly maxRequestRetries?: number
}

interface CrawlResult {
  readonly handled: string[]
  readonly failed: Error[]
  readonly skipped: unknown[]
}

const kinds: readonly (readonly [string, (options: object) => AnyCrawler])[] = [
  ['PlaywrightCrawler', (options) => new PlaywrightCrawler(options as PlaywrightCrawlerOptions, inMemory())],
  ['PuppeteerCrawler', (options) => new PuppeteerCrawler(options as PuppeteerCrawlerOptions, inMemory())],
]

// Each test starts a browser.
describe.skipIf(isMissing('chromium', chromium)).each(kinds)('%s', (kind, make) => {
  async function crawl(
    request: string | { url: string; [more: string]: unknown },
    { requestHandler, useIncognitoPages = false, ...options }: Options = {},
    polite: Partial<WithRobotsOptions> = {},
  ): Promise<CrawlResult> {
    const result: CrawlResult = { handled: [], failed: [], skipped: [] }
    const crawler = withRobots(
      make({
        maxRequestRetries: 2,
        launchContext: { launchOptions: chromiumLaunch(chromium), useIncognitoPages },
        browserPoolOptions: withoutFingerprints,
        ...options,
        requestHandler: async (context: { request: { url: string; loadedUrl?: string }; page: never }) => {
          const { url, loadedUrl = url } = context.request
          result.handled.push(loadedUrl.replace(`:${sites.port}`, ':PORT'))
          await requestHandler?.(context)
        },
        failedRequestHandler: (_: unknown, error: Error) => void result.failed.push(error),
        onSkippedRequest: (skipped: { url: string; reason: string }) =>
          void result.skipped.push([skipped.reason, refusalOf(skipped)?.because ?? verdictOf(skipped)?.because]),
      }),
      { userAgent, minDelayMs: 0, retries: 0, ...polite } as WithRobotsOptions,
    )
    const { url, ...more } = typeof request === 'string' ? { url: request } : request
    await crawler.run([{ ...more, url: sites.withPort(url) }])
    return result
  }

  test('a redirect waits for its turn, and the wait does not count toward timeouts', async () => {
    sites.respond(ROBOTS, rules('Crawl-delay: 3'))
    sites.respond(`${HOME}/hop`, redirectTo('/end'))
    sites.respond(`${HOME}/end`, htmlPage())
    const starts = collectStarts()
    const result = await crawl(`${HOME}/hop`, { navigationTimeoutSecs: 2.5 })
    expect(result).toEqual({ handled: [`${HOME}/end`], failed: [], skipped: [] })
    const end = sites.requests.find(({ url }) => url === `${HOME}/end`)
    expect(sinceFirstStart(starts, end)).toBeGreaterThanOrEqual(3_000)
  })

  test('a site that does not respond exceeds navigationTimeoutSecs', async () => {
    sites.respond(`${HOME}/`, new Promise<Reply>(() => undefined))
    const result = await crawl(`${HOME}/`, { navigationTimeoutSecs: 1, maxRequestRetries: 0 })
    expect(result.failed.map(({ message }) => message)).toEqual(['Navigation timed out after 1 seconds.'])
  })

  test('a request that redirects to a disallowed page is skipped', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/hop`, redirectTo('/private'))
    expect(await crawl(`${HOME}/hop`)).toEqual({ handled: [], failed: [], skipped: [['robotsTxt', 'rule']] })
    expect(sites.requestedUrls).toEqual([ROBOTS, `${HOME}/hop`])
  })

  // Crawlee starts Playwright behind a local proxy, which answers a reset with a page of status 595.
  const seesResets = kind === 'PuppeteerCrawler'
  /** Chromium may send a request again by itself after a reset. */
  const resets = (count: number) => Array.from({ length: count }, () => (socket: Socket) => void socket.destroy())

  test.runIf(seesResets)('a request to a site that rests waits until the site is back', async () => {
    sites.respond(`${HOME}/`, ...resets(2), htmlPage())
    const circuit = { failures: 1, coolMs: 300 }
    const result = await crawl(`${HOME}/`, { maxRequestRetries: 2 }, { circuit })
    expect(result).toEqual({ handled: [`${HOME}/`], failed: [], skipped: [] })
  })

  test.runIf(seesResets)('a request to a site that stays down is skipped in the end', async () => {
    sites.respond(`${HOME}/`, ...resets(10))
    const circuit = { failures: 1, coolMs: 60_000 }
    const result = await crawl(`${HOME}/`, {}, { circuit, giveUpAfterMs: 0 })
    expect(result).toEqual({ handled: [], failed: [], skipped: [['filters', 'network']] })
  })

  test('page.goto of a handler is checked', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    for (const path of ['/', '/next', '/private']) sites.respond(`${HOME}${path}`, htmlPage())
    const failures: unknown[] = []
    await crawl(`${HOME}/`, {
      requestHandler: async (context) => {
        await context.page.goto(sites.withPort(`${HOME}/next`))
        await context.page.goto(sites.withPort(`${HOME}/private`)).catch((error) => failures.push(error))
      },
    })
    expect(failures).toEqual([expect.any(RobotsDisallowedError)])
    expect(failures).toMatchObject([
      { verdict: { because: 'rule' }, cause: { message: expect.stringContaining('net::ERR_') } },
    ])
    expect(pages()).toEqual([`${HOME}/`, `${HOME}/next`])
  })

  test('a page cannot start downloads', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    const links = ['/private/1', '/private/2', '/file'].map((path) => `<a download href="${path}">file</a>`).join('')
    const clickAll = "document.querySelectorAll('a').forEach((link) => link.click())"
    sites.respond(`${HOME}/`, htmlPage(`${links}<script>${clickAll}; setTimeout(() => fetch('/last'), 300)</script>`))
    await crawl(`${HOME}/`, { requestHandler: () => sites.requested(3) })
    expect(pages()).toEqual([`${HOME}/`, `${HOME}/last`])
  })

  /** An image that is refused, and one that is requested after that. */
  const refusedImage = (name: string) => {
    const next = sites.withPort(`${HOME}/after-${name}`)
    return `<img src="${sites.withPort(`${HOME}/private/${name}`)}" onerror="new Image().src = '${next}'">`
  }

  test.each([{ useIncognitoPages: false }, { useIncognitoPages: true }])(
    'requests in preNavigationHooks are checked from the first page of a browser on: $useIncognitoPages',
    async ({ useIncognitoPages }) => {
      sites.respond(ROBOTS, rules('Disallow: /private'))
      sites.respond(`${HOME}/`, htmlPage())
      const failures: unknown[] = []
      const hook: PageHook = async ({ page }) => {
        await page.setContent(refusedImage('image'))
        await sites.requested(2) // robots.txt, and the image that follows the refused one
        await page.goto(sites.withPort(`${HOME}/private`)).catch((error) => failures.push(error))
        // Puppeteer rejects before Chromium shows its error page. The next navigation would take
        // that page for its own.
        if (kind === 'PuppeteerCrawler') await vi.waitFor(() => expect(page.url()).toMatch(/^chrome-error:/), 30_000)
      }
      const withFingerprints = { browserPoolOptions: {} }
      const result = await crawl(`${HOME}/`, { useIncognitoPages, preNavigationHooks: [hook], ...withFingerprints })
      expect(result).toEqual({ handled: [`${HOME}/`], failed: [], skipped: [] })
      expect(failures).toEqual([expect.any(RobotsDisallowedError)])
      expect(pages()).toEqual([`${HOME}/after-image`, `${HOME}/`])
    },
  )

  test('requests in the hooks of browserPoolOptions are checked, also those of pages that the browser opens itself', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/`, htmlPage())
    const afterLaunch = async (_: string, { browser }: { browser: AnyBrowser }) => {
      const [own] = (await browser.pages?.()) ?? browser.contexts().flatMap((context) => context.pages())
      await own?.setContent(refusedImage('own'))
      await sites.requested(2)
      await (await browser.newPage()).setContent(refusedImage('launch'))
      await sites.requested(3)
    }
    const afterCreate = async (page: AnyPage) => {
      await page.setContent(refusedImage('create'))
      await sites.requested(4)
    }
    const browserPoolOptions = { postLaunchHooks: [afterLaunch], postPageCreateHooks: [afterCreate] }
    const result = await crawl(`${HOME}/`, { browserPoolOptions })
    expect(result).toEqual({ handled: [`${HOME}/`], failed: [], skipped: [] })
    expect(pages()).toEqual(['/after-own', '/after-launch', '/after-create', '/'].map((path) => `${HOME}${path}`))
  })

  test('page.goto is checked in the handler of a request with skipNavigation', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    const failures: unknown[] = []
    await crawl(
      { url: `${HOME}/`, skipNavigation: true },
      {
        requestHandler: async ({ page }) => {
          await page.goto(sites.withPort(`${HOME}/private`)).catch((error) => failures.push(error))
        },
      },
    )
    expect(failures).toEqual([expect.any(RobotsDisallowedError)])
    expect(pages()).toEqual([])
  })

  test('requests of popups, frames of other sites and workers are checked, and speculation rules cause none', async () => {
    const prefetch = JSON.stringify({ prefetch: [{ urls: ['/private/ahead'], eagerness: 'immediate' }] })
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${OTHER}/robots.txt`, rules('Disallow: /private'))
    sites.respond(`${HOME}/service.js`, scriptOf("addEventListener('install', () => fetch('/private/service'))"))
    sites.respond(`${HOME}/worker.js`, scriptOf("fetch('/private/worker').catch(() => fetch('/by-worker'))"))
    // Windows open after the frame has loaded: in Playwright with the headless shell, a frame of
    // another site that is added after a window was opened is not parsed (measured with 156 and
    // 1.65, also without Politely).
    const frame = '<img src="/private/image" onerror="new Image().src = \'/by-frame\'">'
    sites.respond(`${OTHER}/frame`, htmlPage(frame))
    sites.respond(
      `${HOME}/`,
      htmlPage(`<script type="speculationrules">${prefetch}</script><iframe src="${sites.withPort(OTHER)}/frame"
          onload="window.open('/private/window'); setTimeout(() => window.open('/window'))"></iframe>
        <script>new Worker('/worker.js'); navigator.serviceWorker.register('/service.js').catch(() => 0)</script>`),
    )
    await crawl(`${HOME}/`, { requestHandler: () => sites.requested(8) })
    expect([...new Set(pages())].sort()).toEqual(
      ['OTHER/by-frame', 'OTHER/frame', 'OTHER/robots.txt', '/', '/by-worker', '/window', '/worker.js'].map((path) =>
        path.startsWith('OTHER') ? path.replace('OTHER', OTHER) : `${HOME}${path}`,
      ),
    )
  })

  test('the wait of a frame for another robots.txt does not count toward timeouts', async () => {
    const heldResponse = Promise.withResolvers<Reply>()
    sites.respond(`${OTHER}/robots.txt`, heldResponse.promise)
    sites.respond(`${HOME}/`, htmlPage('<iframe src="/frame"></iframe>'))
    sites.respond(`${HOME}/frame`, htmlPage(`<img src="${sites.withPort(OTHER)}/image">`))
    const crawled = crawl(`${HOME}/`, { navigationTimeoutSecs: 2.5, maxRequestRetries: 0 })
    await sites.requested(4)
    setTimeout(() => heldResponse.resolve({ status: 404 }), 3_000)
    expect(await crawled).toEqual({ handled: [`${HOME}/`], failed: [], skipped: [] })
  })

  test('page.goto of a handler waits for its turn, and the wait does not count toward requestHandlerTimeoutSecs', async () => {
    sites.respond(ROBOTS, rules('Crawl-delay: 3'))
    for (const path of ['/', '/next']) sites.respond(`${HOME}${path}`, htmlPage())
    const result = await crawl(`${HOME}/`, {
      requestHandlerTimeoutSecs: 2,
      maxRequestRetries: 0,
      requestHandler: async (context) => void (await context.page.goto(sites.withPort(`${HOME}/next`))),
    })
    expect(result).toEqual({ handled: [`${HOME}/`], failed: [], skipped: [] })
    expect(pages()).toEqual([`${HOME}/`, `${HOME}/next`])
  })

  test('Crawlee’s retry of a 429 response waits for Retry-After', async () => {
    sites.respond(`${HOME}/`, { ...htmlPage(), status: 429, headers: { 'retry-after': '3' } }, htmlPage())
    const result = await crawl(`${HOME}/`)
    expect(result.handled).toEqual([`${HOME}/`])
    const [first, second] = sites.requests.filter(({ url }) => url !== ROBOTS)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2_800)
  })

  test('a POST, for which Crawlee intercepts requests itself, keeps its method, and its redirect is checked', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/form`, { status: 303, headers: { location: '/end' } })
    sites.respond(`${HOME}/end`, redirectTo('/private'))
    const result = await crawl({ url: `${HOME}/form`, method: 'POST', payload: 'a=1', useExtendedUniqueKey: true })
    expect(result).toEqual({ handled: [], failed: [], skipped: [['robotsTxt', 'rule']] })
    expect(sites.requests.map(({ method, url }) => [method, url])).toEqual([
      ['GET', ROBOTS],
      ['POST', `${HOME}/form`],
      ['GET', `${HOME}/end`],
    ])
  })

  test('with pageRequests: ignore, the retry of a 429 response also waits for Retry-After', async () => {
    sites.respond(`${HOME}/`, { ...htmlPage(), status: 429, headers: { 'retry-after': '3' } }, htmlPage())
    await crawl(`${HOME}/`, {}, { pageRequests: 'ignore' })
    const [first, second] = sites.requests.filter(({ url }) => url !== ROBOTS)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2_800)
  })

  test('with pageRequests: ignore, the page is checked, and its redirects and page.goto of a hook are not', async () => {
    sites.respond(ROBOTS, rules('Disallow: /private'))
    sites.respond(`${HOME}/hop`, redirectTo('/private'))
    sites.respond(`${HOME}/private`, htmlPage())
    sites.respond(`${HOME}/private/hook`, htmlPage())
    const hook: PageHook = async ({ page }) => void (await page.goto(sites.withPort(`${HOME}/private/hook`)))
    const result = await crawl(`${HOME}/hop`, { preNavigationHooks: [hook] }, { pageRequests: 'ignore' })
    expect(result).toEqual({ handled: [`${HOME}/private`], failed: [], skipped: [] })
    expect(pages()).toEqual([`${HOME}/private/hook`, `${HOME}/hop`, `${HOME}/private`])
  })
})

test.skipIf(isMissing('chromium', chromium))(
  'our choice: requests of a browser without the DevTools protocol fail with an OptionError, and are neither sent nor retried',
  async () => {
    const failed: Error[] = []
    // Fails like Firefox.
    const fail = () => Promise.reject(new Error('CDP session is only available in Chromium'))
    const launchPersistentContext: typeof playwright.launchPersistentContext = async (...args) => {
      const context = await playwright.launchPersistentContext(...args)
      Object.assign(context.browser() as object, { newBrowserCDPSession: fail })
      return context
    }
    const launcher = Object.create(playwright, { launchPersistentContext: { value: launchPersistentContext } })
    const crawler = withRobots(
      new PlaywrightCrawler(
        {
          launchContext: { launchOptions: chromiumLaunch(chromium), launcher },
          failedRequestHandler: (_, error) => void failed.push(error),
        },
        inMemory(),
      ),
      { userAgent },
    )
    await crawler.run([sites.withPort(`${HOME}/`)])
    expect(failed).toMatchObject([{ code: 'ERR_POLITELY_OPTION', option: 'pageRequests' }])
    expect(sites.requestedUrls).toEqual([ROBOTS])
  },
)
