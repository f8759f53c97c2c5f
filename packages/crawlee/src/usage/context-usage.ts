// usageOf: what may be done with the page of a context of Crawlee.
import { OptionError } from '@politely/core'
import type { ClientUsage, UsageOptions } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/internal'
import type { PoliteGate } from '@politely/gate'
import { outsideTimeouts } from '../host-timeouts.ts'
import { loadedPage, type PageContext } from './loaded-page.ts'

/**
 * The context that a handler of a crawler gets.
 * @inline
 */
export interface CrawledPage {
  readonly request: { readonly url: string; readonly loadedUrl?: string | undefined }
  readonly crawler: object
}

/** The gates of all polite crawlers. */
export const gates: WeakMap<object, PoliteGate> = new WeakMap()

/**
 * Returns what may be done with the page of a handler: whether the site lets the crawler index it,
 * train on it and so on. The same as `usage` of the crawler's RobotsClient, with the URL after
 * redirects. Fetches robots.txt and tdmrep.json of the origin if they are not cached or are stale,
 * and nothing else. Meanwhile `requestHandlerTimeoutSecs` stands still.
 *
 * Of an HTTP crawler, it reads the headers and the head of the body. Of a browser crawler, it reads
 * the headers of the navigation, the head of the HTML that the server sent, and the head of the page
 * as it is now. Call it before the handler navigates elsewhere.
 *
 * @example
 * ```ts
 * import { CheerioCrawler } from '@crawlee/cheerio'
 * import { usageOf, withRobots } from '@politely/crawlee'
 *
 * const crawler = new CheerioCrawler({
 *   requestHandler: async (context) => {
 *     const { purposes } = await usageOf(context)
 *     if (purposes['train-ai'].answer === 'disallowed') return
 *     console.log(context.request.loadedUrl)
 *   },
 * })
 * withRobots(crawler, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * ```
 *
 * @throws {OptionError} for a value that is not the context of a polite crawler, and for an invalid
 * option.
 */
export async function usageOf(context: CrawledPage, options: UsageOptions = {}): Promise<ClientUsage> {
  const { crawler, request } = (context ?? {}) as Partial<CrawledPage>
  if (typeof crawler !== 'object' || crawler === null || request === undefined)
    throw new OptionError(
      'context',
      `${describeValue(context)} is not a context; write usageOf(context) in the requestHandler`,
    )
  const gate = gates.get(crawler)
  if (gate === undefined)
    throw new OptionError('context', 'its crawler is not polite; write withRobots(crawler, { … }) before crawler.run()')
  const page = await loadedPage(context as PageContext)
  // The time limit of the handler is not for the fetches of these files.
  return outsideTimeouts('gate', () => gate.robots.usage(request.loadedUrl ?? request.url, page, options))
}
