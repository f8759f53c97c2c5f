// Adapts Playwright's Chromium to the common cases for browsers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { type BrowserFixture, killProcesses, openFixture } from '@politely/testkit/browser/browser-fixture'
import { recordSessions } from '@politely/testkit/browser/browser-lost-session-case'
import type { BrowserUnderTest } from '@politely/testkit/browser/browser-under-test'
import { chromiumLaunch, findBrowser, findChromium, isMissing, type Part } from '@politely/testkit/parts'
import type { Reply } from '@politely/testkit/servers/sites'
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
const found = findBrowser()

export const noChromium: boolean = isMissing('chromium', findChromium())

export const launchOptions = (switches?: readonly string[], part: Part | undefined = found): LaunchOptions =>
  chromiumLaunch(part, switches)

export type PlaywrightUnderTest = BrowserUnderTest<BrowserContext, PoliteContext> & { readonly driverBrowser: Browser }

/** A browser, and the server to close with it. */
interface Connected {
  readonly driverBrowser: Browser
  closeServer?(): Promise<unknown>
}

/**
 * The ways to open a browser. `launchWhole` launches the whole Chromium, even if there is a
 * headless shell.
 */
export const ways: Readonly<
  Record<'launch' | 'launchWhole' | 'connect' | 'connectOverCDP', (switches?: readonly string[]) => Promise<Connected>>
> = {
  launch: async (switches) => ({ driverBrowser: await chromium.launch(launchOptions(switches)) }),
  launchWhole: async (switches) => ({ driverBrowser: await chromium.launch(launchOptions(switches, findChromium())) }),
  connect: async (switches) => {
    const server = await chromium.launchServer(launchOptions(switches))
    return { driverBrowser: await chromium.connect(server.wsEndpoint()), closeServer: () => server.close() }
  },
  connectOverCDP: async (switches) => {
    const { executablePath = '', env, args = [] } = launchOptions(switches)
    const folder = mkdtempSync(join(tmpdir(), 'politely-chromium-'))
    const more = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${folder}`]
    const server = spawn(executablePath, [...args, ...more], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const exited = once(server, 'exit')
    const closeServer = async () => {
      server.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
    for await (const line of createInterface(server.stderr)) {
      const endpoint = /ws:\/\/\S+/.exec(line)?.[0]
      if (endpoint !== undefined) return { driverBrowser: await chromium.connectOverCDP(endpoint), closeServer }
    }
    throw new Error('Chromium ended before it printed its endpoint')
  },
}

export async function launch(
  way: keyof typeof ways = 'launch',
  switches?: readonly string[],
): Promise<PlaywrightUnderTest> {
  const { driverBrowser: own, closeServer } = await ways[way](switches)
  return {
    driverBrowser: own,
    classes,
    withRobots,
    launch: (more) => launch(way, more),
    newContext: () => own.newContext(),
    close: async () => {
      await own.close()
      await closeServer?.()
    },
    sessions: recordSessions(own, 'newBrowserCDPSession'),
    isConnected: () => own.isConnected(),
    kill: async () =>
      killProcesses('browser', await (await own.newBrowserCDPSession()).send('SystemInfo.getProcessInfo')),
    networkIdle: 'networkidle',
    refusedPageMessage: 'net::ERR_ABORTED',
    abortReasonOf: (error: unknown) => (error as Error).cause, // Playwright rejects with its own AbortError
    redirectsTo,
    stopLoading: async (tab: Page) => (await tab.context().newCDPSession(tab)).send('Page.stopLoading'),
    crash: async (tab: Page) => {
      const crashed = tab.waitForEvent('crash')
      const session = await own.newBrowserCDPSession()
      killProcesses('renderer', await session.send('SystemInfo.getProcessInfo'))
      await crashed
    },
  }
}

function redirectsTo(response: Response): string[] {
  const urls: string[] = []
  for (let hop = response.request().redirectedFrom(); hop !== null; hop = hop.redirectedFrom()) urls.unshift(hop.url())
  return urls
}

/** Opens test sites and a polite context. Both are closed when the test ends. */
export async function openTestFixture(
  browser: PlaywrightUnderTest,
  web?: Readonly<Record<string, Reply>>,
): Promise<BrowserFixture<BrowserContext, PoliteContext>> {
  const opened = await openFixture(browser, web)
  onTestFinished(() => opened.close())
  return opened
}
