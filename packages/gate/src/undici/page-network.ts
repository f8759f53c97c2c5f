// What requests for pages may connect to: the guard that robots.txt is fetched behind, in front of pages as well.
import { type BlockedAddressError, type NetworkGuard, registrableDomainOf } from '@politely/fetcher'
import { LRUCache } from 'lru-cache'
import { Agent, type Dispatcher } from 'undici'

/** The URLs that led to a request, its own last. Redirects that the agent follows carry it in the options from hop to hop. */
const CHAIN: unique symbol = Symbol('politely.chain')

type Chained = Dispatcher.DispatchOptions & { readonly [CHAIN]?: string[] }

/** A site may ask to keep an idle connection for ten minutes, on each of its hosts. */
const MAX_KEEP_ALIVE_MS = 10_000
/** Hosts of one registrable domain whose connections are kept. To a further one each request has its own. */
const MAX_KEPT_HOSTS = 32
const MAX_DOMAINS = 10_000

/** Agents for pages: one that reaches public addresses only, and one that reaches any. */
export class PageNetwork {
  readonly #guard: NetworkGuard
  readonly #redirectedFrom: (url: string) => readonly string[]
  readonly #public: Agent
  readonly #any: Agent
  /** By registrable domain: the origins that may have an idle connection. */
  readonly #keptOrigins = new LRUCache<string, LRUCache<string, true>>({ max: MAX_DOMAINS })

  /** @param redirectedFrom The URLs whose redirects led to a URL: a hop that `fetch` follows is dispatched like a new request. */
  constructor(guard: NetworkGuard, options: Agent.Options, redirectedFrom: (url: string) => readonly string[]) {
    this.#guard = guard
    this.#redirectedFrom = redirectedFrom
    const http1 = { keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS, ...options, allowH2: false }
    this.#public = new Agent({ ...http1, connect: guard.connector({ reach: 'public', allowH2: false }) })
    this.#any = new Agent({ ...http1, connect: guard.connector({ reach: 'any', allowH2: false }) })
  }

  /** Must be outside of everything that makes more requests of one. */
  readonly begin: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const chain = this.#redirectedFrom(`${options.origin}${options.path}`)
    const chained: Chained = { ...options, [CHAIN]: [...chain] }
    return dispatch(chained, handler)
  }

  /** Returns the refusal of a redirect's target, if the guard refuses it. */
  async refusalOf(url: string, options: Dispatcher.DispatchOptions): Promise<BlockedAddressError | undefined> {
    const chain = (options as Chained)[CHAIN] ?? []
    return chain.length === 0 ? undefined : this.#guard.refusalOfRedirect(chain, url)
  }

  /** Where a request goes out. */
  readonly dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const chain = (options as Chained)[CHAIN] ?? []
    chain.push(String(options.origin))
    const agent = this.#guard.reachOf(chain) === 'public' ? this.#public : this.#any
    return agent.dispatch(this.#keepsAlive(String(options.origin)) ? options : { ...options, reset: true }, handler)
  }

  /** A site with a wildcard in its DNS could leave an idle connection to each of its hosts, and use up all file descriptors. */
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
