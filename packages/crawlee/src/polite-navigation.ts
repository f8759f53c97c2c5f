// A browser's way to a page: the page and each hop of a redirect wait their turn, and whatever the page asks for is checked.
import { AsyncResource } from 'node:async_hooks'
import type { Pass } from '@politely/gate'
import { type HeldRequest, type PageWatch, type SeenAnswer, watchPage } from './devtools.ts'
import { waitingOutside, within } from './host-timeouts.ts'
import type { Inside } from './inside.ts'
import { type Entering, enter } from './polite-http-client.ts'

type Navigate = NonNullable<Inside['_navigationHandler']>

/** Crawlee calls what is replaced here when all hooks have run, right before the browser goes to a page. */
export function hookNavigation(inside: Inside, entering: Entering, pageRequests: 'check' | 'leave'): void {
  const goto = (inside._navigationHandler as Navigate).bind(inside)
  inside._navigationHandler = pageRequests === 'check' ? watched(goto, entering) : unwatched(goto, entering)
}

/** The browser holds each request until the gate lets it leave: that is as late as can be. */
function watched(goto: Navigate, entering: Entering): Navigate {
  return async (visiting, gotoOptions) => {
    const requests = new PageRequests(entering)
    visiting.page.once('close', () => requests.end())
    await watchPage(visiting.page, requests)
    const timeoutMs = gotoOptions.timeout ?? 0
    try {
      // The browser's own clock would count what a request waits at the gate.
      return await within(timeoutMs, `Navigation timed out after ${timeoutMs} ms.`, () => {
        requests.scope = new AsyncResource('politely.Navigation')
        return goto(visiting, { ...gotoOptions, timeout: 0 })
      })
    } catch (error) {
      throw requests.failure ?? error // the browser knows no more than that it was blocked
    } finally {
      requests.scope = undefined
    }
  }
}

function unwatched(goto: Navigate, entering: Entering): Navigate {
  return async (visiting, gotoOptions) => {
    const pass = await enter(entering, visiting.request.url, undefined)
    try {
      const response = await goto(visiting, gotoOptions)
      if (response) pass.leave({ status: response.status(), headers: response.headers() })
      return response
    } finally {
      pass.leave()
    }
  }
}

/** The requests of one page. */
class PageRequests implements PageWatch {
  /** Why a request for the page itself was not made. */
  failure: unknown
  /** The navigation under way: its task, and the clocks that a wait is kept out of. */
  scope: AsyncResource | undefined
  readonly #entering: Entering
  readonly #ending = new AbortController()
  /** Of requests for the page itself that are under way. */
  readonly #passes = new Map<string, Pass>()

  constructor(entering: Entering) {
    this.#entering = entering
  }

  /** The page is gone. */
  end(): void {
    this.#ending.abort(new DOMException('the page was closed', 'AbortError'))
    for (const pass of this.#passes.values()) pass.leave()
    this.#passes.clear()
  }

  async allows({ id, url, isPage }: HeldRequest): Promise<boolean> {
    const ask = () => (isPage ? this.#enter(id, url) : this.#isAllowed(url))
    try {
      return await (this.scope === undefined ? ask() : this.scope.runInAsyncScope(ask))
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
    this.#passes.set(id, await enter(this.#entering, url, this.#ending.signal))
    return true
  }

  /** What a page shows is checked, and does not wait: a page of a site with a crawl-delay would take an hour. Our choice. */
  async #isAllowed(url: string): Promise<boolean> {
    const { robots } = this.#entering.gate
    return waitingOutside(() => robots.isAllowed(url, { signal: this.#ending.signal }))
  }
}
