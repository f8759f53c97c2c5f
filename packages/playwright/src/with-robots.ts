// withRobots: one call, and the pages of a browser context keep robots.txt.
import { OptionError } from '@politely/core'
import { type BrowserGuard, type BrowserGuardOptions, guardBrowser } from '@politely/devtools'
import type { Browser, BrowserContext, Request } from 'playwright-core'
import { browserScopeOf } from './browser-scope.ts'

/** How to be polite: a gate of your own, or what to make one of; and what becomes of what a page loads. */
export type WithRobotsOptions = BrowserGuardOptions

/** What `withRobots` has put in front of a context. It closes with the context. */
export type PoliteContext = BrowserGuard<Request>

/**
 * Makes the pages of a browser context polite: each request for a page, popups and hops of redirects included, is allowed by robots.txt and
 * waits its turn; what pages load is checked. `goto` of a page that is not allowed rejects with `RobotsDisallowedError`. For Chromium.
 *
 * @throws {OptionError} for an option that cannot be used, and for a context that is polite already or is none of Chromium.
 */
export async function withRobots(context: BrowserContext, options: WithRobotsOptions): Promise<PoliteContext> {
  return guardBrowser(browserScopeOf(context, browserOf(context)), options)
}

function browserOf(context: BrowserContext): Browser {
  if (typeof context?.newCDPSession !== 'function') {
    throw new OptionError('context', 'must be a BrowserContext; of a page it is page.context()')
  }
  const browser = context.browser()
  if (browser === null) {
    throw new OptionError('context', 'has no browser, as persistent contexts of older versions; update Playwright')
  }
  const name = browser.browserType().name()
  if (name !== 'chromium') throw new OptionError('context', `is one of ${name}; it has to be one of chromium`)
  return browser
}
