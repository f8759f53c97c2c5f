// The members of a Crawlee crawler that this package uses. `PublicMembers` are part of Crawlee's API.
// `ProtectedMembers` are not: a version of Crawlee may rename or hide them. The guide docs/crawlee.md
// has a table that says for each of them why no public hook replaces it. Add none without a row there.
import {
  type AutoscaledPool,
  type AutoscaledPoolOptions,
  type BaseHttpClient,
  type EnqueueLinksOptions,
  type IRequestManager,
  type Request,
  RequestQueue,
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
 * @inline
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

export type LinkOptions = Omit<EnqueueLinksOptions, 'urls'> & {
  readonly urls: readonly (string | { readonly url: string })[]
}

/** The methods of Crawlee's `RequestQueue` that add requests. All other ways to add requests call them. */
export interface AddingQueue {
  addRequest(request: unknown, ...options: unknown[]): Promise<unknown>
  addRequests(requests: AsyncIterable<unknown> | Iterable<unknown>, ...options: unknown[]): Promise<unknown>
}

/** The source that a crawler takes requests from and returns them to. */
export type RequestSource = IRequestManager & {
  /** Returns the stored request. Only queues have this method. */
  readonly getRequest?: (id: string) => Promise<Request | null>
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

/** The members that are public in Crawlee. Some of them are replaced. */
interface PublicMembers {
  log: CrawlerLog
  /** Only HTTP and browser crawlers have it. Undefined if their user gave none. */
  readonly proxyConfiguration?: CrawleeProxies | undefined
  /** Undefined before the first run. */
  readonly autoscaledPool?: Pick<AutoscaledPool, 'abort' | 'notify' | 'resume'>
  /** The queue that handlers add requests to. Undefined until one is needed. */
  readonly requestQueue?: Partial<AddingQueue>
  /** Only browser crawlers have it. */
  readonly browserPool?: BrowserPoolHooks
  addRequests(requests: never, options?: never): Promise<unknown>
  run(...args: unknown[]): Promise<unknown>
  teardown(): Promise<void>
}

/** The members that are protected or private in Crawlee 3.18. */
interface ProtectedMembers {
  requestManager?: RequestSource | undefined
  autoscaledPoolOptions: AutoscaledPoolOptions
  httpClient: BaseHttpClient
  respectRobotsTxtFile: boolean | { userAgent?: string }
  isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean>
  enqueueLinksWithCrawlDepth(options: LinkOptions, request: Request, queue: unknown): Promise<unknown>
  handleSkippedRequest(skipped: Skipped): Promise<void>
  _requestFunctionErrorHandler(
    error: Error,
    context: { readonly request: Request },
    source: RequestSource,
  ): Promise<void>
  /** Of the user. HTTP crawlers call it; browser crawlers call `userProvidedRequestHandler`. */
  requestHandler?: (context: never) => unknown
  userProvidedRequestHandler?: (context: never) => unknown
  /** Only browser crawlers have it. */
  _navigationHandler?(
    context: NavigationContext,
    gotoOptions: { timeout?: number },
  ): Promise<PageResponse | null | undefined>
}

export type CrawleeInternals = PublicMembers & ProtectedMembers

const METHODS = [
  'addRequests',
  'run',
  'teardown',
  'isAllowedBasedOnRobotsTxtFile',
  'enqueueLinksWithCrawlDepth',
  'handleSkippedRequest',
  '_requestFunctionErrorHandler',
] as const satisfies readonly (keyof CrawleeInternals)[]

const POOL_HOOKS = ['postLaunchHooks', 'postPageCreateHooks'] as const satisfies readonly (keyof BrowserPoolHooks)[]

/**
 * Checks that `crawler` has the internals that this package uses, and returns it with their types.
 *
 * @throws {OptionError} for a value that is not a crawler; for a crawler of an unsupported Crawlee
 * version, or of another copy of Crawlee; and for an HTTP client that always follows redirects.
 * Crawlee's `ImpitHttpClient` does, unless it is constructed with `followRedirects: false`.
 */
export function internalsOf(crawler: AnyCrawler): CrawleeInternals {
  const internals: CrawleeInternals = Object(crawler)
  // The getter of every crawler of Crawlee 4, and of no crawler of Crawlee 3.
  if ('contextPipeline' in internals) {
    const what = 'is of Crawlee 4, which hides what withRobots needs'
    throw new OptionError('crawler', `${what}; install Crawlee 3.18, such as @crawlee/cheerio@3.18`)
  }
  if (typeof internals.httpClient?.stream !== 'function') {
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

/** Returns the valid links that `enqueueLinks` gets. */
export function linkUrlsOf({ urls, baseUrl }: LinkOptions): readonly URL[] {
  return urls.flatMap((link) => URL.parse(typeof link === 'string' ? link : link.url, baseUrl) ?? [])
}

/**
 * Puts `hooksOf(source)` before the methods of each source that the crawler takes requests from.
 * Crawlee sets the source when a run begins, and again when the crawler gets a queue. The source
 * itself stays as it is: another crawler may share it.
 */
export function hookRequests(
  internals: CrawleeInternals,
  hooksOf: (source: RequestSource) => Readonly<Record<string, () => Promise<unknown>>>,
): void {
  let current: RequestSource | undefined
  const hook = (source: RequestSource | undefined) => {
    const hooks = new Map(Object.entries(source === undefined ? {} : hooksOf(source)))
    const get = (target: RequestSource, name: string | symbol) => {
      const member = hooks.get(name as string) ?? Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    }
    current = source && new Proxy(source, { get })
  }
  hook(internals.requestManager)
  Object.defineProperty(internals, 'requestManager', { get: () => current, set: hook })
}

/**
 * Makes the lock of a request end in `lockSecs` seconds. Crawlee's own locks are up to twice as
 * long as its timeouts. If the storage cannot change locks, the lock stays as it is. Never rejects.
 * @param lockSecs Default: as long as Crawlee locks a request that it fetches from the queue.
 */
export async function changeLock(
  { requestQueue: queue }: CrawleeInternals,
  { id }: Request,
  lockSecs?: number,
): Promise<void> {
  if (id === undefined || !(queue instanceof RequestQueue)) return // a RequestQueueV1 does not lock requests
  const { client, requestLockSecs } = queue
  try {
    const { lockExpiresAt } = await client.prolongRequestLock(id, { lockSecs: lockSecs ?? requestLockSecs })
    if (lockSecs === undefined) return
    // Apify's storage counts from now. Crawlee's own storage adds to the current lock, and accepts
    // a negative number.
    const excessSecs = Math.floor((lockExpiresAt.getTime() - Date.now()) / 1_000) - lockSecs
    if (excessSecs > 0) await client.prolongRequestLock(id, { lockSecs: -excessSecs })
  } catch {
    // Another crawler has handled the request, or the storage cannot change locks.
  }
}
