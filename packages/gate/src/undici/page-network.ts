// Applies the network guard to requests for pages, as the RobotsClient applies it to requests for
// robots.txt.
import { type BlockedAddressError, type NetworkGuard, registrableDomainOf } from '@politely/fetcher'
import { type ChooseDispatcher, type Linked, LinkedList, type Reach } from '@politely/fetcher/internal'
import { Agent, type Dispatcher, errors } from 'undici'
import { gatePort, type PoliteGate } from '../gate.ts'
import { sendingThrough } from '../permit/sending.ts'
import type { agentSettingsOf } from './agent-options.ts'
import { dispatchedSources, type GuardedHandler, type GuardedNetwork } from './interceptor.ts'

/**
 * An option with the origins that led to a request, its own last. Redirects that the agent follows
 * copy the options from hop to hop.
 */
const CHAIN: unique symbol = Symbol('politely.chain')

type Chained = Dispatcher.DispatchOptions & { readonly [CHAIN]?: Chain }

interface Chain extends Array<string> {
  /** What the caller's function has returned for the next request, between check and dispatch. */
  chosen?: { readonly dispatcher: Dispatcher | undefined } | undefined
}

/**
 * The longest time for which an idle connection is kept. Undici's default would let a site ask for
 * ten minutes, on each of its hosts.
 */
const MAX_KEEP_ALIVE_MS = 10_000
/**
 * How many hosts of one registrable domain may have idle connections. The connection of a request
 * to a further host is closed after it. The tenants of a platform share this limit: it costs them
 * time, but does not stop them.
 */
const MAX_KEPT_HOSTS = 32
/**
 * How long to wait for the addresses of a redirect's target: as long as undici waits for a
 * connection by default.
 */
const LOOKUP_TIMEOUT_MS = 10_000

/** An origin whose connections are kept when they are idle. */
interface KeptHost extends Linked<KeptHost> {
  readonly origin: string
  readonly domain: string
  /** Which addresses a request that no redirect led to may connect to. */
  readonly reach: Reach
  /** Requests whose responses have not ended. */
  underWay: number
  /** Until when it may have an idle connection, in the time of `performance.now`. */
  idleUntil: number
}

/**
 * Has two agents: one connects only to public addresses, and one connects to any. The caller may
 * choose another dispatcher for each request.
 */
export class PageNetwork implements GuardedNetwork {
  readonly #guard: NetworkGuard
  readonly #gate: PoliteGate
  readonly #public: Agent
  readonly #any: Agent
  readonly #choose: ChooseDispatcher | undefined
  /** By origin. */
  readonly #kept = new Map<string, KeptHost>()
  /** The kept hosts without requests under way, in the order of `idleUntil`. */
  readonly #idle = new LinkedList<KeptHost>()
  /** The requests that the caller's dispatchers have. */
  readonly #elsewhere = new Set<Dispatcher.DispatchHandler>()
  /** Called when the last of them has ended. */
  #onNoneElsewhere: (() => void) | undefined
  /** By registrable domain: how many of these origins it has. */
  readonly #keptHosts = new Map<string, number>()

  /**
   * @param gate Knows the origins whose redirects led to a URL: `fetch` dispatches a redirect hop
   * like a new request.
   * @param choose Returns the caller's dispatcher for a URL, or undefined for an agent of this object.
   */
  constructor(
    guard: NetworkGuard,
    { agent, connect }: ReturnType<typeof agentSettingsOf>,
    gate: PoliteGate,
    choose: ChooseDispatcher | undefined,
  ) {
    this.#choose = choose
    this.#guard = guard
    this.#gate = gate
    const http1 = { keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS, ...agent, allowH2: false }
    this.#public = new Agent({ ...http1, connect: guard.connector({ ...connect, reach: 'public' }) })
    this.#any = new Agent({ ...http1, connect: guard.connector({ ...connect, reach: 'any' }) })
  }

  /** Must wrap each interceptor that may make several requests from one, such as `redirect`. */
  readonly begin: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const redirects = gatePort(this.#gate).redirects.to(`${options.origin}${options.path}`)
    const chained: Chained = { ...options, [CHAIN]: [...redirects, ...dispatchedSources(options)] }
    return dispatch(chained, handler)
  }

