// The internals of a Crawlee crawler that this package uses. Crawlee's types mark most of them as protected.
import type {
  AutoscaledPool,
  AutoscaledPoolOptions,
  BaseHttpClient,
  BasicCrawler,
  EnqueueLinksOptions,
  Request,
} from '@crawlee/basic'
import { OptionError } from '@politely/core'
import type { DriverOwnPage } from './driver.ts'

/** A crawler of any kind. BasicCrawler's own type depends on what its handlers are given, and no other kind is assignable to it. */
export type AnyCrawler = Pick<BasicCrawler, 'addRequests' | 'run' | 'stats' | 'stop' | 'teardown'>

interface Skipped {
  readonly url: string
  readonly reason: string
}

/** As much of Crawlee's RobotsTxtFile as its `enqueueLinks` asks. */
export interface LinkFilter {
  isAllowed(url: string, userAgent?: string): boolean
}

type LinkOptions = Omit<EnqueueLinksOptions, 'urls'> & { readonly urls: readonly (string | { readonly url: string })[] }

/** A RequestQueue, as far as its locks are concerned. */
interface LockingQueue {
  readonly client?: { prolongRequestLock(id: string, options: { lockSecs: number }): Promise<{ lockExpiresAt: Date }> }
  /** Only a queue that locks requests has it; a RequestQueueV1 does not. */
  readonly _prolongRequestLock?: unknown
  readonly requestLockSecs?: number
}

/** Where requests come from, and go back to. */
export interface RequestSource extends LockingQueue {
  reclaimRequest(request: Request, options?: { forefront?: boolean }): Promise<unknown>
  /** Returns the request as it is stored. Only queues have it. */
  getRequest?(id: string): Promise<Request | null>
  /** Of a source that is made of a list and a queue. */
  readonly requestQueue?: LockingQueue
}

/** What a browser crawler knows of a page that it is about to go to. */
interface Visiting {
  readonly request: Request
  readonly page: DriverOwnPage
}

/** Playwright's and Puppeteer's. */
interface PageResponse {
  status(): number
  headers(): Record<string, string>
}

export interface CrawleeInternals {
  readonly log: { exception(error: Error, message: string): void }
  /** `reject` ends a run with an error; null when no run is under way. */
  readonly autoscaledPool?: Pick<AutoscaledPool, 'notify'> & { readonly reject?: ((error: unknown) => void) | null }
  readonly requestManager?: RequestSource
  autoscaledPoolOptions: AutoscaledPoolOptions
  httpClient: BaseHttpClient
  respectRobotsTxtFile: boolean | { userAgent?: string }
  addRequests(requests: never, options?: never): Promise<unknown>
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
  /** Of browser crawlers alone. */
  _navigationHandler?(visiting: Visiting, gotoOptions: { timeout?: number }): Promise<PageResponse | null | undefined>
}

const METHODS = [
  'addRequests',
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
] as const satisfies readonly (keyof CrawleeInternals)[]

/**
 * @throws {OptionError} where it looks otherwise: another version of Crawlee, or no crawler; and for an HTTP client that is known to follow
 * redirects, whatever it is told (Crawlee's ImpitHttpClient does, unless it was made otherwise).
 */
export function internalsOf(crawler: AnyCrawler): CrawleeInternals {
  const internals = crawler as unknown as CrawleeInternals | null | undefined
  if (typeof internals !== 'object' || internals === null || typeof internals.httpClient?.stream !== 'function') {
    throw new OptionError('crawler', 'must be a crawler of Crawlee; write withRobots(new CheerioCrawler({ … }), { … })')
  }
  const missing = METHODS.filter((name) => typeof internals[name] !== 'function')
  if (missing.length > 0 || typeof internals.autoscaledPoolOptions?.runTaskFunction !== 'function') {
    const what = missing.join(', ') || 'autoscaledPoolOptions'
    throw new OptionError('crawler', `has no ${what}: it is not of a Crawlee that is known here; install Crawlee 3.18`)
  }
  if ((internals.httpClient as { readonly followRedirects?: unknown }).followRedirects === true) {
    const { name } = internals.httpClient.constructor
    throw new OptionError('httpClient', `follows redirects itself; write new ${name}({ followRedirects: false })`)
  }
  return internals
}

/**
 * Sets the lock of a request to end in so many seconds. Crawlee's own locks are up to twice as long as its timeouts. Where the storage
 * cannot change a lock, it stays. Never rejects.
 */
export async function shortenLock(source: RequestSource, { id }: Request, lockSecs: number): Promise<void> {
  const { client } = locksOf(source)
  if (id === undefined || client === undefined) return
  try {
    const { lockExpiresAt } = await client.prolongRequestLock(id, { lockSecs })
    // Apify's storage counts from now. Crawlee's own adds to the lock that the request has, and takes a negative number.
    const excessSecs = Math.floor((lockExpiresAt.getTime() - Date.now()) / 1_000) - lockSecs
    if (excessSecs > 0) await client.prolongRequestLock(id, { lockSecs: -excessSecs })
  } catch {
    // The request was handled elsewhere, or the storage does not change locks.
  }
}

/** Locks a request for as long as Crawlee does when it takes the request out of the queue. Never rejects. */
export async function restoreLock(source: RequestSource, { id }: Request): Promise<void> {
  const { client, requestLockSecs } = locksOf(source)
  if (id === undefined || client === undefined || requestLockSecs === undefined) return
  await client.prolongRequestLock(id, { lockSecs: requestLockSecs }).catch(() => undefined)
}

/** Empty for a source without locks. */
function locksOf(source: RequestSource): LockingQueue {
  const queue = source.requestQueue ?? source
  return queue._prolongRequestLock === undefined ? {} : queue
}
