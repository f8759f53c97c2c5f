// The guard of one browser of a crawler: what its pages and whatever else it runs ask for leaves when the gate lets it.
import { AsyncResource } from 'node:async_hooks'
import { type Admission, type Around, Guard, Pages, trafficOf } from '@politely/devtools'
import { browserOf, type DrivenBrowser, type DriverOwnPage, drivenPage } from './driver.ts'
import { waitingOutside } from './host-timeouts.ts'
import { type Entering, enter } from './polite-http-client.ts'

/** The guards of all browsers that a crawler has. */
export class BrowserGuards {
  readonly #entering: Entering
  /** By the driver's own. */
  readonly #guards = new WeakMap<object, Promise<BrowserGuard>>()

  constructor(entering: Entering) {
    this.#entering = entering
  }

  /** With the first page of a browser it begins, and it ends with the browser. */
  of(page: DriverOwnPage): Promise<BrowserGuard> {
    const browser = browserOf(page)
    const known = this.#guards.get(browser.own)
    if (known !== undefined) return known
    const guard = new BrowserGuard(browser, this.#entering)
    const begun = guard.begin().then(() => guard)
    this.#guards.set(browser.own, begun)
    begun.catch(() => this.#guards.delete(browser.own))
    return begun
  }
}

class BrowserGuard implements Admission {
  readonly #browser: DrivenBrowser
  readonly #entering: Entering
  readonly #guard: Guard
  readonly #pages: Pages
  /** Visits under way, by the target of their page: the task of each, and the clocks that a wait is kept out of. */
  readonly #visits = new Map<string, AsyncResource>()

  constructor(browser: DrivenBrowser, entering: Entering) {
    this.#browser = browser
    this.#entering = entering
    this.#guard = new Guard(this, { owns: 'all', pageRequests: 'check', refusedPage: browser.refusedPage })
    this.#pages = new Pages(this.#guard, browser, this.#visit)
  }

  async begin(): Promise<void> {
    this.#browser.own.once('disconnected', () => void this.#end())
    try {
      await trafficOf(this.#browser).add(this.#guard)
    } catch (error) {
      await this.#end()
      throw error
    }
  }

  /** From now on `goto` of this page is a visit, and rejects with what the guard says. */
  async add(page: DriverOwnPage): Promise<void> {
    await this.#pages.add(drivenPage(page))
  }

  /** Of a page that no visit leads to, such as a popup, nobody's clock counts the wait. */
  enter: Admission['enter'] = (url, { signal }, targetId) => {
    const go = () => enter(this.#entering, url, signal)
    return this.#visits.get(targetId)?.runInAsyncScope(go) ?? this.#entering.gate.enter(url, { signal })
  }

  /** What a page shows is checked, and does not wait: a page of a site with a crawl-delay would take an hour. Our choice. */
  check: Admission['check'] = (url, { signal }, frameId) => {
    const own = this.#visits.get(frameId)
    // A frame inside of a page: nobody knows here whose it is, and so no visit counts it.
    const visits = own === undefined ? [...this.#visits.values()] : [own]
    const ask = () => this.#entering.gate.check(url, { signal })
    const outside = (work: typeof ask, visit: AsyncResource) => () => visit.runInAsyncScope(() => waitingOutside(work))
    return visits.reduce(outside, ask)()
  }

  #visit: Around = async (targetId, call) => {
    const visit = new AsyncResource('politely.Visit')
    this.#visits.set(targetId, visit)
    try {
      return await call()
    } finally {
      if (this.#visits.get(targetId) === visit) this.#visits.delete(targetId)
    }
  }

  async #end(): Promise<void> {
    await this.#guard.close()
    await trafficOf(this.#browser).remove(this.#guard)
  }
}
