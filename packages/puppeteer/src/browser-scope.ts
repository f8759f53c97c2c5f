// A browser of Puppeteer's, or one of its contexts, as the guard of its traffic sees it.
import { OptionError } from '@politely/core'
import {
  type BrowserScope,
  type DriverBrowser,
  type DriverSession,
  type GuardedPage,
  LEAVE_OUT_SPECULATION_RULES,
} from '@politely/devtools'
import type { Browser, BrowserContext, Page, Target } from 'puppeteer-core'

/** @throws {OptionError} for what is neither. */
export function browserScopeOf(target: Browser | BrowserContext): BrowserScope {
  const { browser, context } = partsOf(target)
  return {
    browser: adaptBrowser(browser),
    driverObject: target,
    name: 'target',
    overlapping: context === undefined ? [browser, ...browser.browserContexts()] : [browser, context],
    // It becomes an error page. With `Aborted`, `reload`, `goBack` and `waitForNavigation` wait for a page that never comes (measured).
    refusedPage: 'BlockedByClient',
    pages: async () => (await target.pages()).map(adaptPage),
    listen: (came, gone) => {
      const comes = (it: Target) => {
        if ((it.type() as string) !== 'page') return
        // A target that is gone has no page.
        it.page().then(
          (page) => page && came(adaptPage(page)),
          () => undefined,
        )
      }
      // A browser and a context tell of new targets alike, and TypeScript does not see it.
      const place = target as BrowserContext
      place.on('targetcreated', comes)
      browser.on('disconnected', gone)
      return () => {
        place.off('targetcreated', comes)
        browser.off('disconnected', gone)
      }
    },
  }
}

function partsOf(target: Browser | BrowserContext): { browser: Browser; context: BrowserContext | undefined } {
  const { browserContexts, browser } = (target ?? {}) as { browserContexts?: unknown; browser?: unknown }
  if (typeof browserContexts === 'function') return { browser: target as Browser, context: undefined }
  // A page has `browser()` as well; a context has `newPage`, and a page has not.
  if (typeof browser === 'function' && 'newPage' in target) {
    return { browser: (target as BrowserContext).browser(), context: target as BrowserContext }
  }
  throw new OptionError('target', 'must be a Browser or a BrowserContext; of a page it is page.browserContext()')
}

function adaptBrowser(browser: Browser): DriverBrowser {
  return {
    driverObject: browser,
    newSession: () => openBrowserSession(browser),
    pages: async () => (await browser.pages()).map(adaptPage),
    isConnected: () => browser.connected,
  }
}

async function openBrowserSession(browser: Browser): Promise<DriverSession> {
  try {
    return await browser.target().createCDPSession()
  } catch (error) {
    if (!browser.connected) throw error
    const why = 'does not speak the DevTools protocol, as Firefox and WebDriver BiDi; it has to be Chromium'
    throw Object.assign(new OptionError('target', why), { cause: error })
  }
}

function adaptPage(page: Page): GuardedPage {
  const isGone = () => page.isClosed() || !page.browser().connected
  return {
    driverObject: page,
    newSession: () => page.createCDPSession(),
    isClosed: isGone,
    prepare: async () => {
      let hasCrashed = false
      page.once('error', () => {
        hasCrashed = true // and it answers nothing
      })
      const { identifier } = await page.evaluateOnNewDocument(LEAVE_OUT_SPECULATION_RULES)
      return async () => {
        if (!hasCrashed && !isGone()) await page.removeScriptToEvaluateOnNewDocument(identifier)
      }
    },
  }
}
