// Crawlee's own questions about robots.txt, answered by a RobotsClient: before a request is queued, before it is handled, and about links.
import { originOf } from '@politely/core'
import type { RobotsClient } from '@politely/fetcher'
import type { CrawleeInternals, LinkFilter } from './crawlee-internals.ts'
import { isAdding, whileAdding } from './pool-task.ts'
import { tellVerdict } from './skipped.ts'

export function hookRobots(internals: CrawleeInternals, robots: RobotsClient): void {
  const { addRequests, enqueueLinksWithCrawlDepth, handleSkippedRequest } = internals
  internals.respectRobotsTxtFile = true // `{ userAgent }` is Crawlee's way to a name; the RobotsClient has one
  internals.isAllowedBasedOnRobotsTxtFile = async (url) => {
    if (isAdding() && !(await isKnown(url, robots))) return true
    return robots.isAllowed(url)
  }
  internals.addRequests = (requests, options) => whileAdding(() => addRequests.call(internals, requests, options))
  // Crawlee would fetch one under a browser's name. What is asked of it is answered below.
  internals.getRobotsTxtFileForUrl = async () => undefined

  internals.enqueueLinksWithCrawlDepth = async (options, request, queue) => {
    const robotsTxtFile = await linkFilter(options, [request.url, request.loadedUrl], robots)
    return enqueueLinksWithCrawlDepth.call(internals, { ...options, robotsTxtFile } as typeof options, request, queue)
  }

  internals.handleSkippedRequest = async (skipped) => {
    if (skipped.reason === 'robotsTxt') tellVerdict(skipped, await robots.check(skipped.url))
    await handleSkippedRequest.call(internals, skipped)
  }
}

/**
 * Crawlee asks about requests that are added one after another: those of an origin whose robots.txt is not known yet go to
 * the queue, or a list of sites would wait for the slowest of them before the first page. They are checked when their turn
 * comes.
 */
async function isKnown(url: string, robots: RobotsClient): Promise<boolean> {
  const inspection = await robots.inspect(url)
  return 'source' in inspection && inspection.source === 'memory' // what is no URL, Crawlee says itself
}

type LinkOptions = Parameters<CrawleeInternals['enqueueLinksWithCrawlDepth']>[0]

/**
 * Crawlee asks about links one by one and awaits no answer: those of the page's own origin, whose robots.txt is known, are
 * answered beforehand. Those of
 * another origin go to the queue, as its robots.txt is not fetched for the sake of links that may never be followed; they are checked when
 * their turn comes. A `robotsTxtFile` of the user's own has to allow a link, too.
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
