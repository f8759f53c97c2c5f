// The internals of a Crawlee crawler that this package uses. Crawlee's types mark most of them as
// protected.
import type {
  AutoscaledPool,
  AutoscaledPoolOptions,
  BaseHttpClient,
  EnqueueLinksOptions,
  Request,
} from '@crawlee/basic'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { assertSameCopy } from './crawlee-copy.ts'
import type { CrawlerPage, LaunchedBrowser } from './driver.ts'

/**
 * A crawler of any kind. The type of `BasicCrawler` depends on the context that its handlers
 * receive, so other crawlers are not assignable to it. This type contains no types of Crawlee. So
 * TypeScript accepts a crawler of a second copy of Crawlee, and `withRobots` throws an error that
 * says what to do.
 */
export interface AnyCrawler {
  readonly stats: object
  addRequests(requests: (string | { url: string })[], options?: object): Promise<unknown>
  run(
    requests?: (string | { url: string })[],
    options?: object,
  ): Promise<{ readonly requestsFinished: number; readonly requestsFailed: number }>
  stop(message?: string): void
  teardown(): Promise<void>
}

interface Skipped {
  readonly url: string
  readonly reason: string
}

/** The part of Crawlee's `RobotsTxtFile` that its `enqueueLinks` uses. */
export interface LinkFilter {
  isAllowed(url: string, userAgent?: string): boolean
}

type LinkOptions = Omit<EnqueueLinksOptions, 'urls'> & { readonly urls: readonly (string | { readonly url: string })[] }

/** The part of Crawlee's `RequestQueue` that concerns locks. */
interface LockingQueue {
  readonly client?: { prolongRequestLock(id: string, options: { lockSecs: number }): Promise<{ lockExpiresAt: Date }> }
  /** Defined only in a queue that locks requests. `RequestQueueV1` does not. */
  readonly _prolongRequestLock?: unknown
  readonly requestLockSecs?: number
}

/** The methods of Crawlee's `RequestQueue` that add requests. All other ways to add requests call them. */
export interface AddingQueue {
  addRequest(request: unknown, ...options: unknown[]): Promise<unknown>
  addRequests(requests: AsyncIterable<unknown> | Iterable<unknown>, ...options: unknown[]): Promise<unknown>
}

/** The source that a crawler takes requests from and returns them to. */
export interface RequestSource extends LockingQueue {
  markRequestHandled(request: Request): Promise<unknown>
  reclaimRequest(request: Request, options?: { forefront?: boolean }): Promise<unknown>
  /** Returns the stored request. Only queues have this method. */
  getRequest?(id: string): Promise<Request | null>
  /** The queue of a source that combines a request list and a queue. */
  readonly requestQueue?: LockingQueue
}

/** Crawlee's object for a browser that it has launched. */
export interface BrowserController {
  readonly browser: LaunchedBrowser
}

/** Hooks of Crawlee's BrowserPool. They run in order, and the pool awaits each of them. */
export interface BrowserPoolHooks {
  /** Run before the first page of a browser is opened. */
  postLaunchHooks: readonly ((pageId: string, controller: BrowserController) => unknown)[]
  postPageCreateHooks: readonly ((page: CrawlerPage, controller: BrowserController) => unknown)[]
}

/** The part of a browser crawler's context that is used before a navigation. */
interface NavigationContext {
  readonly request: Request
  readonly page: CrawlerPage
  readonly browserController: BrowserController
}

/** The response to a navigation, in Playwright and in Puppeteer. */
interface PageResponse {
  status(): number
  headers(): Record<string, string>
}

/** The part of Crawlee's `ProxyConfiguration` that is used for robots.txt. */
export interface CrawleeProxies {
  /** Returns the URL of the next proxy; undefined for a request without one. */
  newUrl(): Promise<string | undefined>
  readonly isManInTheMiddle?: boolean
}

interface CrawlerLog {
  debug(message: string): void
  error(message: string, data?: object): void
  exception(error: Error, message: string): void
  warning(message: string, data?: object): void
}

export interface CrawleeInternals {
  log: CrawlerLog
  /** Only HTTP and browser crawlers have one, if their user gave it. */
  readonly proxyConfiguration?: CrawleeProxies
  /** `reject` ends a run with an error; null when no run is under way. */
  readonly autoscaledPool?: Pick<AutoscaledPool, 'notify'> & { readonly reject?: ((error: unknown) => void) | null }
  readonly requestManager?: RequestSource
  autoscaledPoolOptions: AutoscaledPoolOptions
  httpClient: BaseHttpClient
  respectRobotsTxtFile: boolean | { userAgent?: string }
  addRequests(requests: never, options?: never): Promise<unknown>
  /** Returns the queue that handlers add requests to. The first call may create it. */
  getRequestQueue(): Promise<AddingQueue>
  _isTaskReadyFunction(): Promise<boolean>
  _defaultIsFinishedFunction(): Promise<boolean>
  isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean>
  getRobotsTxtFileForUrl(url: string): Promise<LinkFilter | undefined>
  enqueueLinksWithCrawlDepth(options: LinkOptions, request: Request, queue: unknown): Promise<unknown>
  handleSkippedRequest(skipped: Skipped): Promise<void>
  isProxyError(error: Error): boolean
  teardown(): Promise<void>
  _fetchNextRequest(): Promise<Request | null>
  _canRequestBeRetried(request: Request, error: Error): boolean
  _requestFunctionErrorHandler(
    error: Error,
    context: { readonly request: Request },
    source: RequestSource,
  ): Promise<void>
  /** Logs the error of a request that is not retried, before its first `await`. */
  _handleFailedRequestHandler(context: object, error: Error): Promise<void>
  /** Of the user. HTTP crawlers call it; browser crawlers call `userProvidedRequestHandler`. */
  requestHandler?: (context: never) => unknown
  userProvidedRequestHandler?: (context: never) => unknown
  /** Only HTTP and browser crawlers have it. */
  readonly _handleNavigation?: unknown
  /** Only browser crawlers have a browser pool and `_navigationHandler`. */
  readonly browserPool?: BrowserPoolHooks
  _navigationHandler?(
    context: NavigationContext,
    gotoOptions: { timeout?: number },
  ): Promise<PageResponse | null | undefined>
}

