// withRobots: makes a Crawlee crawler follow robots.txt.
import type { Request } from '@crawlee/basic'
import { OptionError } from '@politely/core'
import type { RobotsClient } from '@politely/fetcher'
import { abortSignal, number, onAbort, oneOf } from '@politely/fetcher/internal'
import type { GateOrOptions } from '@politely/gate'
import {
  BudgetError,
  InvalidRequestError,
  type ResponseCache,
  RobotsDisallowedError,
  resolveGate,
} from '@politely/gate'
import { assertGateOptions, checkedCache } from '@politely/gate/internal'
import { CachedPages } from './cache/cached-pages.ts'
import {
  type AnyCrawler,
  type CrawleeInternals,
  hookRequests,
  internalsOf,
  type RequestSource,
} from './crawlee-internals.ts'
import { DeferredRequests } from './deferred-requests.ts'
import { RefusedRequests, replaceFailureLog } from './failed/refused-requests.ts'
import { markLinks } from './link-sources.ts'
import { FollowingClientError, PoliteHttpClient } from './polite-http-client.ts'
import { hookNavigation } from './polite-navigation.ts'
import { currentTask, PoolTasks, whileAddingRequests } from './pool-task.ts'
import { fetchThroughProxies } from './proxied-fetch.ts'
import { RedirectError } from './redirected.ts'
import { hookRobots } from './robots-hook.ts'
import { obeyRobotsTags } from './robots-tags.ts'
import { gates } from './usage/loaded-page.ts'

/**
 * Your own `gate`, or your own `robots` and the options of a gate, or the options of both; and six
 * options for Crawlee.
 */
export type WithRobotsOptions = GateOrOptions & {
  /**
   * The longest wait that a request spends in Crawlee's pool. Milliseconds. A request that must
   * wait longer is deferred: it leaves the pool, so that requests of other sites can run, and
   * returns when its turn is near. A request is also deferred while its robots.txt is fetched, and
   * while another request of its origin is on its way to the gate. With `Infinity` no request is
   * deferred.
   *
   * @default 20
   */
  readonly deferBeyondMs?: number | undefined
  /**
   * How long the crawl goes on if only resting sites are left. Milliseconds. A site rests after its
   * last requests failed (option `circuit`). Then these requests are skipped: `onSkippedRequest`
   * gets each of them, and `refusalOf` says why. With `Infinity` the crawl waits until the sites
   * are back. With `keepAlive` no request is skipped.
   *
   * @default 120000
   */
  readonly giveUpAfterMs?: number | undefined
  /**
   * How to treat the requests that a browser makes for a page. HTTP crawlers ignore this option.
   *
   * `check`: each request is checked before it is sent: redirects, frames, scripts, images.
   * Navigations and their redirects also wait for their turn. Needs Chromium. `ignore`: only the
   * URL of each crawled request is checked and waits. The browser's redirects and all other
   * requests are sent without a check, and service workers stay on.
   *
   * @default 'check'
   */
  readonly pageRequests?: 'check' | 'ignore' | undefined
  /**
   * What counts towards a timeout in the `signal` of a request, such as
   * `sendRequest({ signal: AbortSignal.timeout(10_000) })`. `from-call`: the wait too. `from-sending`:
   * only the time that the request is under way, as with `politely(fetch, { callerTimeouts })`.
   * Crawlee's own timeouts never count the wait.
   *
   * @default 'from-call'
   */
  readonly callerTimeouts?: 'from-call' | 'from-sending' | undefined
  /**
   * A cache of pages, such as `PageCache` of `@politely/cache`. A stored page that is fresh is handled
   * without a request and without its slot, after the check against robots.txt. Another stored page is
   * requested with its validators, like any other request. Only HTTP crawlers have this option, for
   * the pages of their requests: a `sendRequest` of a handler is always sent.
   *
   * @default no cache
   */
  readonly cache?: ResponseCache | undefined
  /**
   * How to treat the robots tags of pages: X-Robots-Tag, Robots-Tag and robots meta elements for all
   * crawlers or for this one.
   *
   * `ignore`: they have no effect. `obey`: `enqueueLinks` skips all links of a page whose tags say
   * nofollow, and `onSkippedRequest` gets each of them. Before the handler of a page is called,
   * `request.userData.politely` is set to `{ noindex, nofollow }`. Whether to store a page with
   * noindex is up to the handler.
   *
   * @default 'ignore'
   */
  readonly robotsTags?: 'ignore' | 'obey' | undefined
}

