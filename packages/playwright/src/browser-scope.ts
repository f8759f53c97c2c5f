// Adapts a Playwright browser context to the driver interface of @politely/cdp.
import type { BrowserScope, DriverBrowser, GuardedPage } from '@politely/cdp'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export function playwrightScopeOf(context: BrowserContext, browser: Browser): BrowserScope {
  return {
    browser: adaptBrowser(browser),
    driverObject: context,
    name: 'context',
    overlapping: [context],
    // With `BlockedByClient` the browser shows an error page, which interferes with the next `goto`
    // (measured).
    refusedPage: 'Aborted',
    pages: async () => context.pages().map(adaptPage),
    otherPages: async () => pagesOf(browser.contexts().filter((other) => other !== context)),
    listen: (onPage, onClose) => {
      const handlePage = (page: Page) => onPage(adaptPage(page))
      context.on('page', handlePage)
      context.on('close', onClose)
      return () => {
        context.off('page', handlePage)
        context.off('close', onClose)
      }
    },
    prepare: async (documentScript) => {
      const script: { dispose(): Promise<void> } | undefined = await context.addInitScript({
        content: documentScript,
      })
      // Older versions of Playwright cannot remove a script, and return undefined. Removing it from
      // a closed context fails.
      return async () => script?.dispose().catch(() => undefined)
    },
  }
}

function adaptBrowser(browser: Browser): DriverBrowser {
  return {
    driverObject: browser,
    newSession: () => browser.newBrowserCDPSession(),
    pages: async () => pagesOf(browser.contexts()),
    isConnected: () => browser.isConnected(),
  }
}

function pagesOf(contexts: readonly BrowserContext[]): GuardedPage[] {
  return contexts.flatMap((context) => context.pages().map(adaptPage))
}

function adaptPage(page: Page): GuardedPage {
  return {
    driverObject: page,
    newSession: () => page.context().newCDPSession(page),
    isClosed: () => page.isClosed() || page.context().browser()?.isConnected() !== true,
  }
}
