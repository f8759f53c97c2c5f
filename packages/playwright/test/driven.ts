// Playwright's Chromium, as the rows for browsers see it.
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
import {
  type Browser,
  type BrowserContext,
  chromium,
  type LaunchOptions,
  type Page,
  type Response,
} from 'playwright-core'
import { onTestFinished } from 'vitest'
import { type PoliteContext, withRobots } from '../src/index.ts'

const found = findChromium()

export const noChromium: boolean = isMissing('chromium', found)

export function launchOptions(): LaunchOptions {
  if (found === undefined) throw new Error('there is no Chromium')
  return { executablePath: found.command, env: { ...process.env, ...found.env }, args: [...chromiumArguments] }
}

export class Driven implements BrowserUnderTest<BrowserContext, PoliteContext> {
  readonly own: Browser
  readonly idle = 'networkidle'
  readonly refusedPage = 'net::ERR_ABORTED'
  readonly withRobots: typeof withRobots = withRobots

  constructor(own: Browser) {
    this.own = own
  }

  static async launch(): Promise<Driven> {
    return new Driven(await chromium.launch(launchOptions()))
  }

  launch(): Promise<Driven> {
    return Driven.launch()
  }

  newContext(): Promise<BrowserContext> {
    return this.own.newContext()
  }

  newGate(): { gate: PoliteGate; robots: RobotsClient } {
    const robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    return { robots, gate: new PoliteGate({ robots, minDelayMs: 0 }) }
  }

  verdictOf(error: unknown): RobotsDisallowedError['verdict'] | undefined {
    return error instanceof RobotsDisallowedError ? error.verdict : undefined
  }

  reasonOf(error: unknown): unknown {
    return (error as Error).cause // of an AbortError of Playwright's own
  }

  wayTo(answer: Response): string[] {
    const way: string[] = []
    for (let hop = answer.request().redirectedFrom(); hop !== null; hop = hop.redirectedFrom()) way.unshift(hop.url())
    return way
  }

  async stopLoading(tab: Page): Promise<void> {
    await (await tab.context().newCDPSession(tab)).send('Page.stopLoading')
  }

  async crash(tab: Page): Promise<void> {
    await Promise.race([errorOf(tab.goto('chrome://crash')), tab.waitForEvent('crash')])
  }

  close(): Promise<void> {
    return this.own.close()
  }
}

/** A small web and a polite context on it, both gone when the test is. */
export async function room(
  browser: Driven,
  web?: Readonly<Record<string, Reply>>,
): Promise<Room<BrowserContext, PoliteContext>> {
  const opened = await openRoom(browser, web)
  onTestFinished(() => opened.close())
  return opened
}
