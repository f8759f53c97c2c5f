// withRobots: one call, and the pages of a browser, or of one of its contexts, keep robots.txt.
import { OptionError } from '@politely/core'
import { type GateOrOptions, gateFor, type PoliteGate, type RobotsDisallowedError } from '@politely/gate'
import type { Browser, BrowserContext, HTTPRequest } from 'puppeteer-core'
import { Guard, type Subresources } from './guard.ts'
import { Pages } from './pages.ts'
import { type Owns, sendThroughTraffic, trafficOf } from './traffic.ts'

/** How to be polite: a gate of your own, or what to make one of. */
export type WithRobotsOptions = GateOrOptions & {
  /**
   * What a page loads: images, scripts, frames, `fetch`. `check` (the default): each is asked for only where the robots.txt of its origin allows
   * it; none waits for a turn, or a page with fifty images could never be shown. `pass`: they are not looked at.
   */
  readonly subresources?: Subresources | undefined
}

/** What `withRobots` has put in front of a browser, or of a context. */
export interface PoliteBrowser extends AsyncDisposable {
  readonly gate: PoliteGate
  /** Why this request failed, where it was robots.txt. The last thousand refusals are known. */
  refusalOf(request: HTTPRequest): RobotsDisallowedError | undefined
  /**
   * All is again as it was: requests are no longer looked at. Pages that wait fail with `net::ERR_ABORTED`. The gate and the RobotsClient
   * that were made for it are closed; those you gave stay yours. It closes with the browser.
   */
  close(): Promise<void>
}

const polite = new WeakSet<Browser | BrowserContext>()

/**
 * Makes the pages of a browser, or of one of its contexts, polite: each request for a page, popups and hops of redirects included, is allowed
 * by robots.txt and waits its turn; what pages load is checked. `goto` of a page that is not allowed rejects with `RobotsDisallowedError`.
 * For Chromium.
 *
 * @throws {OptionError} for an option that cannot be used, and for what is polite already, or is no browser that speaks the DevTools protocol.
 */
export async function withRobots(target: Browser | BrowserContext, options: WithRobotsOptions): Promise<PoliteBrowser> {
  const { browser, context } = placeOf(target)
  if (typeof options !== 'object' || options === null) {
    throw new OptionError('options', 'is missing; write { userAgent: "ExampleBot/1.0 (+https://example.com/bot)" }')
  }
  const { subresources = 'check', ...others } = options
  if (subresources !== 'check' && subresources !== 'pass') {
    throw new OptionError('subresources', `${String(subresources)} is not known; write one of check, pass`)
  }
  const inside = context === undefined ? browser.browserContexts() : [browser]
  if ([target, ...inside].some((one) => polite.has(one))) {
    throw new OptionError('target', 'is polite already; call withRobots once, for the browser or for each context')
  }
  const { gate, close: closeGate } = gateFor(others)
  polite.add(target)

  const guard = new Guard(gate, subresources, ownedBy(browser, context))
  const pages = new Pages(guard, target)
  const undo: (() => Promise<void>)[] = []
  const closeAll = async () => {
    browser.off('disconnected', close)
    await guard.close()
    for (const step of undo) await step()
    await pages.close()
    polite.delete(target)
    await closeGate()
  }
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= closeAll()
    return closed
  }

  try {
    browser.on('disconnected', close)
    const traffic = await trafficOf(browser)
    traffic.add(guard)
    undo.push(() => traffic.remove(guard))
    const open = await pages.start()
    await Promise.all(open.map(sendThroughTraffic))
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

function placeOf(target: Browser | BrowserContext): { browser: Browser; context: BrowserContext | undefined } {
  const { browserContexts, browser } = (target ?? {}) as { browserContexts?: unknown; browser?: unknown }
  if (typeof browserContexts === 'function') return { browser: target as Browser, context: undefined }
  // A page has `browser()` as well; a context has `newPage`, and a page has not.
  if (typeof browser === 'function' && 'newPage' in target) {
    return { browser: (target as BrowserContext).browser(), context: target as BrowserContext }
  }
  throw new OptionError('target', 'must be a Browser or a BrowserContext; of a page it is page.browserContext()')
}

/** The default context does not know its name: it is the one that is no other's. */
function ownedBy(browser: Browser, context: BrowserContext | undefined): Owns {
  if (context === undefined) return 'all'
  if (context.id !== undefined) return (contextId) => contextId === context.id
  return (contextId) => !browser.browserContexts().some(({ id }) => id !== undefined && id === contextId)
}