const METHODS = [
  'addRequests',
  'getRequestQueue',
  'isAllowedBasedOnRobotsTxtFile',
  'getRobotsTxtFileForUrl',
  'enqueueLinksWithCrawlDepth',
  'handleSkippedRequest',
  'isProxyError',
  'teardown',
  '_isTaskReadyFunction',
  '_defaultIsFinishedFunction',
  '_fetchNextRequest',
  '_canRequestBeRetried',
  '_requestFunctionErrorHandler',
  '_handleFailedRequestHandler',
] as const satisfies readonly (keyof CrawleeInternals)[]

const POOL_HOOKS = ['postLaunchHooks', 'postPageCreateHooks'] as const satisfies readonly (keyof BrowserPoolHooks)[]

/**
 * Checks that `crawler` has the internals that this package uses, and returns it with their types.
 *
 * @throws {OptionError} for a value that is not a crawler; for a crawler of an unsupported Crawlee
 * version, or of another copy of Crawlee; and for an HTTP client that always follows redirects.
 * Crawlee's `ImpitHttpClient` does, unless it is constructed with `followRedirects: false`.
 */
export function gatePort(crawler: AnyCrawler): CrawleeInternals {
  const internals = crawler as unknown as CrawleeInternals | null | undefined
  if (typeof internals !== 'object' || internals === null || typeof internals.httpClient?.stream !== 'function') {
    throw new OptionError(
      'crawler',
      `${describeValue(crawler)} is not a crawler of Crawlee; write withRobots(new CheerioCrawler({ … }), { … })`,
    )
  }
  const missing: string[] = METHODS.filter((name) => typeof internals[name] !== 'function')
  if (internals._navigationHandler !== undefined) {
    const missingHooks = POOL_HOOKS.filter((name) => !Array.isArray(internals.browserPool?.[name]))
    missing.push(...missingHooks.map((name) => `browserPool.${name}`))
  }
  if (missing.length > 0 || typeof internals.autoscaledPoolOptions?.runTaskFunction !== 'function') {
    const what = missing.join(', ') || 'autoscaledPoolOptions'
    throw new OptionError('crawler', `has no ${what}, so its Crawlee version is not supported; install Crawlee 3.18`)
  }
  assertSameCopy(crawler)
  if ((internals.httpClient as { readonly followRedirects?: unknown }).followRedirects === true) {
    const { name } = internals.httpClient.constructor
    throw new OptionError('httpClient', `follows redirects itself; write new ${name}({ followRedirects: false })`)
  }
  return internals
}

/**
 * Makes the lock of a request end in `lockSecs` seconds. Crawlee's own locks are up to twice as
 * long as its timeouts. If the storage cannot change locks, the lock stays as it is. Never rejects.
 */
export async function shortenLock(source: RequestSource, { id }: Request, lockSecs: number): Promise<void> {
  const { client } = locksOf(source)
  if (id === undefined || client === undefined) return
  try {
    const { lockExpiresAt } = await client.prolongRequestLock(id, { lockSecs })
    // Apify's storage counts from now. Crawlee's own storage adds to the current lock, and accepts
    // a negative number.
    const excessSecs = Math.floor((lockExpiresAt.getTime() - Date.now()) / 1_000) - lockSecs
    if (excessSecs > 0) await client.prolongRequestLock(id, { lockSecs: -excessSecs })
  } catch {
    // Another crawler has handled the request, or the storage cannot change locks.
  }
}

/**
 * Locks a request for as long as Crawlee does when it fetches the request from the queue. Never
 * rejects.
 */
export async function restoreLock(source: RequestSource, { id }: Request): Promise<void> {
  const { client, requestLockSecs } = locksOf(source)
  if (id === undefined || client === undefined || requestLockSecs === undefined) return
  await client.prolongRequestLock(id, { lockSecs: requestLockSecs }).catch(() => undefined)
}

/** Returns the queue that holds the locks. Returns an empty object for a source without locks. */
function locksOf(source: RequestSource): LockingQueue {
  const queue = source.requestQueue ?? source
  return queue._prolongRequestLock === undefined ? {} : queue
}
