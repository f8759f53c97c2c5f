// Adapts Crawlee's browser crawlers to the common cases for browsers. A tab is the page of a request
// whose handler runs until the tab is closed.
import { tmpdir } from 'node:os'
import { PlaywrightCrawler } from '@crawlee/playwright'
import { PuppeteerCrawler, type PuppeteerHook } from '@crawlee/puppeteer'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { recordSessions } from '@politely/testkit/browser/browser-lost-session-case'
import type {
  BrowserUnderTest,
  ContextUnderTest,
  PoliteUnderTest,
  TabUnderTest,
} from '@politely/testkit/browser/browser-under-test'
import { chromiumLaunch, findBrowser } from '@politely/testkit/parts'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import type { LaunchedBrowser } from '../src/driver.ts'
import { verdictOf, withRobots } from '../src/index.ts'
import { inMemory, withoutFingerprints } from './in-memory.ts'

/** What Crawlee's handlers get. */
interface Visit {
  readonly request: { readonly userData: { readonly tab?: number } }
  readonly page: TabUnderTest
}

type Session = BrowserUnderTest['sessions'][number]
type Make = (options: object) => AnyCrawler

/** The options that the cases about requests use. */
interface StartOptions {
  readonly userAgent: string
  readonly minDelayMs: number
  readonly fetch?: typeof globalThis.fetch
}

/** Puppeteer downloads nothing by default, unlike Playwright. */
const allowDownloads: PuppeteerHook = async ({ page }) => {
  const session = await page.createCDPSession()
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: tmpdir() })
}

const kinds: Readonly<Record<'PlaywrightCrawler' | 'PuppeteerCrawler', { make: Make; networkIdle: string }>> = {
  PlaywrightCrawler: { make: (options) => new PlaywrightCrawler(options, inMemory()), networkIdle: 'networkidle' },
  PuppeteerCrawler: {
    make: (options) => new PuppeteerCrawler({ ...options, preNavigationHooks: [allowDownloads] }, inMemory()),
    networkIdle: 'networkidle0',
  },
}

/** Each context is a crawler with its own browser. */
export function crawlerUnderTest(kind: keyof typeof kinds, switches: readonly string[] = []): BrowserUnderTest {
  const { make, networkIdle } = kinds[kind]
  const unused = (name: string) => () => {
    throw new Error(`the cases about requests do not use ${name}`)
  }
  const sessions: Session[] = []
  return {
    networkIdle,
    sessions,
    classes: { RobotsClient, PoliteGate, RobotsDisallowedError },
    newContext: async () => new CrawlerContext(make, switches, sessions),
    withRobots: async (context, options) => (context as CrawlerContext).start(options as never),
    launch: async (more = []) => crawlerUnderTest(kind, [...switches, ...more]),
    close: async () => undefined,
    isConnected: () => true,
    refusedPageMessage: '',
    abortReasonOf: unused('abortReasonOf'),
    redirectsTo: unused('redirectsTo'),
    stopLoading: unused('stopLoading'),
    crash: unused('crash'),
    kill: unused('kill'),
  }
}

class CrawlerContext implements ContextUnderTest {
  readonly #make: Make
  readonly #switches: readonly string[]
  readonly #sessions: Session[]
  readonly #tabs: CrawlerTab[] = []
  #crawler: AnyCrawler | undefined
  #run: Promise<unknown> | undefined

  constructor(make: Make, switches: readonly string[], sessions: Session[]) {
    this.#make = make
    this.#sessions = sessions
    this.#switches = switches
  }

  async start({ userAgent, fetch, minDelayMs }: StartOptions): Promise<PoliteUnderTest> {
    const robots = new RobotsClient({ userAgent, retries: 0, ...(fetch !== undefined && { fetch }) })
    const gate = new PoliteGate({ robots, minDelayMs })
    const tabOf = ({ request }: Visit) => this.#tabs[request.userData.tab ?? -1]
    const crawler = this.#make({
      keepAlive: true,
      browserPoolOptions: withoutFingerprints,
      maxRequestRetries: 0,
      requestHandlerTimeoutSecs: 120,
      launchContext: { userAgent, launchOptions: chromiumLaunch(findBrowser(), this.#switches) },
      requestHandler: (visit: Visit) => tabOf(visit)?.loaded(visit.page),
      failedRequestHandler: (visit: Visit, error: Error) => tabOf(visit)?.failed(error),
      onSkippedRequest: (skipped: { url: string; reason: string }) => {
        const verdict = verdictOf(skipped)
        if (verdict === undefined) return
        for (const tab of this.#tabs) if (tab.url === skipped.url) tab.failed(new RobotsDisallowedError(verdict))
      },
    })
    this.#crawler = withRobots(crawler, { gate })
    const { browserPool } = crawler as PlaywrightCrawler
    browserPool.postLaunchHooks.unshift((_, { browser }) => this.#onLaunch(browser as never))
    this.#run = crawler.run()
    const close = async () => {
      gate.close()
      await robots.close()
    }
    return { gate, refusalOf: () => undefined, close }
  }

  #onLaunch(browser: LaunchedBrowser): void {
    if ('newBrowserCDPSession' in browser) {
      const [context] = browser.contexts()
      recordSessions(context?.browser() ?? browser, 'newBrowserCDPSession', this.#sessions)
    } else {
      const driverBrowser = browser.on('disconnected', () => undefined) // the browser itself is a proxy
      recordSessions(driverBrowser.target(), 'createCDPSession', this.#sessions)
    }
  }

  async newPage(): Promise<TabUnderTest> {
    const tab = this.#tabs.length
    const visit = (url: string) =>
      this.#crawler?.addRequests([{ url, uniqueKey: `${tab}`, userData: { tab } } as never])
    this.#tabs.push(new CrawlerTab(async (url) => void (await visit(url))))
    return this.#tabs[tab] as unknown as TabUnderTest
  }

  async cookies(): Promise<never[]> {
    return []
  }

  async close(): Promise<void> {
    for (const tab of this.#tabs) tab.close()
    await this.#crawler?.teardown()
    await this.#run
  }
}

/** The first `goto` is a request of the crawl. All that follows uses its page. */
class CrawlerTab {
  readonly #visit: (url: string) => Promise<void>
  readonly #page = Promise.withResolvers<TabUnderTest>()
  readonly #closed = Promise.withResolvers<void>()
  /** The URL of the first `goto`. */
  url: string | undefined

  constructor(visit: (url: string) => Promise<void>) {
    this.#visit = visit
    this.#page.promise.catch(() => undefined) // `goto` rejects with the same error
  }

  loaded(page: TabUnderTest): Promise<void> {
    this.#page.resolve(page)
    return this.#closed.promise
  }

  failed(error: Error): void {
    this.#page.reject(error)
  }

  async goto(...[url, options]: Parameters<TabUnderTest['goto']>): Promise<unknown> {
    if (this.url !== undefined) return (await this.#page.promise).goto(url, options)
    this.url = url
    await this.#visit(url)
    return this.#page.promise
  }

  async evaluate(expression: string): Promise<unknown> {
    return (await this.#page.promise).evaluate(expression)
  }

  async waitForFunction(expression: string): Promise<unknown> {
    return (await this.#page.promise).waitForFunction(expression)
  }

  async click(selector: string): Promise<void> {
    await (await this.#page.promise).click(selector)
  }

  close(): void {
    this.#closed.resolve()
  }
}
