// Wraps an HTTP client of Crawlee. Each request and each redirect is checked by robots.txt and
// waits for its turn.
import type {
  BaseHttpClient,
  HttpRequest,
  HttpResponse,
  RedirectHandler,
  ResponseTypes,
  StreamingHttpResponse,
} from '@crawlee/basic'
import { PolitelyError } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import { linkSignals } from '@politely/fetcher/internal'
import { assertOwnHost, type Permit, type PoliteGate } from '@politely/gate'
import { assertNoPseudoHeader, CallerTimeout, Exchange, gatePort } from '@politely/gate/internal'
import type { DeferredRequests } from './deferred-requests.ts'
import { outsideTimeouts } from './host-timeouts.ts'
import { linkSourcesOf } from './link-sources.ts'
import { currentTask, navigating, type PoolTask } from './pool-task.ts'
import { RedirectError, redirectedRequest, redirectLocationOf } from './redirected.ts'
import { rememberRawHeaders } from './usage/loaded-page.ts'

/** The default of got, Crawlee's own client. */
const MAX_REDIRECTS = 10

/** Both kinds of response. The responses of got have more fields than are used here. */
type AnyResponse = HttpResponse | StreamingHttpResponse

/** The gate, and the deferred requests that depend on it. */
export interface GateAccess {
  readonly gate: PoliteGate
  /** Notified when the request of a task reaches the gate and when it passes. */
  readonly deferred: Pick<DeferredRequests, 'reachedGate' | 'passedGate'>
  /** The option `cache`. */
  readonly pages?: PageAnswers | undefined
  /** Whether the option `callerTimeouts` is `from-sending`. Default false. */
  readonly hasCallerTimeouts?: boolean
}

const TIMEOUT_REMEDY =
  "write withRobots(crawler, { callerTimeouts: 'from-sending' }), and timeouts of requests will not count the wait"

/** Answers a request for a page, or sends it. */
interface PageAnswers {
  answer(
    hop: HttpRequest,
    url: URL,
    send: (hop: HttpRequest) => Promise<StreamingHttpResponse>,
  ): Promise<StreamingHttpResponse>
}

export class PoliteHttpClient implements BaseHttpClient {
  readonly #inner: BaseHttpClient
  readonly #access: GateAccess

  constructor(inner: BaseHttpClient, access: GateAccess) {
    this.#inner = inner
    this.#access = access
  }

