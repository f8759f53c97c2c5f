// Puppeteer's Chromium, as the rows for browsers see it.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'
import {
  type BrowserUnderTest,
  CRAWLER,
  chromiumArguments,
  errorOf,
  findChromium,
  isMissing,
  openRoom,
  type Reply,
  type Room,
} from '@politely/testkit'
import puppeteer, {
  type Browser,
  type BrowserContext,
  type HTTPResponse,
  type LaunchOptions,
  type Page,
} from 'puppeteer-core'
import { onTestFinished } from 'vitest'
import { type PoliteBrowser, withRobots } from '../src/index.ts'

const found = findChromium()

export const noChromium: boolean = isMissing('chromium', found)

export class Driven implements BrowserUnderTest<BrowserContext, PoliteBrowser> {
  readonly own: Browser
  readonly idle = 'networkidle0'
  readonly refusedPage = 'net::ERR_BLOCKED_BY_CLIENT'
  readonly withRobots: typeof withRobots = withRobots

  constructor(own: Browser) {
    this.own = own
  }

  static async launch(options: LaunchOptions = {}): Promise<Driven> {
    if (found === undefined) throw new Error('there is no Chromium')
    const { command: executablePath, env } = found
    const args = [...chromiumArguments]
    return new Driven(await puppeteer.launch({ executablePath, env: { ...process.env, ...env }, args, ...options }))
  }

  launch(): Promise<Driven> {
    return Driven.launch()
  }

  newContext(): Promise<BrowserContext> {
    return this.own.createBrowserContext()
  }

  newGate(): { gate: PoliteGate; robots: RobotsClient } {
    const robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    return { robots, gate: new PoliteGate({ robots, minDelayMs: 0 }) }
  }

  verdictOf(error: unknown): RobotsDisallowedError['verdict'] | undefined {
    return error instanceof RobotsDisallowedError ? error.verdict : undefined
  }

  reasonOf(error: unknown): unknown {
    return error
  }

  wayTo(answer: HTTPResponse): string[] {
    return answer
      .request()
      .redirectChain()
      .map((hop) => hop.url())
  }

  async stopLoading(tab: Page): Promise<void> {
    await (await tab.createCDPSession()).send('Page.stopLoading')
  }

  async crash(tab: Page): Promise<void> {
    const crashed = new Promise((resolve) => tab.once('error', resolve))
    await Promise.race([errorOf(tab.goto('chrome://crash')), crashed])
  }

  close(): Promise<void> {
    return this.own.close()
  }
}

/** A small web and a polite context on it, both gone when the test is. */
export async function room(
  browser: Driven,
  web?: Readonly<Record<string, Reply>>,
): Promise<Room<BrowserContext, PoliteBrowser>> {
  const opened = await openRoom<BrowserContext, PoliteBrowser>(browser, web)
  onTestFinished(() => opened.close())
  return opened
}
