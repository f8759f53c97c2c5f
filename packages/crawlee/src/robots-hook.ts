// Replaces Crawlee's own checks of robots.txt with the checks of a RobotsClient: before a request
// is queued, before it is handled, and for links.
import { originOf } from '@politely/core'
import type { RobotsClient } from '@politely/fetcher'
import type { CrawleeInternals, LinkFilter } from './crawlee-internals.ts'
import { isAddingRequests, whileAddingRequests } from './pool-task.ts'
import { rememberVerdict } from './skipped.ts'

export function hookRobots(internals: CrawleeInternals, robots: RobotsClient): void {
  const { addRequests, enqueueLinksWithCrawlDepth, handleSkippedRequest } = internals
  internals.respectRobotsTxtFile = true // Crawlee's `{ userAgent }` is not needed: the RobotsClient has its own
  internals.isAllowedBasedOnRobotsTxtFile = async (url) => {
    if (isAddingRequests() && !(await isKnown(url, robots))) return true
    return robots.isAllowed(url)
  }
  internals.addRequests = (requests, options) =>
    whileAddingRequests(() => addRequests.call(internals, requests, options))
  // Crawlee would fetch robots.txt under a browser's User-Agent. The link filter below replaces the
  // file.
  internals.getRobotsTxtFileForUrl = async () => undefined

  internals.enqueueLinksWithCrawlDepth = async (options, request, queue) => {
    const robotsTxtFile = await linkFilter(options, [request.url, request.loadedUrl], robots)
    return enqueueLinksWithCrawlDepth.call(internals, { ...options, robotsTxtFile } as typeof options, request, queue)
  }

  internals.handleSkippedRequest = async (skipped) => {
    if (skipped.reason === 'robotsTxt') rememberVerdict(skipped, await robots.check(skipped.url))
    await handleSkippedRequest.call(internals, skipped)
  }
}

/**
 * Returns whether the robots.txt of a URL is in memory. Crawlee checks added requests one after
 * another. Requests of an origin whose robots.txt is not in memory are queued unchecked: otherwise
 * a list of sites would wait for the slowest robots.txt before its first page. They are checked
 * when their turn comes.
 */
async function isKnown(url: string, robots: RobotsClient): Promise<boolean> {
  const inspection = await robots.inspect(url)
  return 'source' in inspection && inspection.source === 'memory' // Crawlee itself reports an invalid URL
}

type LinkOptions = Parameters<CrawleeInternals['enqueueLinksWithCrawlDepth']>[0]

/**
 * Makes a synchronous filter, because Crawlee filters links one by one and synchronously. Links of
 * the page's own origin are checked here, in advance: its robots.txt is known. Links of other
 * origins pass, so that no robots.txt is fetched for links that may never be followed; they are
 * checked when their turn comes. A `robotsTxtFile` that the user passes must also allow a link.
 */
async function linkFilter(
  options: LinkOptions,
  pageUrls: readonly (string | undefined)[],
  robots: RobotsClient,
): Promise<LinkFilter> {
  const own = options.robotsTxtFile as LinkFilter | undefined
  const origins = new Set(pageUrls.map((url) => url && originOf(url)))
  const refused = new Set<string>()
  for (const link of options.urls) {
    const url = URL.parse(typeof link === 'string' ? link : link.url, options.baseUrl)
    if (url === null || !origins.has(originOf(url.href))) continue
    if (!(await robots.isAllowed(url))) refused.add(url.href)
  }
  return { isAllowed: (url, userAgent) => !refused.has(url) && (own?.isAllowed(url, userAgent) ?? true) }
}
