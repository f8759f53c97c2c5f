// Keeps one crawler alive and visits pages through its queue. The outcome of a visit is what the
// crawler reports to its user.
import type { Request } from '@crawlee/basic'
import { RobotsDisallowedError } from '@politely/gate'
import type { AdapterUnderTest, Visit } from '@politely/testkit/cases/adapter-cases'
import type { AnyCrawler } from '../src/crawlee-internals.ts'
import { verdictOf } from '../src/index.ts'

/** The handlers to construct a crawler with. */
export interface VisitHandlers<S> {
  /** To be called by the crawler's request handler. */
  readonly onResponse: (request: Request, status: S) => void
  readonly failedRequestHandler: (context: { request: Request }, error: Error) => void
  readonly onSkippedRequest: (skipped: { url: string; reason: string }) => void
}

export function openVisits(make: (handlers: VisitHandlers<number>) => AnyCrawler): AdapterUnderTest {
  const open = new Map<
    string,
    { readonly resolve: (visit: Visit) => void; readonly reject: (error: unknown) => void }
  >()
  const crawler = make({
    onResponse: ({ url }, status) => open.get(url)?.resolve({ kind: 'answered', status }),
    failedRequestHandler: ({ request: { url } }, error) => {
      if (error instanceof RobotsDisallowedError) open.get(url)?.resolve({ kind: 'refused', verdict: error.verdict })
      else open.get(url)?.reject(error)
    },
    onSkippedRequest: (skipped) => open.get(skipped.url)?.resolve({ kind: 'refused', verdict: verdictOf(skipped) }),
  })
  const run = crawler.run()
  return {
    visit: async (url, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<Visit>()
      open.set(url, { resolve, reject })
      // Crawlee cannot cancel a single request, so the user ends the crawl.
      const abort = () => crawler.teardown().then(() => reject(signal.reason), reject)
      signal.addEventListener('abort', abort, { once: true })
      await crawler.addRequests([url])
      return promise
    },
    close: async () => {
      await crawler.teardown()
      await run
    },
  }
}
