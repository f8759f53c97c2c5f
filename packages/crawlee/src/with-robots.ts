// withRobots: one call, and a crawler of Crawlee keeps robots.txt.
import { OptionError } from '@politely/core'
import { assertOptions, number, oneOf, withMethods } from '@politely/fetcher/option-checks'
import { type GateOrOptions, InvalidRequestError, RobotsDisallowedError, resolveGate } from '@politely/gate'
import { type AnyCrawler, type CrawleeInternals, internalsOf } from './crawlee-internals.ts'
import { DeferredRequests } from './deferred-requests.ts'
import { FollowingClientError, PoliteHttpClient } from './polite-http-client.ts'
import { hookNavigation } from './polite-navigation.ts'
import { currentTask, PoolTasks } from './pool-task.ts'
import { RedirectError } from './redirected.ts'
import { hookRobots } from './robots-hook.ts'

export type WithRobotsOptions = GateOrOptions & {
  /**
   * A request whose turn is further off than this leaves Crawlee's pool, so that other sites get its slot, and comes back in time. So does a
   * request that has to wait for robots.txt, or while another one of its origin is on its way to the gate. A shorter wait is spent at the
   * gate, in the pool. Milliseconds; default 20; with Infinity no request leaves the pool.
   */
  readonly deferBeyondMs?: number | undefined
  /**
   * What a browser asks for by itself: redirects, frames, scripts, images. `check` (the default): each is checked before it is
   * made, and those for the page itself wait their turn; it needs Chromium. `leave`: they are not looked at here, for the sake of
   * another hook that does.
   */
  readonly pageRequests?: 'check' | 'ignore' | undefined
}

const polite = new WeakSet<object>()

/**
 * Makes a crawler polite and returns it: `HttpCrawler` and those that are made of it, `BasicCrawler`, `PlaywrightCrawler`,
 * `PuppeteerCrawler`.
 *
 * @throws {OptionError} for what is no crawler, one that is polite already, and an option that cannot be used.
 */
export function withRobots<C extends AnyCrawler>(crawler: C, options: WithRobotsOptions): C {
  const internals = internalsOf(crawler)
  if (polite.has(crawler)) throw new OptionError('crawler', 'is polite already; call withRobots once')
  assertOptions(options)
  const { deferBeyondMs = 20, pageRequests = 'check', ...others } = options
  number('deferBeyondMs', deferBeyondMs, { min: 0, infinite: 'allowed' })
  oneOf('pageRequests', pageRequests, ['check', 'ignore'])
  const signal =
    'gate' in others ? undefined : withMethods('signal', others.signal, ['addEventListener'], 'an AbortSignal')
  // The crawl ends before its gate is closed: or each request would fail because of a closed gate, and not for the signal's reason.
  const { gate, close } = resolveGate('gate' in others ? others : withoutSignal(others))
  const deferred = new DeferredRequests(internals, gate, deferBeyondMs)
  const entering = { gate, room: deferred }
  hookRobots(internals, gate.robots)
  internals.httpClient = new PoliteHttpClient(internals.httpClient, entering)
  if (internals._navigationHandler !== undefined) hookNavigation(internals, entering, pageRequests)
  const end = deferRequests(internals, deferred, signal)
  const abort = () => {
    end()
    void close()
  }
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  neverRetryRefusals(internals)
  polite.add(crawler)
  return crawler
}

function withoutSignal<O extends { readonly signal?: unknown }>({ signal: _, ...others }: O): Omit<O, 'signal'> {
  return others
}

/** A task of the pool looks for a request that can go on, and defers others, for so long. Then it leaves its slot to the next task. */
const MAX_SEARCH_MS = 1_000

/**
 * Requests whose turn is far off wait outside of the pool. When the crawl ends, all waiting requests go back to the queue. Returns what
 * ends the crawl once the signal is aborted: `run` rejects with its reason.
 */
function deferRequests(
  internals: CrawleeInternals,
  deferred: DeferredRequests,
  signal: AbortSignal | undefined,
): () => void {
  const { _isTaskReadyFunction, _defaultIsFinishedFunction, addRequests, enqueueLinksWithCrawlDepth } = internals
  const { _fetchNextRequest, _requestFunctionErrorHandler, teardown } = internals
  const tasks = new PoolTasks(internals, (task) => deferred.over(task))
  let closing: Promise<void> | undefined
  internals._isTaskReadyFunction = async () => {
    signal?.throwIfAborted() // ends a run that begins after the abort
    // While the crawl ends, a task would find nothing, and the pool would start the next one at once.
    return closing === undefined && deferred.hasWork(() => _isTaskReadyFunction.call(internals))
  }
  internals._defaultIsFinishedFunction = async () => deferred.isEmpty && _defaultIsFinishedFunction.call(internals)
  /** Adds requests, which asks about robots.txt: after an abort that fails for the signal's reason, and not because of a closed client. */
  const adding = async <T>(add: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted()
    try {
      return await add()
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    } finally {
      deferred.queueChanged()
    }
  }
  internals.addRequests = (...args) => adding(() => addRequests.apply(internals, args))
  internals.enqueueLinksWithCrawlDepth = (...args) => adding(() => enqueueLinksWithCrawlDepth.apply(internals, args))
  internals._fetchNextRequest = async () => {
    const source = internals.requestManager
    const task = currentTask()
    if (task === undefined || source === undefined) return _fetchNextRequest.call(internals)
    // Not one task for each deferred request: Crawlee starts few tasks on a busy machine.
    for (const start = performance.now(); performance.now() - start < MAX_SEARCH_MS && closing === undefined; ) {
      const ready = await deferred.takeReady(task)
      if (ready !== undefined) return ready
      const request = await _fetchNextRequest.call(internals)
      if (request === null || (await deferred.admits(task, request, source))) return request
    }
    return null
  }
  internals.teardown = async () => {
    tasks.end(new DOMException('the crawl was torn down while this request waited', 'AbortError'))
    const closed = deferred.close()
    closing = closed
    await closed
    // A handler that calls teardown would wait for itself; `run` calls it once more, outside of all tasks.
    if (currentTask() === undefined) await tasks.turnedAway()
    await teardown.call(internals)
    if (closing === closed) closing = undefined
  }
  // A request that was turned away has not failed: it goes back to the front of the queue, and no error handler is called.
  internals._requestFunctionErrorHandler = async (error, context, source) => {
    if (!currentTask()?.isTurnedAway) return _requestFunctionErrorHandler.call(internals, error, context, source)
    // Behind the deferred requests of its origin, which are put at the front as well: so it comes to stand before them.
    closing ??= deferred.close()
    await closing
    await source.reclaimRequest(context.request, { forefront: true })
  }
  return () => {
    tasks.end(signal?.reason)
    internals.autoscaledPool?.reject?.(signal?.reason)
  }
}

function neverRetryRefusals(internals: CrawleeInternals): void {
  const { isProxyError, _canRequestBeRetried } = internals
  // It looks for words in messages, and a refusal may quote what happened to robots.txt.
  internals.isProxyError = (error) => !(error instanceof RobotsDisallowedError) && isProxyError.call(internals, error)
  internals._canRequestBeRetried = (request, error) =>
    !isFinal(error) && _canRequestBeRetried.call(internals, request, error)
}

/** What would come out the same. */
function isFinal(error: Error): boolean {
  return [RobotsDisallowedError, InvalidRequestError, OptionError, FollowingClientError, RedirectError].some(
    (kind) => error instanceof kind,
  )
}
