// A context of Playwright's, as the guard of its traffic sees it.
import {
  type BrowserScope,
  type DriverBrowser,
  type GuardedPage,
  LEAVE_OUT_SPECULATION_RULES,
} from '@politely/devtools'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export function placeOf(context: BrowserContext, browser: Browser): BrowserScope {
  return {
    browser: drivenBrowser(browser),
    own: context,
    name: 'context',
    parts: [context],
    // With `BlockedByClient` the page becomes an error page, and that comes in the way of the next `goto` (measured).
    refusedPage: 'Aborted',
    pages: async () => context.pages().map(drivenPage),
    listen: (came, gone) => {
      const comes = (page: Page) => came(drivenPage(page))
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

function drivenBrowser(browser: Browser): DriverBrowser {
  return {
    own: browser,
    newSession: () => browser.newBrowserCDPSession(),
    pages: async () => browser.contexts().flatMap((context) => context.pages().map(drivenPage)),
    isConnected: () => browser.isConnected(),
  }
}

function drivenPage(page: Page): GuardedPage {
  return {
    own: page,
    newSession: () => page.context().newCDPSession(page),
    isGone: () => page.isClosed() || page.context().browser()?.isConnected() !== true,
  }
}
