// Applies the network guard to requests for pages, as the RobotsClient applies it to requests for robots.txt.
import { type BlockedAddressError, type NetworkGuard, registrableDomainOf } from '@politely/fetcher'
import { LRUCache } from 'lru-cache'
import { Agent, type Dispatcher } from 'undici'

/** An option with the origins that led to a request, its own last. Redirects that the agent follows copy the options from hop to hop. */
const CHAIN: unique symbol = Symbol('politely.chain')

type Chained = Dispatcher.DispatchOptions & { readonly [CHAIN]?: string[] }

/** The longest time for which an idle connection is kept. Undici's default would let a site ask for ten minutes, on each of its hosts. */
const MAX_KEEP_ALIVE_MS = 10_000
/** How many hosts of one registrable domain may have idle connections. The connection of a request to a further host is closed after it. */
const MAX_KEPT_HOSTS = 32
/** How many registrable domains are tracked for this limit. */
const MAX_DOMAINS = 10_000

/** Has two agents: one connects only to public addresses, and one connects to any. */
export class PageNetwork {
  readonly #guard: NetworkGuard
  readonly #redirectedFrom: (url: string) => readonly string[]
  readonly #public: Agent
  readonly #any: Agent
  /** By registrable domain: the origins that may have an idle connection. */
  readonly #keptOrigins = new LRUCache<string, LRUCache<string, true>>({ max: MAX_DOMAINS })

  /** @param redirectedFrom Returns the origins whose redirects led to a URL: `fetch` dispatches a redirect hop like a new request. */
  constructor(guard: NetworkGuard, options: Agent.Options, redirectedFrom: (url: string) => readonly string[]) {
    this.#guard = guard
    this.#redirectedFrom = redirectedFrom
    const http1 = { keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS, ...options, allowH2: false }
    this.#public = new Agent({ ...http1, connect: guard.connector({ reach: 'public', allowH2: false }) })
    this.#any = new Agent({ ...http1, connect: guard.connector({ reach: 'any', allowH2: false }) })
  }

  /** Must wrap each interceptor that may make several requests from one, such as `redirect`. */
  readonly begin: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const chain = this.#redirectedFrom(`${options.origin}${options.path}`)
    const chained: Chained = { ...options, [CHAIN]: [...chain] }
    return dispatch(chained, handler)
  }

  /** Returns the guard's refusal of a redirect hop; undefined if the hop is allowed, or for a first request. */
  async refusalOf(url: string, options: Dispatcher.DispatchOptions): Promise<BlockedAddressError | undefined> {
    const chain = (options as Chained)[CHAIN] ?? []
    return chain.length === 0 ? undefined : this.#guard.refusalOfRedirect(chain, url)
  }

  /** Sends a request through the agent that the guard allows. */
  readonly dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const chain = (options as Chained)[CHAIN] ?? []
    chain.push(String(options.origin))
    const agent = this.#guard.reachOf(chain) === 'public' ? this.#public : this.#any
    return agent.dispatch(this.#keepsAlive(String(options.origin)) ? options : { ...options, reset: true }, handler)
  }

  /**
   * Returns whether the connection to this origin may be kept. A site with a wildcard in its DNS could otherwise use up all file descriptors
   * with an idle connection to each of its hosts.
   */
  #keepsAlive(origin: string): boolean {
    const domain = registrableDomainOf(origin)
    const kept = this.#keptOrigins.get(domain) ?? new LRUCache({ max: MAX_KEPT_HOSTS, ttl: MAX_KEEP_ALIVE_MS })
    this.#keptOrigins.set(domain, kept)
    if (kept.size === MAX_KEPT_HOSTS && !kept.has(origin)) kept.purgeStale()
    if (kept.size === MAX_KEPT_HOSTS && !kept.has(origin)) return false
    kept.set(origin, true)
    return true
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.close(), this.#any.close()])
  }

  async destroy(error: Error | null): Promise<void> {
    await Promise.all([this.#public.destroy(error), this.#any.destroy(error)])
  }
}
