// Sends one request for robots.txt and returns its reply. Chooses the transport by the URL's scheme
// and the caller's options.
import type { Reply, RobotsRequest } from '@politely/core/engine'
import type { Dispatcher } from 'undici'
import type { NetworkGuard, Reach } from '../network/network-guard.ts'
import { CallersConnections } from './callers-connections.ts'
import type { Deadline } from './deadline.ts'
import { failure, failureOf } from './failure.ts'
import { FetchTransport } from './fetch-transport.ts'
import { FtpTransport } from './ftp-transport.ts'
import { OwnConnections } from './own-connections.ts'
import type { OwnRequests } from './own-requests.ts'
import type { RobotsTransport, TransportSettings } from './robots-transport.ts'
import { UndiciTransport } from './undici-transport.ts'

export interface TransportOptions extends TransportSettings {
  readonly guard: NetworkGuard
  /**
   * The caller's dispatcher. It makes the connections, so the guard sees only URLs. Excludes
   * `fetch`.
   */
  readonly dispatcher: Dispatcher | undefined
  /**
   * The caller's fetch. It makes the connections, so the guard sees only URLs. Excludes
   * `dispatcher`.
   */
  readonly fetch: typeof globalThis.fetch | undefined
}

export class Transport {
  readonly #guard: NetworkGuard
  readonly #ownRequests: OwnRequests
  readonly #http: RobotsTransport
  readonly #ftp: RobotsTransport
  /** Whether the caller's dispatcher or fetch makes the connections. */
  readonly #usesCallers: boolean
  /**
   * Whether the guard sees the connections themselves. Otherwise it checks the URL and the name
   * before each request.
   */
  readonly #guardsConnections: boolean
  readonly #ownConnections: OwnConnections

  constructor(options: TransportOptions, ownRequests: OwnRequests) {
    const { guard, dispatcher, fetch, timeoutMs } = options
    this.#guard = guard
    this.#ownRequests = ownRequests
    this.#ownConnections = new OwnConnections(guard, timeoutMs)
    this.#usesCallers = dispatcher !== undefined || fetch !== undefined
    this.#guardsConnections = !this.#usesCallers && !IS_BUN
    const fetchToUse = fetch ?? (IS_BUN && dispatcher === undefined ? globalThis.fetch : undefined)
    this.#http =
      fetchToUse === undefined
        ? new UndiciTransport(options, dispatcher ? new CallersConnections(dispatcher, options) : this.#ownConnections)
        : new FetchTransport(options, fetchToUse)
    this.#ftp = new FtpTransport(options, guard)
  }

  /**
   * Sends the request. Network errors and the end of the deadline are replies.
   * @throws {ReentryError} if the caller's `fetch` or `dispatcher` asked the client for this
   * robots.txt.
   */
  async send(request: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const { url, conditions, hops } = request
    const urls = [...hops.map((hop) => hop.url), url]
    const reach = this.#guard.reachOf(urls)
    if (this.#usesCallers) {
      const [robotsUrl = url] = urls
      return this.#ownRequests.run(url, robotsUrl, () => this.#sendByCaller(request, reach, deadline))
    }
    // The client's own connections never ask this client, so they need no async context, which
    // costs time.
    if (url.startsWith('ftp:')) return this.#ftp.send({ url, conditions, reach }, deadline)
    const refusal = this.#guardsConnections ? undefined : await this.#refusalBeforehand(url, reach, deadline)
    return refusal ?? this.#http.send({ url, conditions, reach }, deadline)
  }

  /** Closes the client's own connections. The caller closes its dispatcher. */
  async close(): Promise<void> {
    await this.#ownConnections.close()
  }

  async #sendByCaller({ url, conditions }: RobotsRequest, reach: Reach, deadline: Deadline): Promise<Reply> {
    if (url.startsWith('ftp:')) return FTP_BYPASSES_CALLER
    const refusal = await this.#refusalBeforehand(url, reach, deadline)
    return refusal ?? this.#http.send({ url, conditions, reach }, deadline)
  }

  async #refusalBeforehand(url: string, reach: Reach, deadline: Deadline): Promise<Reply | undefined> {
    if (reach === 'any') return undefined
    try {
      const names = this.#usesCallers ? 'if-lookup-given' : 'always'
      const refusal = await deadline.orBefore(this.#guard.refusalBeforehand(url, names))
      return refusal && failureOf(refusal, 'request', deadline)
    } catch (error) {
      return failureOf(error, 'request', deadline)
    }
  }
}

/**
 * Bun replaces undici by a module of its own without Client and connector. There, the client uses
 * the platform's fetch.
 */
const IS_BUN = process.versions.bun !== undefined

/**
 * A caller that sends everything through a proxy must not get a direct connection, least of all
 * because a site redirects to one.
 */
const FTP_BYPASSES_CALLER = failure(
  'no-transport',
  'ftp: is not supported together with your own dispatcher or fetch, since FTP connections would bypass it',
)
