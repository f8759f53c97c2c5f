// Where a row for browsers plays: a small web, and a polite context of the browser that visits it.
//
// The web is one server with two origins: HOME, whose URLs are written as paths, and OTHER.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type {
  BrowserUnderTest,
  ContextUnderTest,
  GateWithClient,
  PoliteUnderTest,
  RequestUnderTest,
  SeenVerdict,
  TabUnderTest,
} from './browser-under-test.ts'
import { type Reply, type Sites, startSites } from './sites.ts'

export interface BrowserCase {
  /** Runs in the full run only, with the whole of Chromium: popups of the headless shell sometimes hang under Playwright. */
  readonly wholeBrowser?: true
  /** A whole sentence. */
  readonly name: string
  /** What the URLs answer; all others 404. */
  readonly web?: Readonly<Record<string, Reply>>
  /** Of `withRobots`, beside CRAWLER. */
  readonly options?: object
  /** It harms the browser, and is given one of its own. */
  readonly browser?: 'own'
  /** What is asked of the browser. It throws where a promise is broken. */
  readonly run: (room: BrowserFixture) => Promise<void>
  /** The pages that the server was asked for in all, each once and sorted, robots.txt aside. */
  readonly requested?: readonly string[]
}

/** A context that is polite, and a page of it. */
interface PoliteContext<C extends ContextUnderTest, R extends PoliteUnderTest> {
  readonly context: C
  readonly robots: R
  readonly tab: Awaited<ReturnType<C['newPage']>>
}

/** A small web, and a polite context of a browser that visits it. */
export interface BrowserFixture<C extends ContextUnderTest = ContextUnderTest, R extends PoliteUnderTest = PoliteUnderTest>
  extends PoliteContext<C, R> {
  readonly browser: BrowserUnderTest<C, R>
  readonly sites: Sites
  /** A URL, of HOME where it is a path, with the port. */
  at(url: string): string
  /** Resolves when a gate says this of a URL. */
  gateEvent(what: GateChannel, url: string): Promise<void>
  /** Another context, not polite yet. */
  openContext(): Promise<C>
  /** Another context, polite. */
  openPolite(options?: object): Promise<PoliteContext<C, R>>
  openGate(): GateWithClient
  /** Done at the end, the last one first. */
  defer(step: () => unknown): void
  close(): Promise<void>
}

type GateChannel = 'wait' | 'abandon' | 'start' | 'done' | 'refuse'

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
  const told = (what: GateChannel, url: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const name = `politely:gate:${what}`
    const hear = (message: unknown) => {
      if ((message as { readonly url: string }).url === at(url)) resolve()
    }
    subscribe(name, hear)
    defer(() => unsubscribe(name, hear))
    return promise
  }
  const openContext = async () => {
    const context = await browser.newContext()
    defer(() => context.close().catch(() => undefined)) // the row may have closed it, or its browser
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
    return { browser, sites, ...polite, at, gateEvent: told, openContext, openPolite, openGate, defer, close }
  } catch (error) {
    await close()
    throw error
  }
}

function ofHome(url: string): string {
  return url.startsWith('/') ? `${HOME}${url}` : url
}

/** What the promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** That a visit is refused, and by what. */
export async function assertRefused(browser: BrowserUnderTest, visit: Promise<unknown>, because = 'rule'): Promise<void> {
  const error = await errorOf(visit)
  assert.equal(verdictOf(browser, error)?.because, because, `${error}`)
}

/** That of a RobotsDisallowedError. */
export function verdictOf({ classes }: BrowserUnderTest, error: unknown): SeenVerdict | undefined {
  return error instanceof classes.RobotsDisallowedError ? error.verdict : undefined
}

/** The next request of a page that fails. */
export function nextFailure(tab: TabUnderTest): Promise<RequestUnderTest> {
  return new Promise((resolve) => tab.on('requestfailed', resolve))
}

/** The answer of `SystemInfo.getProcessInfo` of the DevTools protocol. */
interface ProcessInfos {
  readonly processInfo: readonly { readonly type: string; readonly id: number }[]
}

/**
 * Kills processes of one browser: those of its pages (`renderer`), or its main one (`browser`). `Page.crash` does not crash a page that
 * waits for its next one, and to go to chrome://crash is to go elsewhere.
 */
export function killProcesses(kind: 'renderer' | 'browser', { processInfo }: ProcessInfos): void {
  for (const { type, id } of processInfo) {
    try {
      if (type === kind) process.kill(id, 'SIGKILL')
    } catch {
      // It has just ended by itself.
    }
  }
}
