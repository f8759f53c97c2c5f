// Sends one request for robots.txt and returns its reply. Chooses the transport by the URL's scheme
// and by the way that requests take now.
import { failuresThatAre } from '@politely/core/engine'
import type { AttemptRequest, Failure, Reply } from '@politely/core/internal'
import type { CallersWay, RobotsVia, Way } from '../network/robots-way.ts'
import { HAS_OWN_CONNECTIONS, HAS_OWN_WAY, LOOKED_UP } from '../network/undici.ts'
import { fetchAtImport } from '../network/wrapped-fetches.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Deadline } from './deadline.ts'
import { failure, failureOf } from './failure.ts'
import { loadTransports } from './load-transports.ts'
import type { OwnRequests } from './own-requests.ts'
import type { TransportRequest } from './robots-transport.ts'
import type { Transports } from './transports.ts'

export class Transport {
  readonly #options: ClientSettings
  readonly #ownRequests: OwnRequests
  /** Created by the first request. */
  #transports: Transports | undefined

  constructor(options: ClientSettings, ownRequests: OwnRequests) {
    this.#options = options
    this.#ownRequests = ownRequests
  }

  /**
   * Returns the way that the next request to a URL takes. Without a URL: the way of all requests, or
   * `dispatcher` if the caller's function chooses it.
   */
  viaOf(url?: string): RobotsVia {
    const { way } = this.#options
    const { via } = url === undefined ? way : way.current(url)
    return via === 'own' && !HAS_OWN_CONNECTIONS ? 'global-fetch' : via
  }

  /**
   * Sends the request. Network errors and the end of the deadline are replies.
   * @param chain The URLs that led to the origin of the file.
   * @throws {ReentryError} if the caller's `fetch` or `dispatcher` asked the client for this
   * robots.txt; what the caller's function `dispatcher` throws.
   */
  async send(request: AttemptRequest, deadline: Deadline, chain: readonly string[] = []): Promise<Reply> {
    const { guard, way: ways } = this.#options
    const { url, conditions, hops } = request
    const way = ways.current(url)
    const urls = [...hops.map((hop) => hop.url), url]
    const reach = guard.reachOf(chain.length === 0 ? urls : [...chain, ...urls])
    const [robotsUrl = url] = urls
    const { Transports } = await loadTransports()
    if (deadline.isOver) return failure('timeout', deadline.explanation)
    this.#transports ??= new Transports(this.#options)
    const transports = this.#transports
    const sent = { url, conditions, reach }
    // The client's own connections never ask this client, so they need no async context, which
    // costs time.
    const reply =
      way.via === 'own'
        ? await this.#sendByOwn(transports, sent, deadline)
        : await this.#ownRequests.run(url, robotsUrl, () => this.#sendByCaller(transports, way, sent, deadline))
    const hint = reply.kind === 'failure' ? this.#hintOn(reply, way, url) : undefined
    return reply.kind === 'failure' && hint !== undefined ? { ...reply, detail: `${reply.detail}; ${hint}` } : reply
  }

  /** Closes the client's own connections. The caller closes its dispatcher. */
  async close(): Promise<void> {
    await this.#transports?.close()
  }

  /** Returns what to write if another way might have worked. */
  #hintOn({ reason }: Failure, way: Way, url: string): string | undefined {
    if (ANOTHER_WAY.has(reason)) return this.#options.way.unusedSetup(url, way)
    const { via } = way
    const isGiven = via === 'fetch' || via === 'dispatcher'
    return reason === 'unusable-transport' && !isGiven && HAS_OWN_WAY
      ? "or write robotsVia: 'own', and robots.txt takes connections of its own"
      : undefined
  }

  async #sendByOwn(transports: Transports, request: TransportRequest, deadline: Deadline): Promise<Reply> {
    if (request.url.startsWith('ftp:')) return transports.ftp.send(request, deadline)
    if (HAS_OWN_CONNECTIONS) return transports.own.send(request, deadline)
    const refusal = await this.#refusalBeforehand(request, LOOKED_UP, deadline)
    return refusal ?? transports.through({ via: 'global-fetch', fetch: fetchAtImport }).send(request, deadline)
  }

  async #sendByCaller(
    transports: Transports,
    way: CallersWay,
    request: TransportRequest,
    deadline: Deadline,
  ): Promise<Reply> {
    if (request.url.startsWith('ftp:')) return FTP_BYPASSES_CALLER
    const refusal = await this.#refusalBeforehand(request, 'if-lookup-given', deadline)
    return refusal ?? transports.through(way).send(request, deadline)
  }

  async #refusalBeforehand(
    { url, reach }: TransportRequest,
    names: 'if-lookup-given' | 'always',
    deadline: Deadline,
  ): Promise<Reply | undefined> {
    if (reach === 'any') return undefined
    try {
      const refusal = await deadline.orBefore(this.#options.guard.refusalBeforehand(url, names))
      return refusal && failureOf(refusal, 'request', deadline)
    } catch (error) {
      return failureOf(error, 'request', deadline)
    }
  }
}

const ANOTHER_WAY = failuresThatAre('another-way')

/**
 * A caller that sends everything through a proxy must not get a direct connection, least of all
 * because a site redirects to one.
 */
const FTP_BYPASSES_CALLER = failure(
  'no-transport',
  'ftp: is not supported together with your own dispatcher or fetch, since FTP connections would bypass it',
)
