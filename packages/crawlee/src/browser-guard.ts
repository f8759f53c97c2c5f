// Guards one browser of a crawler: each request of its pages and workers is sent when the gate
// admits it.
import { AsyncResource } from 'node:async_hooks'
import { trafficOf } from '@politely/cdp'
import { Guard, GuardedPages, type RequestAdmission, type WrapNavigation } from '@politely/cdp/internal'
import type { BrowserController } from './crawlee-internals.ts'
import { adaptBrowser, adaptPage, type CrawlerBrowser, type CrawlerPage } from './driver.ts'
import { outsideTimeouts } from './host-timeouts.ts'
import { enterGate, type GateAccess } from './polite-http-client.ts'

/**
 * Returns a function that returns the guard of a browser. Its first call starts the guard, which
 * ends with the browser.
 */
export function browserGuards(access: GateAccess): (controller: BrowserController) => Promise<CrawlerBrowserGuard> {
  const guards = new WeakMap<BrowserController, Promise<CrawlerBrowserGuard>>()
  const start = async ({ browser }: BrowserController) => {
    const guard = new CrawlerBrowserGuard(adaptBrowser(browser), access)
    await guard.start()
    return guard
  }
  return (controller) => {
    const known = guards.get(controller)
    if (known !== undefined) return known
    const started = start(controller)
    guards.set(controller, started)
    started.catch(() => guards.delete(controller))
    return started
  }
}

export class CrawlerBrowserGuard implements RequestAdmission {
  readonly #browser: CrawlerBrowser
  readonly #access: GateAccess
  readonly #guard: Guard
  readonly #pages: GuardedPages
  /**
   * Visits under way, by the target ID of their page. Each holds the async context of its pool
   * task, and so the timeouts to extend.
   */
  readonly #visits = new Map<string, AsyncResource>()

  constructor(browser: CrawlerBrowser, access: GateAccess) {
    this.#browser = browser
    this.#access = access
    this.#guard = new Guard(this, {
      gate: access.gate,
      contexts: 'all',
      pageRequests: 'check',
      refusedPage: browser.refusedPage,
    })
    this.#pages = new GuardedPages(this.#guard, browser, this.#runVisit)
  }

  async start(): Promise<void> {
    this.#browser.driverObject.once('disconnected', () => void this.#close())
    // If a page cannot be added, its navigations reject with the error.
    this.#browser.listen?.((page) => void this.#pages.add(page).catch(() => undefined))
    try {
      await trafficOf(this.#browser).add(this.#guard)
      const open = await this.#browser.pages()
      await Promise.all(open.map((page) => this.#pages.add(page)))
      await trafficOf(this.#browser).interceptOpenPages(this.#guard)
    } catch (error) {
      await this.#close()
      throw error
    }
  }

  /** Makes each `goto` of this page a visit, which rejects with the guard's errors. */
  async add(page: CrawlerPage): Promise<void> {
    await this.#pages.add(adaptPage(page))
  }

  /** Waits at the gate. A page without a visit, such as a popup, has no timeouts to extend. */
  enter: RequestAdmission['enter'] = (url, options, targetId) => {
    const enterInVisit = () => enterGate(this.#access, url, options.signal, options.redirectedFrom)
    return this.#visits.get(targetId)?.runInAsyncScope(enterInVisit) ?? this.#access.gate.enter(url, options)
  }

  /**
   * Checks a page request. It does not wait for a turn: on a site with a crawl-delay, loading a
   * page would take minutes. Our choice.
   */
  check: RequestAdmission['check'] = (url, options, frameId) => {
    const ownVisit = this.#visits.get(frameId)
    // The page of a subframe or a worker is not known here, so the timeouts of all visits are
    // extended, each up to the limit for page requests.
    const visits = ownVisit === undefined ? [...this.#visits.values()] : [ownVisit]
    const check = () => this.#access.gate.check(url, options)
    const extendTimeouts = (work: typeof check, visit: AsyncResource) => () =>
      visit.runInAsyncScope(() => outsideTimeouts('page-request', work))
    return visits.reduce(extendTimeouts, check)()
  }

  #runVisit: WrapNavigation = async (targetId, call) => {
    const visit = new AsyncResource('politely.Visit')
    this.#visits.set(targetId, visit)
    try {
      return await call()
    } finally {
      if (this.#visits.get(targetId) === visit) this.#visits.delete(targetId)
    }
  }

  async #close(): Promise<void> {
    await this.#guard.close()
    await trafficOf(this.#browser).remove(this.#guard)
  }
}
