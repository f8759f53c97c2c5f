// Adapts pages and browsers of Playwright and Puppeteer to the driver interface of
// @politely/cdp. Neither is imported: the crawler brings its own copy.

import type { DriverBrowser, DriverSession, GuardedPage } from '@politely/cdp'
import { OptionError } from '@politely/core'

type PageObject = GuardedPage['driverObject'] & { isClosed(): boolean }

interface BrowserObject {
  once(event: 'disconnected', listener: () => void): unknown
}

interface PlaywrightBrowser extends BrowserObject {
  newBrowserCDPSession(): Promise<DriverSession>
  contexts(): readonly { pages(): readonly PlaywrightPage[]; browser(): PlaywrightBrowser | null }[]
  isConnected(): boolean
}

interface PlaywrightPage extends PageObject {
  context(): PlaywrightContext
}

interface PlaywrightContext {
  newCDPSession(page: unknown): Promise<DriverSession>
  addInitScript(script: { content: string }): Promise<unknown>
}

interface PuppeteerTarget {
  type(): string
  page(): Promise<PuppeteerPage | null>
}

interface PuppeteerBrowser extends BrowserObject {
  on(event: 'disconnected', listener: () => void): PuppeteerBrowser
  on(event: 'targetcreated', listener: (target: PuppeteerTarget) => void): PuppeteerBrowser
  target(): { createCDPSession(): Promise<DriverSession> }
  pages(): Promise<readonly PuppeteerPage[]>
  readonly connected: boolean
}

interface PuppeteerPage extends PageObject {
  createCDPSession(): Promise<DriverSession>
  evaluateOnNewDocument(script: string): Promise<unknown>
}

/** A page of Playwright or Puppeteer. */
export type CrawlerPage = PlaywrightPage | PuppeteerPage

/**
 * The `browser` of Crawlee's BrowserController. It wraps the driver's own object: with Puppeteer
 * always, with Playwright unless `useIncognitoPages` is set.
 */
export type LaunchedBrowser = PlaywrightBrowser | PuppeteerBrowser

/** A browser that the guard can use. */
export interface CrawlerBrowser extends DriverBrowser {
  readonly driverObject: BrowserObject
  pages(): Promise<readonly GuardedPage[]>
  /**
   * How a refused navigation fails. The browser-scope.ts files of the two adapters give the
   * reasons.
   */
  readonly refusedPage: 'Aborted' | 'BlockedByClient'
  /**
   * Calls `onPage` for each page that opens. Puppeteer adds a script to one page at a time, and
   * Crawlee does not know popups. With Playwright, the script of a context covers its popups.
   */
  listen?(onPage: (page: GuardedPage) => void): void
}

/**
 * Adapts a browser that Crawlee has launched.
 *
 * @throws {OptionError} if the browser's context does not know its browser.
 */
export function adaptBrowser(launched: LaunchedBrowser): CrawlerBrowser {
  if (!('newBrowserCDPSession' in launched)) {
    // Only some methods of Crawlee's proxy work. `on` works, and returns the driver's own object.
    const browser = launched.on('disconnected', () => undefined)
    return {
      driverObject: browser,
      refusedPage: 'BlockedByClient',
      newSession: () => openSession(() => browser.target().createCDPSession()),
      pages: async () => (await browser.pages()).map(adaptPage),
      isConnected: () => browser.connected,
      listen: (onPage) => {
        browser.on('targetcreated', (target) => {
          if (target.type() !== 'page') return
          // A target that was closed meanwhile has no page.
          target.page().then(
            (page) => page && onPage(adaptPage(page)),
            () => undefined,
          )
        })
      },
    }
  }
  const [context] = launched.contexts()
  const browser = context === undefined ? launched : context.browser()
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

/** The contexts of Playwright that have the document script, or get it now. */
const preparedContexts = new WeakMap<object, Promise<unknown>>()

/** Adds the script to all pages of a context, and so to the popups that its pages open. */
function prepareContext(context: PlaywrightContext, documentScript: string): Promise<unknown> {
  const prepared = preparedContexts.get(context) ?? context.addInitScript({ content: documentScript })
  preparedContexts.set(context, prepared)
  return prepared
}

export function adaptPage(page: CrawlerPage): GuardedPage {
  const isPuppeteer = 'createCDPSession' in page
  return {
    driverObject: page,
    newSession: () => openSession(() => (isPuppeteer ? page.createCDPSession() : page.context().newCDPSession(page))),
    isClosed: () => page.isClosed(),
    prepare: async (documentScript) => {
      if (isPuppeteer) await page.evaluateOnNewDocument(documentScript)
      else await prepareContext(page.context(), documentScript)
      return async () => undefined // the browser ends with the crawl, so the script need not be removed
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
