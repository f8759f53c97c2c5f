// withRobots: one call, and the pages of a browser, or of one of its contexts, keep robots.txt.
import { type BrowserGuard, type BrowserGuardOptions, guardBrowser } from '@politely/devtools'
import type { Browser, BrowserContext, HTTPRequest } from 'puppeteer-core'
import { browserScopeOf } from './browser-scope.ts'

/** How to be polite: a gate of your own, or what to make one of; and what becomes of what a page loads. */
export type WithRobotsOptions = BrowserGuardOptions

/** What `withRobots` has put in front of a browser, or of a context. It closes with the browser. */
export type PoliteBrowser = BrowserGuard<HTTPRequest>

/**
 * Makes the pages of a browser, or of one of its contexts, polite: each request for a page, popups and hops of redirects included, is allowed
 * by robots.txt and waits its turn; what pages load is checked. `goto` of a page that is not allowed rejects with `RobotsDisallowedError`.
 * For Chromium.
 *
 * @throws {OptionError} for an option that cannot be used, and for what is polite already, or is no browser that speaks the DevTools protocol.
 */
export async function withRobots(target: Browser | BrowserContext, options: WithRobotsOptions): Promise<PoliteBrowser> {
  return guardBrowser(browserScopeOf(target), options)
}