  async sendRequest<T extends keyof ResponseTypes = 'text'>(request: HttpRequest<T>): Promise<HttpResponse<T>> {
    const timeout = this.#timeoutOf(request)
    try {
      return await this.#follow(withSignalOf(timeout, request), timeout, undefined, (hop, url) =>
        this.#sendWithPermit(hop, url, timeout, undefined, (one) => this.#inner.sendRequest(one)),
      )
    } finally {
      timeout?.end()
    }
  }

  async stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
    const task = currentTask()
    const { pages } = this.#access
    const timeout = this.#timeoutOf(request)
    const send = (hop: HttpRequest, url: URL) =>
      this.#sendWithPermit(hop, url, timeout, task, (one) => this.#inner.stream(one))
    const answer = (hop: HttpRequest, url: URL) =>
      pages === undefined ? send(hop, url) : pages.answer(hop, url, (one) => send(one, url))
    try {
      const response = await navigating(() => this.#follow(withSignalOf(timeout, request), timeout, onRedirect, answer))
      rememberRawHeaders(response)
      if (timeout !== undefined) {
        timeout.returned({ body: response.stream })
        response.stream.once('close', () => timeout.end())
      }
      return response
    } catch (error) {
      timeout?.end()
      throw error
    }
  }

  #timeoutOf({ signal }: Pick<HttpRequest, 'signal'>): CallerTimeout | undefined {
    const { gate, hasCallerTimeouts } = this.#access
    return hasCallerTimeouts && signal?.aborted === false ? new CallerTimeout(signal, gatePort(gate).now) : undefined
  }

  /**
   * Follows redirects here instead of in the wrapped client, so that each hop gets its own permit.
   */
  async #follow<Q extends HttpRequest<keyof ResponseTypes>, S extends AnyResponse>(
    request: Q,
    timeout: CallerTimeout | undefined,
    onRedirect: RedirectHandler | undefined,
    send: (hop: Q, url: URL) => Promise<S>,
  ): Promise<S> {
    const { followRedirect = true, maxRedirects = MAX_REDIRECTS } = request
    const redirectUrls: URL[] = []
    let hop = withUserAgent(request, this.#access.gate.robots.userAgent)
    for (;;) {
      const url = new URL(hop.url)
      const response = await send(hop, url)
      const location = redirectLocationOf(response)
      const follows = typeof followRedirect === 'function' ? followRedirect(response) : followRedirect
      if (location === undefined || !follows) {
        return redirectUrls.length === 0 ? response : withHistory(response, redirectUrls)
      }
      timeout?.stop()
      discard(response)
      if (redirectUrls.length >= maxRedirects) {
        throw new RedirectError(
          `${withoutCredentials(String(request.url))} was redirected more than ${maxRedirects} times, the last time by ${withoutCredentials(url.href)}`,
        )
      }
      hop = redirectedRequest(hop, url, response.statusCode, location)
      // The handler may set cookies for the next hop.
      onRedirect?.(response, hop as Parameters<RedirectHandler>[1])
      redirectUrls.push(new URL(hop.url))
    }
  }

  /**
   * Sends one request with a permit. The permit is released when the response headers arrive, or
   * when the task ends: for some invalid responses, such as a 101, the wrapped client's promise
   * never settles.
   * @param task The task that the request is a part of; undefined if the request may outlive its
   * task.
   */
  async #sendWithPermit<Q extends HttpRequest<keyof ResponseTypes>, S extends AnyResponse>(
    hop: Q,
    url: URL,
    timeout: CallerTimeout | undefined,
    task: PoolTask | undefined,
    send: (hop: Q) => Promise<S>,
  ): Promise<S> {
    const { headers = {}, signal } = hop
    for (const name of Object.keys(headers)) assertNoPseudoHeader(name)
    assertOwnHost(url.href, valuesOf(headers, 'host'))
    const exchange = new Exchange({ url: url.href, signal, redirectedFrom: [] }, undefined, TIMEOUT_REMEDY)
    await exchange.enter(enterGate(this.#access, url, signal))
    // A request that outlives its task has timed out, unless the crawl ends.
    task?.ended.promise.then(() => exchange.end(task.signal.aborted ? undefined : { failed: true }))
    try {
      timeout?.start()
      // The gate would not see retries of the wrapped client. Crawlee retries requests itself.
      const response = await exchange.run(() =>
        send({ ...hop, url: url.href, followRedirect: false, retry: { limit: 0 } }),
      )
      exchange.end(gateResponse(response))
      if (response.redirectUrls?.length > 0) throw new FollowingClientError(this.#inner)
      return response
    } catch (error) {
      timeout?.stop()
      const response = (error as { response?: AnyResponse } | undefined)?.response // of `throwHttpErrors`
      if (typeof response?.statusCode === 'number') exchange.end(gateResponse(response))
      else if (signal?.aborted)
        exchange.end() // the caller's own timeout is not a failure of the site
      else exchange.fail(error)
      throw error
    }
  }
}

function withSignalOf<Q extends HttpRequest<keyof ResponseTypes>>(timeout: CallerTimeout | undefined, request: Q): Q {
  return timeout === undefined ? request : { ...request, signal: timeout.signal }
}

/**
 * Waits until the gate admits a request. The wait extends Crawlee's timeouts.
 * @param pageSources The origins of the documents that have named the URL in a browser.
 */
export async function enterGate(
  { gate, deferred }: GateAccess,
  url: URL | string,
  requestSignal: AbortSignal | undefined,
  pageSources: readonly string[] = [],
): Promise<Permit> {
  const task = currentTask()
  const signals = [requestSignal, task?.signal].filter((signal) => signal !== undefined)
  const { signal, unlink } = linkSignals(signals)
  if (task !== undefined) deferred.reachedGate(task)
  try {
    const redirectedFrom = [...linkSourcesOf(task?.request), ...pageSources]
    const wait = () => outsideTimeouts('gate', () => gate.enter(url, { signal, redirectedFrom }))
    return await (task === undefined ? wait() : task.runAtGate(wait))
  } finally {
    unlink()
    if (task !== undefined) deferred.passedGate(task)
  }
}

/**
 * The crawler's `httpClient` followed a redirect although the request says `followRedirect: false`,
 * so the redirect was not checked. The request is not retried.
 *
 * Remedy: Configure the client not to follow redirects, for example with
 * `new ImpitHttpClient({ followRedirects: false })`.
 */
export class FollowingClientError extends PolitelyError {
  override readonly name = 'FollowingClientError'
  readonly code = 'ERR_POLITELY_FOLLOWING_CLIENT'
  constructor(client: BaseHttpClient) {
    const name = client.constructor.name
    super(
      `${name} follows redirects although the request says followRedirect: false; configure the client not to follow redirects`,
    )
  }
}

/**
 * Sets `redirectUrls`, also on the stream: as with got, handlers of an HttpCrawler see the stream's
 * property.
 */
function withHistory<S extends AnyResponse>(response: S, redirectUrls: readonly URL[]): S {
  const property = { value: redirectUrls, configurable: true, enumerable: true }
  if ('stream' in response) Object.defineProperty(response.stream, 'redirectUrls', property)
  return Object.defineProperty(response, 'redirectUrls', property)
}

function gateResponse({ statusCode, headers }: AnyResponse) {
  return { status: statusCode, headers }
}

/** The `Accept` header of a request that has none. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/**
 * Sets the crawler's User-Agent, unless the request has one. The browser headers that got-scraping
 * generates would contradict it, so they are switched off, unless the request asks for them.
 */
export function withUserAgent<Q extends HttpRequest<keyof ResponseTypes>>(request: Q, userAgent: string): Q {
  const { headers = {}, useHeaderGenerator, headerGeneratorOptions, headerGenerator } = request
  if (valuesOf(headers, 'user-agent').length > 0) return request
  const wantsBrowserHeaders =
    useHeaderGenerator ?? (headerGeneratorOptions !== undefined || headerGenerator !== undefined)
  const named = {
    ...headers,
    'user-agent': userAgent,
    ...(!wantsBrowserHeaders && valuesOf(headers, 'accept').length === 0 && { accept: ACCEPT }),
  }
  return { ...request, headers: named, useHeaderGenerator: wantsBrowserHeaders }
}

/** Returns the values of a header. @param wanted Its name in lower case. */
function valuesOf(headers: NonNullable<HttpRequest['headers']>, wanted: string): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? (value ?? []) : []))
}

/** Discards the unread body of a redirect. */
function discard(response: AnyResponse): void {
  if (!('stream' in response)) return
  response.stream.on('error', () => undefined) // destroying the stream breaks off the body
  response.stream.destroy()
}
