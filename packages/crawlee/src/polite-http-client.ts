// An HTTP client of Crawlee's kind around another: every request, each hop of a redirect included, is allowed by
// robots.txt and waits its turn.
import type {
  BaseHttpClient,
  HttpRequest,
  HttpResponse,
  RedirectHandler,
  ResponseTypes,
  StreamingHttpResponse,
} from '@crawlee/basic'
import { linkSignals } from '@politely/fetcher/abort-listeners'
import { assertOwnHost, type Permit, type PoliteGate } from '@politely/gate'
import type { DeferredRequests } from './deferred-requests.ts'
import { waitingOutside } from './host-timeouts.ts'
import { currentTask } from './pool-task.ts'
import { locationOf, RedirectError, redirected } from './redirected.ts'

/** As got has it, Crawlee's own client. */
const MAX_REDIRECTS = 10

/** A response with what is looked at. Got's has more. */
type SeenResponse = HttpResponse | StreamingHttpResponse

export interface Entering {
  readonly gate: PoliteGate
  /** Is told how far the requests of a task have come. */
  readonly room: Pick<DeferredRequests, 'arrived' | 'left'>
}

export class PoliteHttpClient implements BaseHttpClient {
  readonly #inner: BaseHttpClient
  readonly #entering: Entering

  constructor(inner: BaseHttpClient, entering: Entering) {
    this.#inner = inner
    this.#entering = entering
  }

  async sendRequest<T extends keyof ResponseTypes = 'text'>(request: HttpRequest<T>): Promise<HttpResponse<T>> {
    return this.#follow(request, undefined, (hop) => this.#inner.sendRequest(hop))
  }

  async stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
    return this.#follow(request, onRedirect, (hop) => this.#inner.stream(hop))
  }

  /** The redirects are followed here, and not by the client inside, so that each hop has a pass of its own. */
  async #follow<Q extends HttpRequest<keyof ResponseTypes>, S extends SeenResponse>(
    request: Q,
    onRedirect: RedirectHandler | undefined,
    send: (hop: Q) => Promise<S>,
  ): Promise<S> {
    const { followRedirect = true, maxRedirects = MAX_REDIRECTS } = request
    const been: URL[] = []
    let hop = withName(request, this.#entering.gate.robots.userAgent)
    for (;;) {
      const url = new URL(hop.url)
      const response = await this.#passed(hop, url, send)
      const location = locationOf(response)
      const follows = typeof followRedirect === 'function' ? followRedirect(response) : followRedirect
      if (location === undefined || !follows) {
        return been.length === 0 ? response : withHistory(response, been)
      }
      discard(response)
      if (been.length >= maxRedirects) {
        throw new RedirectError(`${request.url} was redirected ${maxRedirects} times, the last time by ${url.href}`)
      }
      hop = redirected(hop, url, response.statusCode, location)
      // It may set cookies for the next hop.
      onRedirect?.(response, hop as Parameters<RedirectHandler>[1])
      been.push(new URL(hop.url))
    }
  }

  /** One request with a pass. Its place is given back when the headers are there. */
  async #passed<Q extends HttpRequest<keyof ResponseTypes>, S extends SeenResponse>(
    hop: Q,
    url: URL,
    send: (hop: Q) => Promise<S>,
  ): Promise<S> {
    assertOwnHost(url.href, hostsOf(hop))
    const pass = await enter(this.#entering, url, hop.signal)
    try {
      // Retries of the client inside would be requests that nobody let leave; Crawlee has its own.
      const response = await pass.run(() => send({ ...hop, url: url.href, followRedirect: false, retry: { limit: 0 } }))
      pass.release(answerOf(response))
      if (response.redirectUrls?.length > 0) throw new FollowingClientError(this.#inner)
      return response
    } catch (error) {
      const response = (error as { response?: SeenResponse } | undefined)?.response // of `throwHttpErrors`
      if (typeof response?.statusCode === 'number') pass.release(answerOf(response))
      throw error
    } finally {
      pass.release()
    }
  }
}

/** Waits until a request may leave, outside of what Crawlee's clocks count. */
export async function enter(
  { gate, room }: Entering,
  url: URL | string,
  own: AbortSignal | undefined,
): Promise<Permit> {
  const task = currentTask()
  const signals = [own, task?.signal].filter((signal) => signal !== undefined)
  const { signal, unlink } = linkSignals(signals)
  if (task !== undefined) room.arrived(task)
  try {
    const wait = () => waitingOutside(() => gate.enter(url, { signal }))
    return await (task === undefined ? wait() : task.waiting(wait))
  } finally {
    unlink()
    if (task !== undefined) room.left(task)
  }
}

/** The HTTP client does not do what it is told, and its redirects cannot be checked. */
export class FollowingClientError extends Error {
  override readonly name = 'FollowingClientError'
  readonly code = 'ERR_POLITELY_FOLLOWING_CLIENT'
  constructor(client: BaseHttpClient) {
    const name = client.constructor.name
    super(`${name} follows redirects although it is told not to (followRedirect: false); have it not follow any`)
  }
}

/** Got's stream has it, too, and that one is what the user of an HttpCrawler sees. */
function withHistory<S extends SeenResponse>(response: S, redirectUrls: readonly URL[]): S {
  const told = { value: redirectUrls, configurable: true, enumerable: true }
  if ('stream' in response) Object.defineProperty(response.stream, 'redirectUrls', told)
  return Object.defineProperty(response, 'redirectUrls', told)
}

function answerOf({ statusCode, headers }: SeenResponse) {
  return { status: statusCode, headers }
}

/** What a page is asked for as, where the request does not say it. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/**
 * The crawler's own name, unless the request has one. Headers of a browser that is none (got-scraping generates them) would
 * contradict it, and are left out, unless they are asked for.
 */
function withName<Q extends HttpRequest<keyof ResponseTypes>>(request: Q, userAgent: string): Q {
  const { headers = {}, useHeaderGenerator, headerGeneratorOptions, headerGenerator } = request
  if (hasHeader(headers, 'user-agent')) return request
  const wants = useHeaderGenerator ?? (headerGeneratorOptions !== undefined || headerGenerator !== undefined)
  const named = {
    ...headers,
    'user-agent': userAgent,
    ...(!wants && !hasHeader(headers, 'accept') && { accept: ACCEPT }),
  }
  return { ...request, headers: named, useHeaderGenerator: wants }
}

function hasHeader(headers: NonNullable<HttpRequest['headers']>, wanted: string): boolean {
  return Object.entries(headers).some(([name, value]) => name.toLowerCase() === wanted && value !== undefined)
}

function hostsOf({ headers = {} }: HttpRequest<keyof ResponseTypes>): readonly unknown[] {
  return Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === 'host' ? (value ?? []) : []))
}

/** Nobody reads the body of a redirect. */
function discard(response: SeenResponse): void {
  if (!('stream' in response)) return
  response.stream.on('error', () => undefined) // it is broken off
  response.stream.destroy()
}
