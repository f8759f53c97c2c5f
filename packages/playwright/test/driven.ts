// Playwright's Chromium, as the rows for browsers see it.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { killRenderers, openRoom, type Room } from '@politely/testkit/browser-room'
import type { BrowserUnderTest } from '@politely/testkit/browser-under-test'
import { chromiumLaunch, findFullBrowser, isMissing } from '@politely/testkit/parts'
import type { Reply } from '@politely/testkit/sites'
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

const classes = { RobotsClient, PoliteGate, RobotsDisallowedError }
const found = findFullBrowser()

export const noChromium: boolean = isMissing('chromium', found)

export const launchOptions = (): LaunchOptions => chromiumLaunch(found)

export type Driven = BrowserUnderTest<BrowserContext, PoliteContext> & { readonly own: Browser }

export async function launch(): Promise<Driven> {
  const own = await chromium.launch(launchOptions())
  return {
    own,
    classes,
    withRobots,
    launch,
    newContext: () => own.newContext(),
    close: () => own.close(),
    idle: 'networkidle',
    refusedPage: 'net::ERR_ABORTED',
    reasonOf: (error: unknown) => (error as Error).cause, // of an AbortError of Playwright's own
    wayTo,
    stopLoading: async (tab: Page) => (await tab.context().newCDPSession(tab)).send('Page.stopLoading'),
    crash: async (tab: Page) => {
      const crashed = tab.waitForEvent('crash')
      const session = await own.newBrowserCDPSession()
      killRenderers(await session.send('SystemInfo.getProcessInfo'))
      await crashed
    },
  }
}

function wayTo(answer: Response): string[] {
  const way: string[] = []
  for (let hop = answer.request().redirectedFrom(); hop !== null; hop = hop.redirectedFrom()) way.unshift(hop.url())
  return way
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
