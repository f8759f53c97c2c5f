// A context of Playwright's, as the guard of its traffic sees it.
import {
  type BrowserScope,
  type DriverBrowser,
  type GuardedPage,
  LEAVE_OUT_SPECULATION_RULES,
} from '@politely/devtools'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export function browserScopeOf(context: BrowserContext, browser: Browser): BrowserScope {
  return {
    browser: adaptBrowser(browser),
    driverObject: context,
    name: 'context',
    overlapping: [context],
    // With `BlockedByClient` the page becomes an error page, and that comes in the way of the next `goto` (measured).
    refusedPage: 'Aborted',
    pages: async () => context.pages().map(adaptPage),
    listen: (came, gone) => {
      const comes = (page: Page) => came(adaptPage(page))
      context.on('page', comes)
      context.on('close', gone)
      return () => {
        context.off('page', comes)
        context.off('close', gone)
      }
    },
    prepare: async () => {
      const script: { dispose(): Promise<void> } | undefined = await context.addInitScript({
        content: LEAVE_OUT_SPECULATION_RULES,
      })
      // Older versions of Playwright can take no script back, and return nothing. A context that is closed has none.
      return async () => script?.dispose().catch(() => undefined)
    },
  }
}

function adaptBrowser(browser: Browser): DriverBrowser {
  return {
    driverObject: browser,
    newSession: () => browser.newBrowserCDPSession(),
    pages: async () => browser.contexts().flatMap((context) => context.pages().map(adaptPage)),
    isConnected: () => browser.isConnected(),
  }
}

function adaptPage(page: Page): GuardedPage {
  return {
    driverObject: page,
    newSession: () => page.context().newCDPSession(page),
    isClosed: () => page.isClosed() || page.context().browser()?.isConnected() !== true,
  }
}
