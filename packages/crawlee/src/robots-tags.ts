// The option `robotsTags: 'obey'`: marks pages by their robots tags, and does not enqueue the links
// of pages whose tags say nofollow.
import { OptionError } from '@politely/core'
import { describeSource, type RobotsDirective, type RobotsDirectives, robotsDirectives } from '@politely/core/usage'
import { withoutCredentials } from '@politely/fetcher'
import type { PoliteGate } from '@politely/gate'
import { type CrawleeInternals, linkUrlsOf } from './crawlee-internals.ts'
import { reasons } from './skipped.ts'
import { loadedPage, type PageContext } from './usage/loaded-page.ts'

/** A context, whose request can be marked. */
interface MarkedContext extends PageContext {
  readonly request: PageContext['request'] & { readonly userData: Record<string, unknown> }
}

/**
 * @throws {OptionError} for a crawler that does not load pages.
 */
export function obeyRobotsTags(internals: CrawleeInternals, { robots }: PoliteGate): void {
  if (!('proxyConfiguration' in internals))
    // of every crawler that loads pages
    throw new OptionError(
      'robotsTags',
      "'obey' needs an HTTP crawler or a browser crawler: a BasicCrawler does not load pages",
    )
  const contexts = new WeakMap<object, PageContext>()
  const tagsOf = async (context: PageContext): Promise<RobotsDirectives | undefined> => {
    const page = await loadedPage(context)
    return page && robotsDirectives({ headers: page.headers, html: page.html }, robots.productTokens)
  }
  const handler = internals._navigationHandler === undefined ? 'requestHandler' : 'userProvidedRequestHandler'
  // A router has properties that Crawlee reads. A proxy keeps them.
  internals[handler] = new Proxy(internals[handler] as Handler, {
    apply: async (handle, self, args) => {
      const context = args[0] as MarkedContext
      const { request } = context
      contexts.set(request, context)
      const tags = await tagsOf(context)
      if (tags !== undefined) {
        const { noindex, nofollow } = tags
        request.userData.politely = { ...(request.userData.politely as object | undefined), noindex, nofollow }
      }
      return Reflect.apply(handle, self, args)
    },
  })

  const { enqueueLinksWithCrawlDepth } = internals
  internals.enqueueLinksWithCrawlDepth = async (options, request, queue) => {
    const context = contexts.get(request)
    // Read again: a script may have added a tag since the handler was called.
    const tags = context && (await tagsOf(context))
    const tag = tags && [...tags.list, ...tags.uncertain].find(isNofollow)
    if (tag === undefined) return enqueueLinksWithCrawlDepth.call(internals, options, request, queue)
    const url = withoutCredentials(request.loadedUrl ?? request.url)
    internals.log.debug(`Skipping the links of ${url}: ${describeSource(tag.source)} says ${tag.name}`)
    for (const { href } of linkUrlsOf(options)) {
      const skipped = { url: href, reason: 'filters' } as const
      reasons.set(skipped, { tag })
      await internals.handleSkippedRequest(skipped)
      await options.onSkippedRequest?.(skipped)
    }
    return { processedRequests: [], unprocessedRequests: [] }
  }
}

type Handler = NonNullable<CrawleeInternals['requestHandler']>

function isNofollow({ name }: RobotsDirective): boolean {
  return name === 'nofollow' || name === 'none'
}
