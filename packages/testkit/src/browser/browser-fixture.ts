// The fixture of the browser cases: test sites, and a polite context of the browser that visits
// them.
//
// The sites are one server with two origins: HOME, whose URLs are written as paths, and OTHER.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Reply, type Sites, startSites } from '../servers/sites.ts'
import type {
  BrowserUnderTest,
  ContextUnderTest,
  GateWithClient,
  PoliteUnderTest,
  RequestUnderTest,
  SeenVerdict,
  TabUnderTest,
} from './browser-under-test.ts'

export interface BrowserCase {
  /**
   * The outcome depends on what Chromium does by itself: popups, prefetching, payment and login
   * dialogs, requests of closed pages. A suite can run these cases in the whole
   * Chromium and all others in the headless shell.
   */
  readonly wholeChromium?: true
  /** A complete sentence. */
  readonly name: string
  /** The responses, by URL or by path of HOME. All other URLs respond with 404. */
  readonly web?: Readonly<Record<string, Reply>>
  /** Options of `withRobots`, in addition to CRAWLER. */
  readonly options?: object
  /**
   * The case damages the browser, so it gets a browser of its own.
   */
  readonly browser?: 'own'
  /**
   * The case gets a browser of its own that is launched with these switches. It runs in the full
   * run only.
   */
  readonly switches?: readonly string[]
  /** Runs the case. Throws if it fails. */
  readonly run: (fixture: BrowserFixture) => Promise<void>
  /** The URLs that the server must have received: each once, sorted, without robots.txt. */
  readonly requested?: readonly string[]
}

/** A polite context, its guard, and a page in it. */
interface PoliteContext<C extends ContextUnderTest, R extends PoliteUnderTest> {
  readonly context: C
  readonly robots: R
  readonly tab: Awaited<ReturnType<C['newPage']>>
}

/** Test sites, and a polite context of the browser that visits them. */
export interface BrowserFixture<
  C extends ContextUnderTest = ContextUnderTest,
  R extends PoliteUnderTest = PoliteUnderTest,
> extends PoliteContext<C, R> {
  readonly browser: BrowserUnderTest<C, R>
  readonly sites: Sites
  /** The URLs of this fixture's sites that gates have refused, in order. */
  readonly refusedUrls: readonly string[]
  /** Returns a URL with the server's port. A path belongs to HOME. */
  at(url: string): string
  /** Resolves when a gate publishes this event for a URL. */
  gateEvent(event: GateEvent, url: string): Promise<void>
  /** Opens another context without a guard. */
  openContext(): Promise<C>
  /** Opens another polite context. */
  openPolite(options?: object): Promise<PoliteContext<C, R>>
  /** Opens a gate without a delay, to pass to `openPolite`. */
  openGate(): GateWithClient
  /** Registers a cleanup step. The steps run at the end, the last one first. */
  defer(step: () => unknown): void
  close(): Promise<void>
}

type GateEvent = 'wait' | 'abandon' | 'start' | 'done' | 'refuse'

export const HOME = 'http://localhost:PORT'
export const OTHER = 'http://127.0.0.1:PORT'
export const CRAWLER = { userAgent: 'TestBot/1.0 (+https://test.example/bot)', minDelayMs: 0, retries: 0 } as const
export const RULES: Reply = { status: 200, body: 'User-agent: *\nDisallow: /private\n' }
export const SLOW: Reply = { status: 200, body: 'User-agent: *\nCrawl-delay: 60\nDisallow: /private\n' }

export async function openFixture<C extends ContextUnderTest, R extends PoliteUnderTest>(
  browser: BrowserUnderTest<C, R>,
  web: Readonly<Record<string, Reply>> = {},
  options: object = {},
): Promise<BrowserFixture<C, R>> {
  const sites = await startSites()
  const steps: (() => unknown)[] = [() => sites.close()]
  const defer = (step: () => unknown) => void steps.push(step)
  const at = (url: string) => sites.withPort(ofHome(url))
  const onGateEvent = (event: GateEvent, listener: (url: string) => void) => {
    const name = `politely:gate:${event}`
    const onMessage = (message: unknown) => listener((message as { readonly url: string }).url)
    subscribe(name, onMessage)
    defer(() => unsubscribe(name, onMessage))
  }
  const gateEvent = (event: GateEvent, url: string) =>
    new Promise<void>((resolve) => onGateEvent(event, (seen) => seen === at(url) && resolve()))
  const refusedUrls: string[] = []
  onGateEvent('refuse', (url) => url.includes(`:${sites.port}/`) && refusedUrls.push(url))
  const openContext = async () => {
    const context = await browser.newContext()
    defer(() => context.close().catch(() => undefined)) // the case may have closed the context or its browser
    return context
  }
  const openPolite = async (more: object = CRAWLER) => {
    const context = await openContext()
    const robots = await browser.withRobots(context, more)
    defer(() => robots.close())
    return { context, robots, tab: (await context.newPage()) as Awaited<ReturnType<C['newPage']>> }
  }
  const openGate = () => {
    const { RobotsClient, PoliteGate } = browser.classes
    const robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    const gate = new PoliteGate({ robots, minDelayMs: 0 } as never)
    defer(() => robots.close())
    defer(() => gate.close())
    return { gate, robots }
  }
  const close = async () => {
    for (const step of steps.toReversed()) await step()
  }
  try {
    sites.answerAll(Object.fromEntries(Object.entries(web).map(([url, reply]) => [ofHome(url), reply])))
    const polite = await openPolite({ ...CRAWLER, ...options })
    return { browser, sites, refusedUrls, ...polite, at, gateEvent, openContext, openPolite, openGate, defer, close }
  } catch (error) {
    await close()
    throw error
  }
}

function ofHome(url: string): string {
  return url.startsWith('/') ? `${HOME}${url}` : url
}

/** Returns the error that the promise rejects with. Undefined if it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Asserts that a visit is refused, and for which reason. */
export async function assertRefused(
  browser: BrowserUnderTest,
  visit: Promise<unknown>,
  because = 'rule',
): Promise<void> {
  const error = await errorOf(visit)
  assert.equal(verdictOf(browser, error)?.because, because, `${error}`)
}

/** Returns the verdict of a RobotsDisallowedError. Undefined for every other error. */
export function verdictOf({ classes }: BrowserUnderTest, error: unknown): SeenVerdict | undefined {
  return error instanceof classes.RobotsDisallowedError ? error.verdict : undefined
}

/** Resolves with the next failed request of a page. */
export function nextFailure(tab: TabUnderTest): Promise<RequestUnderTest> {
  return new Promise((resolve) => tab.on('requestfailed', resolve))
}

/** The result of `SystemInfo.getProcessInfo` of the DevTools protocol. */
interface ProcessInfos {
  readonly processInfo: readonly { readonly type: string; readonly id: number }[]
}

/**
 * Kills the processes of a browser's pages (`renderer`), or its main process (`browser`).
 * `Page.crash` does not crash a page that waits for a navigation, and opening chrome://crash would
 * replace that navigation.
 */
export function killProcesses(kind: 'renderer' | 'browser', { processInfo }: ProcessInfos): void {
  for (const { type, id } of processInfo) {
    try {
      if (type === kind) process.kill(id, 'SIGKILL')
    } catch {
      // The process has ended meanwhile.
    }
  }
}
