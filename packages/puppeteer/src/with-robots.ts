// withRobots: makes the pages of a browser, or of one of its contexts, follow robots.txt.
import { type BrowserGuard, type BrowserGuardOptions, guardBrowser } from '@politely/cdp'
import type { Browser, BrowserContext, HTTPRequest } from 'puppeteer-core'
import { puppeteerScopeOf } from './browser-scope.ts'

/**
 * Your own `gate`, or your own `robots` and the options of a gate, or the options of both; and how
 * page requests are treated.
 */
export type WithRobotsOptions = BrowserGuardOptions

/** The guard of a browser or a context. It closes with the browser. */
export type PoliteBrowser = BrowserGuard<HTTPRequest>

/**
 * Makes the pages of a browser, or of one of its contexts, polite. Navigations, which include
 * popups and redirects, are sent only if robots.txt allows them, and wait for their turn. Other
 * page requests are checked and do not wait; `pageRequests` can switch that check off. `goto` of a
 * page that is not allowed rejects with a `RobotsDisallowedError`. For Chromium.
 *
 * @throws {OptionError} for an invalid option, for a target that is polite already, and for a
 * browser without the DevTools protocol.
 */
export async function withRobots(target: Browser | BrowserContext, options: WithRobotsOptions): Promise<PoliteBrowser> {
  return guardBrowser(puppeteerScopeOf(target), options)
}
