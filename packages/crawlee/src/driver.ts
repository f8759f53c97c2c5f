// Playwright and Puppeteer, as far as a page of theirs is led to the traffic of its browser. Neither is imported: a crawler brings its own.
import { OptionError } from '@politely/core'
import {
  type DriverBrowser,
  type DriverSession,
  type GuardedPage,
  LEAVE_OUT_SPECULATION_RULES,
} from '@politely/devtools'

type OwnPage = GuardedPage['own'] & { isClosed(): boolean }

interface OwnBrowser {
  once(event: 'disconnected', gone: () => void): unknown
}

interface PlaywrightBrowser extends OwnBrowser {
  newBrowserCDPSession(): Promise<DriverSession>
  contexts(): readonly { pages(): readonly PlaywrightPage[] }[]
  isConnected(): boolean
}

interface PlaywrightPage extends OwnPage {
  context(): { newCDPSession(page: unknown): Promise<DriverSession>; browser(): PlaywrightBrowser | null }
  addInitScript(script: { content: string }): Promise<unknown>
}

interface PuppeteerBrowser extends OwnBrowser {
  target(): { createCDPSession(): Promise<DriverSession> }
  pages(): Promise<readonly PuppeteerPage[]>
  readonly connected: boolean
}

interface PuppeteerPage extends OwnPage {
  createCDPSession(): Promise<DriverSession>
  browser(): PuppeteerBrowser
  evaluateOnNewDocument(script: string): Promise<unknown>
}

/** A page of either. */
export type DriverOwnPage = PlaywrightPage | PuppeteerPage

/** The browser of a page. */
export interface DrivenBrowser extends DriverBrowser {
  readonly own: OwnBrowser
  /** How a page fails that robots.txt refuses: see the adapters of the two. */
  readonly refusedPage: 'Aborted' | 'BlockedByClient'
}

/** @throws {OptionError} where it cannot be had. */
export function browserOf(page: DriverOwnPage): DrivenBrowser {
  if ('createCDPSession' in page) {
    const own = page.browser()
    return {
      own,
      refusedPage: 'BlockedByClient',
      newSession: () => sessionOf(() => own.target().createCDPSession()),
      pages: async () => (await own.pages()).map(drivenPage),
      isConnected: () => own.connected,
    }
  }
  const own = page.context().browser()
  if (own === null) {
    const how = 'update Playwright, or write launchContext: { useIncognitoPages: true }'
    throw new OptionError('pageRequests', `check needs a context that knows its browser; ${how}`)
  }
  return {
    own,
    refusedPage: 'Aborted',
    newSession: () => sessionOf(() => own.newBrowserCDPSession()),
    pages: async () => own.contexts().flatMap((context) => context.pages().map(drivenPage)),
    isConnected: () => own.isConnected(),
  }
}

export function drivenPage(page: DriverOwnPage): GuardedPage {
  const isPuppeteers = 'createCDPSession' in page
  return {
    own: page,
    newSession: () => sessionOf(() => (isPuppeteers ? page.createCDPSession() : page.context().newCDPSession(page))),
    isGone: () => page.isClosed(),
    prepare: async () => {
      if (isPuppeteers) await page.evaluateOnNewDocument(LEAVE_OUT_SPECULATION_RULES)
      else await page.addInitScript({ content: LEAVE_OUT_SPECULATION_RULES })
      return async () => undefined // the page ends with its request
    },
  }
}

async function sessionOf(open: () => Promise<DriverSession>): Promise<DriverSession> {
  try {
    return await open()
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const how = "write pageRequests: 'ignore', and have another hook stop its redirects"
    throw new OptionError('pageRequests', `check needs a browser with the DevTools protocol (${what}); ${how}`)
  }
}
