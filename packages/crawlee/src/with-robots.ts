// withRobots: one call, and a crawler of Crawlee keeps robots.txt.
import { OptionError } from '@politely/core'
import { assertOptions, number, word } from '@politely/fetcher/option-checks'
import { type GateOrOptions, gateFor, RobotsDisallowedError } from '@politely/gate'
import { type AnyCrawler, type CrawleeInternals, internalsOf } from './crawlee-internals.ts'
import { FollowingClientError, PoliteHttpClient } from './polite-http-client.ts'
import { hookNavigation } from './polite-navigation.ts'
import { currentTask, PoolTasks } from './pool-task.ts'
import { RedirectError } from './redirected.ts'
import { hookRobots } from './robots-hook.ts'
import { WaitingRoom } from './waiting-room.ts'

export type WithRobotsOptions = GateOrOptions & {
  /**
   * A request whose turn is further off than this is put off: it leaves Crawlee's pool, so that others get its place, and comes
   * back in time. So does one that has to wait for robots.txt, or has another one of its site before it on its way to the gate.
   * What is nearer waits at the gate, in the pool. Milliseconds; default 1,000; with Infinity nobody is put off.
   */
  readonly deferBeyondMs?: number | undefined
  /**
   * What a browser asks for by itself: redirects, frames, scripts, images. `check` (the default): each is checked before it is
   * made, and those for the page itself wait their turn; it needs Chromium. `leave`: they are not looked at here, for the sake of
   * another hook that does.
   */
  readonly pageRequests?: 'check' | 'leave' | undefined
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
  const { deferBeyondMs = 1_000, pageRequests = 'check', ...others } = options
  number('deferBeyondMs', deferBeyondMs, { least: 0, infinite: 'allowed' })
  word('pageRequests', pageRequests, ['check', 'leave'])
  const { gate } = gateFor(others)
  const room = new WaitingRoom(internals, gate, deferBeyondMs)
  const entering = { gate, room }
  hookRobots(internals, gate.robots)
  internals.httpClient = new PoliteHttpClient(internals.httpClient, entering)
  if (internals._navigationHandler !== undefined) hookNavigation(internals, entering, pageRequests)
  letWait(internals, room)
  neverRetryRefusals(internals)
  polite.add(crawler)
  return crawler
}

/** Requests whose turn is far off wait in the room. When the crawl ends, nobody waits any longer. */
function letWait(internals: CrawleeInternals, room: WaitingRoom): void {
  const { _fetchNextRequest, _requestFunctionErrorHandler, teardown } = internals
  const tasks = new PoolTasks(internals, (task) => room.over(task))
  let closing: Promise<void> | undefined
  internals._fetchNextRequest = async () => {
    const source = internals.requestManager
    const request = await _fetchNextRequest.call(internals)
    const task = currentTask()
    if (request === null || task === undefined || source === undefined) return request
    return (await room.admits(task, request, source)) ? request : null
  }
  internals.teardown = async () => {
    tasks.end()
    closing = room.close()
    await closing
    // A handler that tears down would wait for itself; `run` does it once more, outside of all tasks.
    if (currentTask() === undefined) await tasks.turnedAway()
    await teardown.call(internals)
  }
  // Who is turned away has not failed: it goes back to the queue without a word, before those who were behind it.
  internals._requestFunctionErrorHandler = async (error, context, source) => {
    if (!currentTask()?.isTurnedAway) return _requestFunctionErrorHandler.call(internals, error, context, source)
    await closing
    await source.reclaimRequest(context.request, { forefront: true })
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
  return [RobotsDisallowedError, OptionError, FollowingClientError, RedirectError].some((kind) => error instanceof kind)
}
