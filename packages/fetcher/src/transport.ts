// One request for robots.txt: a URL in, a reply out. Redirects and retries are decided elsewhere; here it is decided who makes
// the request, by the URL's scheme and by what the caller brought along.
import type { Reply, RobotsRequest } from '@politely/core'
import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'
import { failureOf } from './failure.ts'
import { FetchTransport } from './fetch-transport.ts'
import { FtpTransport } from './ftp-transport.ts'
import type { NetworkGuard } from './network-guard.ts'
import type { RobotsTransport, TransportSettings } from './robots-transport.ts'
import { CallersConnections, OwnConnections, UndiciTransport } from './undici-transport.ts'

export interface TransportOptions extends TransportSettings {
  readonly guard: NetworkGuard
  /** The caller's own; then connections are its business, and the guard sees URLs only. At most one of the two. */
  readonly dispatcher: Dispatcher | undefined
  readonly fetch: typeof globalThis.fetch | undefined
}

export class Transport {
  readonly #guard: NetworkGuard
  readonly #web: RobotsTransport
  readonly #ftp: RobotsTransport
  /** Who makes the connections. */
  readonly #connections: 'ours' | "the caller's"
  readonly #own: OwnConnections

  constructor(options: TransportOptions) {
    const { guard, dispatcher, fetch, timeoutMs } = options
    this.#guard = guard
    this.#own = new OwnConnections(guard, timeoutMs)
    this.#web =
      fetch === undefined
        ? new UndiciTransport(options, dispatcher ? new CallersConnections(dispatcher, options) : this.#own)
        : new FetchTransport(options, fetch)
    this.#ftp = new FtpTransport(options, guard)
    this.#connections = dispatcher === undefined && fetch === undefined ? 'ours' : "the caller's"
  }

  /** Makes the request. Never throws: what goes wrong is a reply, and so is the end of the deadline. */
  async send({ url, conditions, hops }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const reach = this.#guard.reachOf([...hops.map((hop) => hop.url), url])
    const isFtp = url.startsWith('ftp:')
    if (this.#connections !== 'ours') {
      if (isFtp) return { kind: 'failure', reason: 'no-transport', detail: FTP_IS_OURS }
      const refusal = reach === 'public' ? await this.#refusalBeforehand(url, deadline) : undefined
      if (refusal !== undefined) return refusal
    }
    return (isFtp ? this.#ftp : this.#web).send({ url, conditions, reach }, deadline)
  }

  /** Ends our own connections; the caller's dispatcher is the caller's. */
  async destroy(): Promise<void> {
    await this.#own.destroy()
  }

  async #refusalBeforehand(url: string, deadline: Deadline): Promise<Reply | undefined> {
    try {
      const refusal = await deadline.orBefore(this.#guard.refusalBeforehand(url))
      return refusal && failureOf(refusal, 'request', deadline)
    } catch (error) {
      return failureOf(error, 'request', deadline)
    }
  }
}

/** Whoever makes all connections through a proxy would not like one that goes past it, least of all where a site says so. */
const FTP_IS_OURS = 'ftp: is not spoken where your own dispatcher or fetch makes the connections'
