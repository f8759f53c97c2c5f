// Adapts Puppeteer's Chromium to the common cases for browsers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { type BrowserFixture, killProcesses, openFixture } from '@politely/testkit/browser/browser-fixture'
import { recordSessions } from '@politely/testkit/browser/browser-lost-session-case'
import type { BrowserUnderTest } from '@politely/testkit/browser/browser-under-test'
import { chromiumLaunch, findBrowser, isMissing } from '@politely/testkit/parts'
import type { Reply } from '@politely/testkit/servers/sites'
import puppeteer, {
  type Browser,
  type BrowserContext,
  type HTTPResponse,
  type LaunchOptions,
  type Page,
} from 'puppeteer-core'
import { onTestFinished } from 'vitest'
import { type PoliteBrowser, withRobots } from '../src/index.ts'

const classes = { RobotsClient, PoliteGate, RobotsDisallowedError }
const found = findBrowser()

export const noChromium: boolean = isMissing('chromium', found)

export type PuppeteerUnderTest = BrowserUnderTest<BrowserContext, PoliteBrowser> & { readonly driverBrowser: Browser }

export async function launch(options: LaunchOptions = {}): Promise<PuppeteerUnderTest> {
  return drive(await puppeteer.launch({ ...chromiumLaunch(found), ...options }))
}

/** Launches a browser and connects to it. */
export async function connect(switches?: readonly string[]): Promise<PuppeteerUnderTest> {
  const launched = await puppeteer.launch(chromiumLaunch(found, switches))
  const driven = drive(await puppeteer.connect({ browserWSEndpoint: launched.wsEndpoint() }))
  return { ...driven, launch: connect }
}

function drive(own: Browser): PuppeteerUnderTest {
  const downloadPath = mkdtempSync(join(tmpdir(), 'politely-downloads-'))
  own.once('disconnected', () => rmSync(downloadPath, { recursive: true, force: true, maxRetries: 5 }))
  return {
    driverBrowser: own,
    classes,
    withRobots,
    launch: (switches) => launch(chromiumLaunch(found, switches)),
    newContext: () => own.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath } }),
    close: () => own.close(),
    sessions: recordSessions(own.target(), 'createCDPSession'),
    isConnected: () => own.connected,
    kill: async () =>
      killProcesses('browser', await (await own.target().createCDPSession()).send('SystemInfo.getProcessInfo')),
    networkIdle: 'networkidle0',
    refusedPageMessage: 'net::ERR_BLOCKED_BY_CLIENT',
    abortReasonOf: (error: unknown) => error,
    redirectsTo: (response: HTTPResponse) => Array.from(response.request().redirectChain(), (hop) => hop.url()),
    stopLoading: async (tab: Page) => (await tab.createCDPSession()).send('Page.stopLoading'),
    crash: async (tab: Page) => {
      const crashed = new Promise((resolve) => tab.once('error', resolve))
      const session = await own.target().createCDPSession()
      killProcesses('renderer', await session.send('SystemInfo.getProcessInfo'))
      await crashed
    },
  }
}

/** Opens test sites and a polite context. Both are closed when the test ends. */
export async function openTestFixture(
  browser: PuppeteerUnderTest,
  web?: Readonly<Record<string, Reply>>,
): Promise<BrowserFixture<BrowserContext, PoliteBrowser>> {
  const opened = await openFixture<BrowserContext, PoliteBrowser>(browser, web)
  onTestFinished(() => opened.close())
  return opened
}
