// Adapts a Puppeteer browser, or one of its contexts, to the driver interface of
// @politely/cdp.

import type { BrowserScope, DriverBrowser, DriverSession, GuardedPage } from '@politely/cdp'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import type { Browser, BrowserContext, Page, Target } from 'puppeteer-core'

/** @throws {OptionError} for a value that is neither a browser nor a context. */
export function puppeteerScopeOf(target: Browser | BrowserContext): BrowserScope {
  const { browser, context } = partsOf(target)
  return {
    browser: adaptBrowser(browser),
    driverObject: target,
    name: 'target',
    contextId: context?.id,
    overlapping: context === undefined ? [browser, ...browser.browserContexts()] : [browser, context],
    // The browser shows an error page. With `Aborted`, `reload`, `goBack` and `waitForNavigation`
    // would wait forever (measured).
    refusedPage: 'BlockedByClient',
    pages: async () => (await target.pages()).map(adaptPage),
    otherPages: async () => {
      const others = browser.browserContexts().filter((other) => other !== context)
      return (await Promise.all(others.map((other) => other.pages()))).flat().map(adaptPage)
    },
    listen: (onPage, onClose) => {
      const handleTarget = (created: Target) => {
        if ((created.type() as string) !== 'page') return
        // A target that was closed meanwhile has no page.
        created.page().then(
          (page) => page && onPage(adaptPage(page)),
          () => undefined,
        )
      }
      // Browsers and contexts emit the same event for new targets, but their types have no common
      // overload.
      const emitter = target as BrowserContext
      emitter.on('targetcreated', handleTarget)
      browser.on('disconnected', onClose)
      return () => {
        emitter.off('targetcreated', handleTarget)
        browser.off('disconnected', onClose)
      }
    },
  }
}

function partsOf(target: Browser | BrowserContext): { browser: Browser; context: BrowserContext | undefined } {
  const { browserContexts, browser } = (target ?? {}) as { browserContexts?: unknown; browser?: unknown }
  if (typeof browserContexts === 'function') return { browser: target as Browser, context: undefined }
  // A page also has `browser()`. Only a context has `newPage`.
  if (typeof browser === 'function' && 'newPage' in target) {
    return { browser: (target as BrowserContext).browser(), context: target as BrowserContext }
  }
  throw new OptionError(
    'target',
    `${describeValue(target)} is not a Browser or a BrowserContext; write withRobots(browser, { userAgent }), or for a page withRobots(page.browserContext(), { userAgent })`,
  )
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
    const message =
      'does not support the DevTools protocol (Firefox and WebDriver BiDi do not); launch Chromium without BiDi'
    throw Object.assign(new OptionError('target', message), { cause: error })
  }
}

function adaptPage(page: Page): GuardedPage {
  const isGone = () => page.isClosed() || !page.browser().connected
  return {
    driverObject: page,
    newSession: () => page.createCDPSession(),
    isClosed: isGone,
    prepare: async (documentScript) => {
      let hasCrashed = false
      page.once('error', () => {
        hasCrashed = true // a crashed page does not respond
      })
      const { identifier } = await page.evaluateOnNewDocument(documentScript)
      return async () => {
        if (!hasCrashed && !isGone()) await page.removeScriptToEvaluateOnNewDocument(identifier)
      }
    },
  }
}