const OF_THE_CRAWLER = 'is an option of the crawler; write it in new CheerioCrawler({ … })'
/** Options of Crawlee, which users write in the options of `withRobots`. */
const OPTIONS_OF_CRAWLER: Readonly<Record<string, string>> = {
  maxConcurrency: OF_THE_CRAWLER,
  minConcurrency: OF_THE_CRAWLER,
  maxRequestsPerMinute: OF_THE_CRAWLER,
  maxRequestRetries: OF_THE_CRAWLER,
  navigationTimeoutSecs: OF_THE_CRAWLER,
  requestHandlerTimeoutSecs: OF_THE_CRAWLER,
  requestTimeoutMs: 'is an option of politely(fetch, { … }); of a crawler write navigationTimeoutSecs: 30',
}

const OWN_OPTIONS = {
  cache: true,
  callerTimeouts: true,
  deferBeyondMs: true,
  giveUpAfterMs: true,
  pageRequests: true,
  robotsTags: true,
} as const

/**
 * Makes a crawler polite and returns it. Accepts `HttpCrawler` and its subclasses, `BasicCrawler`,
 * `PlaywrightCrawler` and `PuppeteerCrawler`.
 *
 * @throws {OptionError} for a value that is not a supported crawler; for a crawler of another copy
 * of Crawlee than this package uses; for a crawler that is polite already; and for an invalid
 * option.
 */
export function withRobots<C extends AnyCrawler>(crawler: C, options: WithRobotsOptions): C {
  const internals = internalsOf(crawler)
  if (gates.has(crawler)) throw new OptionError('crawler', 'is polite already; call withRobots once')
  assertGateOptions(options)
  const { deferBeyondMs = 20, giveUpAfterMs = 120_000, ...forPages } = options
  const { pageRequests = 'check', robotsTags = 'ignore', cache: given, ...forRequests } = forPages
  const { callerTimeouts = 'from-call', ...others } = forRequests
  number('deferBeyondMs', deferBeyondMs, { min: 0, infinite: 'allowed' })
  number('giveUpAfterMs', giveUpAfterMs, { min: 0, infinite: 'allowed' })
  oneOf('pageRequests', pageRequests, ['check', 'ignore'])
  oneOf('robotsTags', robotsTags, ['ignore', 'obey'])
  oneOf('callerTimeouts', callerTimeouts, ['from-call', 'from-sending'])
  const cache = checkedCache(given)
  if (cache !== undefined) assertLoadsByHttp(internals)
  const { forGate, signal } = withoutSignal(others)
  // On abort, the crawl ends before the gate closes. Otherwise requests would fail because of a
  // closed gate instead of the signal's reason.
  const { proxyConfiguration: proxies } = internals
  const { gate, close } = resolveGate(forGate, OWN_OPTIONS, OPTIONS_OF_CRAWLER, proxies && fetchThroughProxies(proxies))
  const pages = cache && new CachedPages(cache, gate, internals.httpClient)
  const deferred = new DeferredRequests(internals, gate, deferBeyondMs, pages && ((request) => pages.isFresh(request)))
  const access = { gate, deferred, pages, hasCallerTimeouts: callerTimeouts === 'from-sending' }
  hookRobots(internals, gate)
  if (robotsTags === 'obey') obeyRobotsTags(internals, gate)
  internals.httpClient = new PoliteHttpClient(internals.httpClient, access)
  if (internals._navigationHandler !== undefined) hookNavigation(internals, access, pageRequests)
  const refused = new RefusedRequests(internals, gate, deferred, giveUpAfterMs)
  const tasks = deferRequests(internals, gate.robots, deferred, refused, signal)
  const abort = () => {
    tasks.abortAll(signal?.reason)
    void internals.autoscaledPool?.abort()
    internals.autoscaledPool?.resume() // a stopped pool whose run has not begun yet would never end
    void close()
  }
  if (signal !== undefined) onAbort(signal, abort)
  replaceFailureLog(internals, isFinal)
  gates.set(crawler, gate)
  return crawler
}

/** @throws {OptionError} for a crawler that does not load pages by `httpClient`. */
function assertLoadsByHttp(internals: CrawleeInternals): void {
  const isBrowser = internals._navigationHandler !== undefined
  if ('proxyConfiguration' in internals && !isBrowser) return
  const what = !isBrowser ? 'a BasicCrawler does not load pages' : 'a browser loads its own pages'
  throw new OptionError('cache', `needs an HTTP crawler: ${what}; use a CheerioCrawler or HttpCrawler, or leave it out`)
}

/** Returns the options for `resolveGate`, and the signal, if there is one. */
function withoutSignal(options: GateOrOptions): { forGate: GateOrOptions; signal: AbortSignal | undefined } {
  if ('gate' in options || 'robots' in options) return { forGate: options, signal: undefined }
  const { signal, ...forGate } = options
  return { forGate, signal: abortSignal(signal) }
}