  /**
   * Resolves to the guard's refusal of a URL that a site gave, or to undefined if the URL is allowed.
   * Rejects if a lookup fails or takes too long, the signal is aborted, or the gate is closed.
   * Returns undefined instead of a promise for a URL that needs no lookup.
   */
  readonly refusalOf = (
    url: string,
    options: Dispatcher.DispatchOptions,
    signal: AbortSignal,
  ): Promise<BlockedAddressError | undefined> | undefined => {
    const chain: Chain = (options as Chained)[CHAIN] ?? []
    const sending = sendingThrough(this.#gate)
    if (sending !== undefined) chain.push(...sending.sourcesOf(url))
    if (this.#choose !== undefined) {
      chain.chosen = { dispatcher: this.#choose(url) }
      if (chain.chosen.dispatcher !== undefined) return this.#refusalBeforehand(url, chain, signal)
    }
    if (chain.length === 0 || !this.#guard.mayRefuseRedirect(chain, url)) return undefined
    return this.#inTime(this.#guard.refusalOfRedirect(chain, url), signal)
  }

  /** Checks a URL that the caller's dispatcher connects to: the guard doesn't see that connection. */
  #refusalBeforehand(
    url: string,
    chain: readonly string[],
    signal: AbortSignal,
  ): Promise<BlockedAddressError | undefined> | undefined {
    if (this.#guard.reachOf([...chain, url]) === 'any') return undefined
    return this.#inTime(this.#guard.refusalBeforehand(url), signal)
  }

  #inTime<T>(lookup: Promise<T>, signal: AbortSignal): Promise<T> {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)])
    return gatePort(this.#gate).robots.whileOpen(lookup, ends)
  }

  /** Sends a request through the caller's dispatcher, or through the agent that the guard allows. */
  readonly dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const origin = String(options.origin)
    const isTunnel = options.method === 'CONNECT' // its connection is the caller's
    const chain: Chain = (options as Chained)[CHAIN] ?? []
    chain.push(origin)
    if (this.#choose !== undefined) {
      // A tunnel, and a request for robots.txt by the client of the gate, have not been checked.
      const { dispatcher } = chain.chosen ?? { dispatcher: this.#choose(origin) }
      chain.chosen = undefined
      if (dispatcher !== undefined) {
        if (!isTunnel) this.#elsewhere.add(handler)
        return dispatcher.dispatch(options, handler)
      }
    }
    const host = isTunnel ? undefined : this.#keep(origin)
    const isKnown = host !== undefined && (chain.length === 1 || host.reach === 'public')
    const reach = isKnown ? host.reach : this.#guard.reachOf(chain)
    const agent = reach === 'public' ? this.#public : this.#any
    if (host !== undefined) (handler as GuardedHandler).host = host
    return agent.dispatch(host || isTunnel ? options : { ...options, reset: true }, handler)
  }

  /** Counts a request as ended. From now on its connection is idle. */
  readonly ended = (handler: GuardedHandler): void => {
    if (this.#elsewhere.delete(handler) && this.#elsewhere.size === 0) this.#onNoneElsewhere?.()
    const host = handler.host as KeptHost | undefined
    if (host === undefined) return
    handler.host = undefined
    host.underWay--
    if (host.underWay > 0) return
    host.idleUntil = performance.now() + MAX_KEEP_ALIVE_MS
    this.#idle.add(host)
  }

  /**
   * Counts a request to this origin as under way. Returns undefined if its connection must not be
   * kept: a site with a wildcard in its DNS could otherwise use up all file descriptors with an
   * idle connection to each of its hosts.
   */
  #keep(origin: string): KeptHost | undefined {
    const host = this.#kept.get(origin) ?? this.#newKept(origin)
    if (host === undefined) return undefined
    this.#idle.delete(host)
    host.underWay++
    return host
  }

  #newKept(origin: string): KeptHost | undefined {
    this.#removeIdle(performance.now())
    const domain = registrableDomainOf(origin)
    const hosts = this.#keptHosts.get(domain) ?? 0
    if (hosts === MAX_KEPT_HOSTS) return undefined
    this.#keptHosts.set(domain, hosts + 1)
    const links = { before: undefined, after: undefined, list: undefined }
    const host = { origin, domain, reach: this.#guard.reachOf([origin]), underWay: 0, idleUntil: 0, ...links }
    this.#kept.set(origin, host)
    return host
  }

  /** Removes the hosts whose connections have been idle for too long. */
  #removeIdle(now: number): void {
    for (let host = this.#idle.first; host !== undefined && host.idleUntil <= now; host = this.#idle.first) {
      const { origin, domain } = host
      this.#idle.delete(host)
      this.#kept.delete(origin)
      const rest = (this.#keptHosts.get(domain) ?? 0) - 1
      if (rest > 0) this.#keptHosts.set(domain, rest)
      else this.#keptHosts.delete(domain)
    }
  }

  async close(): Promise<void> {
    const { promise: noneElsewhere, resolve } = Promise.withResolvers<void>()
    if (this.#elsewhere.size === 0) resolve()
    this.#onNoneElsewhere = resolve
    await Promise.all([this.#public.close(), this.#any.close(), noneElsewhere])
  }

  async destroy(error: Error | null): Promise<void> {
    for (const request of this.#elsewhere)
      (request as Partial<Dispatcher.DispatchController>).abort?.(error ?? new errors.ClientDestroyedError())
    await Promise.all([this.#public.destroy(error), this.#any.destroy(error)])
  }
}
