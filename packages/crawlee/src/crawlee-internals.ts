// The inside of a Crawlee crawler, as far as it is used here. Crawlee's own types call most of it protected.
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

/** Where requests come from, and go back to. */
export interface RequestSource {
  reclaimRequest(request: Request, options?: { forefront?: boolean }): Promise<unknown>
  /** As it is by now. Of queues alone. */
  getRequest?(id: string): Promise<Request | null>
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
  readonly autoscaledPool?: Pick<AutoscaledPool, 'notify'>
  readonly requestManager?: RequestSource
  autoscaledPoolOptions: AutoscaledPoolOptions
  httpClient: BaseHttpClient
  respectRobotsTxtFile: boolean | { userAgent?: string }
  addRequests(requests: never, options?: never): Promise<unknown>
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