/**
 * How long a task of the pool searches for a request that can start, and defers others. Then the
 * task ends, and the next task may start.
 */
const MAX_SEARCH_MS = 1_000

/**
 * Defers requests whose turn is far off. When the crawl ends, all waiting requests go back to the
 * queue. Returns the tasks of the crawl.
 */
function deferRequests(
  internals: CrawleeInternals,
  robots: RobotsClient,
  deferred: DeferredRequests,
  refused: RefusedRequests,
  signal: AbortSignal | undefined,
): PoolTasks {
  const { addRequests, enqueueLinksWithCrawlDepth, _requestFunctionErrorHandler, run, teardown } = internals
  const tasks = new PoolTasks(internals, (task) => deferred.taskEnded(task))
  let closing: Promise<void> | undefined
  /** After an abort, rejects with the signal's reason, and not with the error of a closed client. */
  const unlessAborted = async <T>(work: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted()
    try {
      return await work()
    } finally {
      signal?.throwIfAborted()
    }
  }
  const adding = <T>(add: () => Promise<T>) => unlessAborted(add).finally(() => deferred.queueChanged())
  internals.run = (...args) => unlessAborted(() => run.apply(internals, args))
  internals.addRequests = (...args) => adding(() => whileAddingRequests(() => addRequests.apply(internals, args)))
  internals.enqueueLinksWithCrawlDepth = (...args) => adding(() => enqueueLinksWithCrawlDepth.apply(internals, args))
  const fetchNextRequest = async (source: RequestSource) => {
    const task = currentTask()
    if (task === undefined) return source.fetchNextRequest()
    const taken = (request: Request | null) => {
      task.request = request ?? undefined
      return request
    }
    // One task defers many requests, because Crawlee starts few tasks on a busy machine.
    for (const start = performance.now(); performance.now() - start < MAX_SEARCH_MS && closing === undefined; ) {
      const ready = await deferred.takeReady(task)
      if (ready !== undefined) return taken(ready)
      const request = await source.fetchNextRequest()
      if (request === null || (await deferred.admits(task, request, source))) return taken(request)
    }
    return null
  }
  hookRequests(internals, (source) => {
    markLinks(internals.requestQueue ?? {}, robots)
    return {
      fetchNextRequest: () => fetchNextRequest(source),
      isEmpty: async () => {
        signal?.throwIfAborted() // ends a pool that starts after the abort
        // While the crawl ends, a task would find no request, and the pool would start the next task
        // at once.
        return closing !== undefined || !(await deferred.hasWork(async () => !(await source.isEmpty())))
      },
      isFinished: async () => {
        if (!deferred.isEmpty && (await source.isEmpty())) await refused.giveUp()
        return deferred.isEmpty && source.isFinished()
      },
    }
  })
  internals.teardown = async () => {
    tasks.abortAll(new DOMException('the crawl was torn down while this request waited', 'AbortError'))
    const closed = deferred.close()
    closing = closed
    await closed
    // A handler that awaits teardown would wait for itself. `run` calls teardown again, outside of
    // all tasks.
    if (currentTask() === undefined) await tasks.abortedAtGateEnded()
    await teardown.call(internals)
    if (closing === closed) closing = undefined
  }
  // A request that the gate has refused is skipped or deferred. One that was aborted at the gate has
  // not failed. It goes back to the front of the queue, and no error handler is called.
  internals._requestFunctionErrorHandler = async (thrown, context, source) => {
    const task = currentTask()
    const { request } = context
    if (task?.isAbortedAtGate) {
      // Deferred requests of its origin also go to the front of the queue. This request follows them,
      // so it ends up before them.
      closing ??= deferred.close()
      await closing
      await source.reclaimRequest(request, { forefront: true })
      return
    }
    // Crawlee takes an error for one of a proxy by words in its message, and throws a SessionError. A
    // refusal may quote an error of the robots.txt fetch that contains such a word.
    const error = task?.refusal ?? thrown
    if (task !== undefined && closing === undefined && (await refused.take(task, request, source, error))) return
    if (task !== undefined) task.error = error
    const isLast = isFinal(error) && !request.noRetry
    if (isLast) request.noRetry = true
    await _requestFunctionErrorHandler.call(internals, error, context, source)
    if (isLast) request.noRetry = false // the caller may add the request to another run
  }
  return tasks
}

/** Returns whether a retry would fail in the same way. */
function isFinal(error: Error): boolean {
  const kinds = [
    RobotsDisallowedError,
    BudgetError,
    InvalidRequestError,
    OptionError,
    FollowingClientError,
    RedirectError,
  ]
  return kinds.some((kind) => error instanceof kind)
}
