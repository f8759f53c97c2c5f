// withRobots: one call, and the pages of a browser context keep robots.txt.
import { OptionError } from '@politely/core'
import { type GateOrOptions, gateFor, type PoliteGate, type RobotsDisallowedError } from '@politely/gate'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { Guard, type Subresources } from './guard.ts'
import { Pages } from './pages.ts'
import { leaveOutSpeculationRules } from './speculation-rules.ts'
import { sendThroughTraffic, trafficOf } from './traffic.ts'

/** How to be polite: a gate of your own, or what to make one of. */
export type WithRobotsOptions = GateOrOptions & {
  /**
   * What a page loads: images, scripts, frames, `fetch`. `check` (the default): each is asked for only where the robots.txt of its origin allows
   * it; none waits for a turn, or a page with fifty images could never be shown. `pass`: they are not looked at.
   */
  readonly subresources?: Subresources | undefined
}

/** What `withRobots` has put in front of a context. */
export interface PoliteContext extends AsyncDisposable {
  readonly gate: PoliteGate
  /** Why this request failed, where it was robots.txt. The last thousand refusals are known. */
  refusalOf(request: Request): RobotsDisallowedError | undefined
  /**
   * The context is again as it was: its requests are no longer looked at. Pages that wait fail with `net::ERR_ABORTED`. The gate and the
   * RobotsClient that were made for it are closed; those you gave stay yours. It closes with the context.
   */
  close(): Promise<void>
}

const polite = new WeakSet<BrowserContext>()

/**
 * Makes the pages of a browser context polite: each request for a page, popups and hops of redirects included, is allowed by robots.txt and
 * waits its turn; what pages load is checked. `goto` of a page that is not allowed rejects with `RobotsDisallowedError`. For Chromium.
 *
 * @throws {OptionError} for an option that cannot be used, and for a context that is polite already or is none of Chromium.
 */
export async function withRobots(context: BrowserContext, options: WithRobotsOptions): Promise<PoliteContext> {
  const browser = browserOf(context)
  if (typeof options !== 'object' || options === null) {
    throw new OptionError('options', 'is missing; write { userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }')
  }
  const { subresources = 'check', ...others } = options
  if (subresources !== 'check' && subresources !== 'pass') {
    throw new OptionError('subresources', `${String(subresources)} is not known; write one of check, pass`)
  }
  if (polite.has(context)) throw new OptionError('context', 'is polite already; call withRobots once')
  const { gate, close: closeGate } = gateFor(others)
  polite.add(context)

  const guard = new Guard(gate, subresources)
  const pages = new Pages(guard)
  const addPage = (page: Page) => pages.add(page)
  const traffic = trafficOf(browser)
  const lookAfter = (request: Request) => {
    if (request.isNavigationRequest()) void guard.lookAfter((requestId) => traffic.stands(requestId))
  }
  const undo: (() => Promise<void>)[] = []
  const closeAll = async () => {
    context.off('page', addPage)
    context.off('requestfailed', lookAfter)
    context.off('close', close)
    guard.close()
    pages.close()
    try {
      for (const step of undo) await step()
    } finally {
      polite.delete(context)
      await closeGate()
    }
  }
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= closeAll()
    return closed
  }

  try {
    context.on('page', addPage)
    context.on('requestfailed', lookAfter)
    context.on('close', close)
    for (const page of context.pages()) addPage(page)
    undo.push(() => traffic.remove(guard))
    await traffic.add(guard, () => pages.contextId())
    undo.push(await leaveOutSpeculationRules(context))
    await Promise.all(context.pages().map(sendThroughTraffic))
  } catch (error) {
    await close()
    throw error
  }
  return {
    gate,
    refusalOf: (request) => (request.failure() === null ? undefined : guard.refusalOf(request.url())),
    close,
    [Symbol.asyncDispose]: close,
  }
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
