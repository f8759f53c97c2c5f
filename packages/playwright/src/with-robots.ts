// withRobots: makes the pages of a browser context follow robots.txt.

import { type BrowserGuard, type BrowserGuardOptions, guardBrowser } from '@politely/cdp'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import type { Browser, BrowserContext, Request } from 'playwright-core'
import { playwrightScopeOf } from './browser-scope.ts'

/**
 * Your own `gate`, or your own `robots` and the options of a gate, or the options of both; and how
 * page requests are treated.
 */
export type WithRobotsOptions = BrowserGuardOptions

/** The guard of a context. It closes with the context. */
export type PoliteContext = BrowserGuard<Request>

/**
 * Makes the pages of a browser context polite. Navigations, which include popups and redirects, are
 * sent only if robots.txt allows them, and wait for their turn. Other page requests are checked and
 * do not wait; `pageRequests` can switch that check off. `goto` of a page that is not allowed
 * rejects with a `RobotsDisallowedError`. For Chromium.
 *
 * @throws {OptionError} for an invalid option, for a context that is polite already, and for a
 * context of another browser than Chromium.
 */
export async function withRobots(context: BrowserContext, options: WithRobotsOptions): Promise<PoliteContext> {
  return guardBrowser(playwrightScopeOf(context, browserOf(context)), options)
}

function browserOf(context: BrowserContext): Browser {
  if (typeof context?.newCDPSession !== 'function') {
    throw new OptionError(
      'context',
      `${describeValue(context)} is not a BrowserContext; write withRobots(await browser.newContext(), { userAgent }), or for a page withRobots(page.context(), { userAgent })`,
    )
  }
  const browser = context.browser()
  if (browser === null) {
    throw new OptionError(
      'context',
      'does not know its browser; persistent contexts of older Playwright versions do not: update Playwright',
    )
  }
  const name = browser.browserType().name()
  if (name !== 'chromium') throw new OptionError('context', `belongs to ${name}; expected a context of chromium`)
  return browser
}
