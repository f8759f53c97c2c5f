// A browser's way to a page: the page and each hop of a redirect wait their turn, and whatever the page asks for is checked.
import { BrowserGuards } from './browser-guard.ts'
import type { CrawleeInternals } from './crawlee-internals.ts'
import { within } from './host-timeouts.ts'
import { type Entering, enter } from './polite-http-client.ts'

type Navigate = NonNullable<CrawleeInternals['_navigationHandler']>

/** Crawlee calls what is replaced here when all hooks have run, right before the browser goes to a page. */
export function hookNavigation(
  internals: CrawleeInternals,
  entering: Entering,
  pageRequests: 'check' | 'ignore',
): void {
  const goto = (internals._navigationHandler as Navigate).bind(internals)
  internals._navigationHandler = pageRequests === 'check' ? watched(goto, entering) : unwatched(goto, entering)
}

/** The browser holds each request until the gate lets it leave: that is as late as can be. */
function watched(goto: Navigate, entering: Entering): Navigate {
  const guards = new BrowserGuards(entering)
  return async (visiting, gotoOptions) => {
    const guard = await guards.of(visiting.page)
    await guard.add(visiting.page)
    const timeoutMs = gotoOptions.timeout ?? 0
    // The browser's own clock would count what a request waits at the gate.
    return within(timeoutMs, `Navigation timed out after ${timeoutMs} ms.`, () =>
      goto(visiting, { ...gotoOptions, timeout: 0 }),
    )
  }
}

function unwatched(goto: Navigate, entering: Entering): Navigate {
  return async (visiting, gotoOptions) => {
    const pass = await enter(entering, visiting.request.url, undefined)
    try {
      const response = await goto(visiting, gotoOptions)
      if (response) pass.release({ status: response.status(), headers: response.headers() })
      return response
    } finally {
      pass.release()
    }
  }
}
