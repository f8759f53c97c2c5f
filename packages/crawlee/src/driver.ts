// Adapts pages and browsers of Playwright and Puppeteer to the driver interface of @politely/devtools. Neither is imported: the crawler brings
// its own copy.
import { OptionError } from '@politely/core'
import {
  type DriverBrowser,
  type DriverSession,
  type GuardedPage,
  LEAVE_OUT_SPECULATION_RULES,
} from '@politely/devtools'

type PageObject = GuardedPage['driverObject'] & { isClosed(): boolean }

interface BrowserObject {
  once(event: 'disconnected', listener: () => void): unknown
}

interface PlaywrightBrowser extends BrowserObject {
  newBrowserCDPSession(): Promise<DriverSession>
  contexts(): readonly { pages(): readonly PlaywrightPage[] }[]
  isConnected(): boolean
}

interface PlaywrightPage extends PageObject {
  context(): { newCDPSession(page: unknown): Promise<DriverSession>; browser(): PlaywrightBrowser | null }
  addInitScript(script: { content: string }): Promise<unknown>
}

interface PuppeteerBrowser extends BrowserObject {
  target(): { createCDPSession(): Promise<DriverSession> }
  pages(): Promise<readonly PuppeteerPage[]>
  readonly connected: boolean
}

interface PuppeteerPage extends PageObject {
  createCDPSession(): Promise<DriverSession>
  browser(): PuppeteerBrowser
  evaluateOnNewDocument(script: string): Promise<unknown>
}

/** A page of Playwright or Puppeteer. */
export type CrawlerPage = PlaywrightPage | PuppeteerPage

/** The browser of a page. */
export interface CrawlerBrowser extends DriverBrowser {
  readonly driverObject: BrowserObject
  /** How a refused navigation fails. The browser-scope.ts files of the two adapters give the reasons. */
  readonly refusedPage: 'Aborted' | 'BlockedByClient'
}

/**
 * Returns the browser of a page.
 *
 * @throws {OptionError} if the page's context does not know its browser.
 */
export function browserOf(page: CrawlerPage): CrawlerBrowser {
  if ('createCDPSession' in page) {
    const browser = page.browser()
    return {
      driverObject: browser,
      refusedPage: 'BlockedByClient',
      newSession: () => openSession(() => browser.target().createCDPSession()),
      pages: async () => (await browser.pages()).map(adaptPage),
      isConnected: () => browser.connected,
    }
  }
  const browser = page.context().browser()
  if (browser === null) {
    const how = 'update Playwright, or write launchContext: { useIncognitoPages: true }'
    throw new OptionError('pageRequests', `'check' needs a browser context that knows its browser; ${how}`)
  }
  return {
    driverObject: browser,
    refusedPage: 'Aborted',
    newSession: () => openSession(() => browser.newBrowserCDPSession()),
    pages: async () => browser.contexts().flatMap((context) => context.pages().map(adaptPage)),
    isConnected: () => browser.isConnected(),
  }
}

export function adaptPage(page: CrawlerPage): GuardedPage {
  const isPuppeteer = 'createCDPSession' in page
  return {
    driverObject: page,
    newSession: () => openSession(() => (isPuppeteer ? page.createCDPSession() : page.context().newCDPSession(page))),
    isClosed: () => page.isClosed(),
    prepare: async () => {
      if (isPuppeteer) await page.evaluateOnNewDocument(LEAVE_OUT_SPECULATION_RULES)
      else await page.addInitScript({ content: LEAVE_OUT_SPECULATION_RULES })
      return async () => undefined // the crawler closes the page after the request, so the script need not be removed
    },
  }
}

/** @throws {OptionError} for a browser without the DevTools protocol. */
async function openSession(open: () => Promise<DriverSession>): Promise<DriverSession> {
  try {
    return await open()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const how = "write pageRequests: 'ignore', and check redirects in a navigation hook of your own"
    throw new OptionError('pageRequests', `'check' needs a browser with the DevTools protocol (${reason}); ${how}`)
  }
}
