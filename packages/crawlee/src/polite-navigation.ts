// A browser's way to a page: the page and each hop of a redirect wait their turn, and whatever the page asks for is checked.
import { AsyncResource } from 'node:async_hooks'
import type { Pass } from '@politely/gate'
import { type HeldRequest, type PageWatch, type SeenAnswer, watchPage } from './devtools.ts'
import { waitingOutside, within } from './host-timeouts.ts'
import type { Inside } from './inside.ts'
import { type Entering, enter } from './polite-http-client.ts'

export function hookNavigation(inside: Inside, entering: Entering, pageRequests: 'check' | 'leave'): void {
  const goto = inside._navigationHandler as NonNullable<Inside['_navigationHandler']>
  // It is called when all hooks have run, right before the browser goes there: a pass that is taken now is used now.
  inside._navigationHandler = async (visiting, gotoOptions) => {
    const { page, request } = visiting
    const requests = new PageRequests(entering)
    page.once('close', () => requests.end())
    if (pageRequests === 'check') await watchPage(page, requests)
    await requests.take(request.url)
    const timeoutMs = gotoOptions.timeout ?? 0
    try {
      // The browser's own clock would count a hop's wait at the gate.
      return await within(timeoutMs, `Navigation timed out after ${timeoutMs} ms.`, () => {
        requests.countFrom(new AsyncResource('politely.Navigation'))
        return goto.call(inside, visiting, { ...gotoOptions, timeout: 0 })
      })
    } catch (error) {
      throw requests.failure ?? error // the browser knows no more than that it was blocked
    } finally {
      requests.arrived()
    }
  }
}

/** The requests of one page. */
class PageRequests implements PageWatch {
  /** Why a request for the page itself was not made. */
  failure: unknown
  readonly #entering: Entering
  readonly #ending = new AbortController()
  /** The pass for the address that the page was sent to, until its request comes. */
  #granted: Pass | undefined
  /** Of requests that are under way. */
  readonly #passes = new Map<string, Pass>()
  /** Whose clocks a wait is kept out of. */
  #scope: AsyncResource | undefined

  constructor(entering: Entering) {
    this.#entering = entering
  }

  async take(url: string): Promise<void> {
    this.#granted = await enter(this.#entering, url, this.#ending.signal)
  }

  countFrom(scope: AsyncResource): void {
    this.#scope = scope
  }

  /** The page is there, or it is not: who has not asked for it by now does not. */
  arrived(): void {
    this.#granted?.leave()
    this.#granted = undefined
    this.#scope = undefined
  }

  end(): void {
    this.#ending.abort(new DOMException('the page was closed', 'AbortError'))
    this.arrived()
    for (const pass of this.#passes.values()) pass.leave()
    this.#passes.clear()
  }

  async allows({ id, url, isHop, isPage }: HeldRequest): Promise<boolean> {
    const granted = this.#granted
    if (isPage && !isHop && granted !== undefined) {
      this.#granted = undefined
      this.#passes.set(id, granted)
      return true
    }
    const ask = () => (isPage ? this.#enter(id, url) : this.#isAllowed(url))
    try {
      return await (this.#scope === undefined ? ask() : this.#scope.runInAsyncScope(ask))
    } catch (error) {
      if (isPage) this.failure = error
      return false
    }
  }

  answered(id: string, answer: SeenAnswer | undefined): void {
    this.#passes.get(id)?.leave(answer)
    this.#passes.delete(id)
  }

  async #enter(id: string, url: string): Promise<boolean> {
    this.#passes.get(id)?.leave() // of the hop before
    this.#passes.set(id, await enter(this.#entering, url, this.#ending.signal))
    return true
  }

  /** What a page shows is checked, and does not wait: a page of a site with a crawl-delay would take an hour. Our choice. */
  async #isAllowed(url: string): Promise<boolean> {
    const { robots } = this.#entering.gate
    return waitingOutside(() => robots.isAllowed(url, { signal: this.#ending.signal }))
  }
}
