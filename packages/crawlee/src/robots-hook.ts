// Replaces Crawlee's own checks of robots.txt: a RobotsClient checks each request before it is
// queued and before it is handled, and each link.
import type { Request } from '@crawlee/basic'
import { describeVerdict, originOf } from '@politely/core'
import { type ClientVerdict, loggableVerdict, type RobotsClient, withoutCredentials } from '@politely/fetcher'
import { CircuitOpenError, type PoliteGate } from '@politely/gate'
import { type CrawleeInternals, type LinkFilter, type LinkOptions, linkUrlsOf } from './crawlee-internals.ts'
import { linkSources, linkSourcesOf } from './link-sources.ts'
import { currentTask, isAddingRequests } from './pool-task.ts'
import { reasons, refusalOf, verdictOf } from './skipped.ts'

export function hookRobots(internals: CrawleeInternals, gate: PoliteGate): void {
  const { robots } = gate
  const { enqueueLinksWithCrawlDepth, handleSkippedRequest } = internals
  // Crawlee would fetch robots.txt under a browser's User-Agent. The method below, and the filter of
  // links, replace the file.
  internals.respectRobotsTxtFile = false
  internals.isAllowedBasedOnRobotsTxtFile = async (url) => {
    const redirectedFrom = isAddingRequests() ? linkSources(robots, url) : linkSourcesOf(currentTask()?.request)
    if (isAddingRequests() && redirectedFrom.length === 0 && !(await isKnown(url, robots))) return true
    return isAdmitted(url, gate, redirectedFrom)
  }
  internals.enqueueLinksWithCrawlDepth = async (options, request, queue) => {
    const robotsTxtFile = await linkFilter(options, request, gate)
    const filtered = { ...options, robotsTxtFile, respectRobotsTxtFile: options.respectRobotsTxtFile ?? true }
    return enqueueLinksWithCrawlDepth.call(internals, filtered as typeof options, request, queue)
  }

  const logSkipped = replaceLog(internals)
  internals.handleSkippedRequest = async (skipped) => {
    const refusal = refusalOf(skipped)
    if (refusal !== undefined) logSkipped(skipped.url, refusal)
    else if (skipped.reason === 'robotsTxt') {
      const request = currentTask()?.request
      const isOwn = request?.url === skipped.url
      const redirectedFrom = isOwn ? linkSourcesOf(request) : linkSources(robots, skipped.url)
      const verdict = verdictOf(skipped) ?? (await robots.check(skipped.url, { redirectedFrom }))
      reasons.set(skipped, { verdict })
      logSkipped(skipped.url, verdict)
    }
    await handleSkippedRequest.call(internals, skipped)
  }
}

/** Logs why a request was skipped, once for each origin and kind of reason. */
type LogSkipped = (url: string, reason: ClientVerdict | CircuitOpenError) => void

/** What Crawlee writes about each skipped request. It is wrong if robots.txt is unreachable. */
const OF_CRAWLEE =
  /^(Some requests were skipped because they were|Skipping request .* because it is) disallowed based on/

/** How many origins are remembered, at most. Then all of them are logged again. */
const MAX_LOGGED_ORIGINS = 10_000

/**
 * Removes Crawlee's messages about skipped requests from the log of a crawler. Returns a function
 * that logs the verdict instead, once for each origin and kind of reason.
 */
function replaceLog(internals: CrawleeInternals): LogSkipped {
  const { log } = internals
  const logged = new Set<string>()
  internals.log = Object.create(log, {
    warning: {
      value: (message: string, data?: object) => {
        if (!OF_CRAWLEE.test(message)) log.warning(message, data)
      },
    },
  }) as typeof log
  return (skippedUrl, reason) => {
    const isVerdict = !(reason instanceof CircuitOpenError)
    const verdict = isVerdict ? reason : reason.verdict
    const key = `${isVerdict ? verdict.because : reason.code} ${verdict.origin ?? verdict.url}`
    if ((isVerdict && verdict.allowed) || logged.has(key)) return // another filter of the user's has skipped an allowed link
    if (logged.size >= MAX_LOGGED_ORIGINS) logged.clear()
    logged.add(key)
    const { url, origin } = loggableVerdict(verdict)
    const more =
      origin === undefined
        ? ''
        : `. Further requests to ${origin} that are skipped for this reason are not logged; onSkippedRequest gets them all`
    const from = withoutCredentials(skippedUrl)
    const target = url === from || URL.parse(from)?.href === url ? '' : `it leads to ${url}, which is `
    const what = isVerdict ? `request ${from}: ${target}${describeVerdict(verdict)}` : `a request: ${reason.message}`
    log.warning(`Skipping ${what}${more}`)
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

/** Returns whether robots.txt allows a URL, or the option `obey` still admits it. */
async function isAdmitted(url: string, gate: PoliteGate, redirectedFrom: readonly string[]): Promise<boolean> {
  const { robots } = gate
  if (redirectedFrom.length === 0 && (await robots.isAllowed(url))) return true
  return gate.admits(await robots.check(url, { redirectedFrom }))
}

/**
 * Makes a synchronous filter, because Crawlee filters links one by one and synchronously. Links of
 * the page's own origin are checked here, in advance: its robots.txt is known. Links of other
 * origins pass, so that no robots.txt is fetched for links that may never be followed; they are
 * checked when their turn comes. Links of a public page to a private host are checked at once, which
 * needs no request. A `robotsTxtFile` that the user passes must also allow a link.
 */
async function linkFilter(options: LinkOptions, page: Request, gate: PoliteGate): Promise<LinkFilter> {
  const own = options.robotsTxtFile as LinkFilter | undefined
  const origins = new Set([page.url, page.loadedUrl].map((url) => url && originOf(url)))
  const refused = new Set<string>()
  for (const url of linkUrlsOf(options)) {
    const redirectedFrom = linkSources(gate.robots, url.href, page)
    if (redirectedFrom.length === 0 && !origins.has(originOf(url.href))) continue
    if (!(await isAdmitted(url.href, gate, redirectedFrom))) refused.add(url.href)
  }
  return { isAllowed: (url, userAgent) => !refused.has(url) && (own?.isAllowed(url, userAgent) ?? true) }
}
