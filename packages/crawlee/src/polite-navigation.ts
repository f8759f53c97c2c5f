// Makes the navigations of a browser crawler polite: the page and each redirect wait for their
// turn, and other page requests are checked.
import { browserGuards } from './browser-guard.ts'
import type { BrowserController, BrowserPoolHooks, CrawleeInternals } from './crawlee-internals.ts'
import type { CrawlerPage } from './driver.ts'
import { withHostTimeout } from './host-timeouts.ts'
import { enterGate, type GateAccess } from './polite-http-client.ts'
import { navigating } from './pool-task.ts'

type Navigate = NonNullable<CrawleeInternals['_navigationHandler']>

/**
 * Replaces the method that Crawlee calls after all navigation hooks, right before the browser
 * navigates. Also adds hooks to the browser pool.
 */
export function hookNavigation(
  internals: CrawleeInternals,
  access: GateAccess,
  pageRequests: 'check' | 'ignore',
): void {
  const goto = (internals._navigationHandler as Navigate).bind(internals)
  const browserPool = internals.browserPool as BrowserPoolHooks
  const navigate =
    pageRequests === 'check' ? guardEachRequest(browserPool, goto, access) : gateNavigationOnly(goto, access)
  internals._navigationHandler = (context, gotoOptions) => navigating(() => navigate(context, gotoOptions))
}

/**
 * Pauses each request in the browser until the gate admits it. No later interception point exists.
 */
function guardEachRequest(browserPool: BrowserPoolHooks, goto: Navigate, access: GateAccess): Navigate {
  const guardOf = browserGuards(access)
  const addPage = async (page: CrawlerPage, controller: BrowserController) => (await guardOf(controller)).add(page)
  // Before the caller's hooks, which may open pages and navigate them.
  browserPool.postLaunchHooks = [(_, controller) => guardOf(controller), ...browserPool.postLaunchHooks]
  browserPool.postPageCreateHooks = [addPage, ...browserPool.postPageCreateHooks]
  return async (context, gotoOptions) => {
    await addPage(context.page, context.browserController) // a hook may have replaced the page
    const timeoutMs = gotoOptions.timeout ?? 0
    // The browser's own timeout would include the wait at the gate.
    return withHostTimeout(timeoutMs, `Navigation timed out after ${timeoutMs} ms.`, () =>
      goto(context, { ...gotoOptions, timeout: 0 }),
    )
  }
}

/**
 * Waits at the gate once, before the navigation. Redirects and other page requests are not checked.
 */
function gateNavigationOnly(goto: Navigate, access: GateAccess): Navigate {
  return async (context, gotoOptions) => {
    const permit = await enterGate(access, context.request.url, undefined)
    try {
      const response = await goto(context, gotoOptions)
      if (response) permit.release({ status: response.status(), headers: response.headers() })
      return response
    } finally {
      permit.release()
    }
  }
}
