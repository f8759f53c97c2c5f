// What requests for pages may connect to: the guard that robots.txt is fetched behind, in front of pages as well.
import type { LookupFunction } from 'node:net'
import { type NetworkPolicy, publicOnlyConnector, reachOf } from '@politely/fetcher'
import { Agent, type Dispatcher } from 'undici'

/** The URLs that led to a request, its own one last. It travels with a request's options from hop to hop of a redirect. */
const CHAIN: unique symbol = Symbol('politely.chain')

type Chained = Dispatcher.DispatchOptions & { readonly [CHAIN]?: string[] }

/** Agents for pages: one that reaches public addresses only, and one that reaches any. */
export class PageNetwork {
  readonly #network: NetworkPolicy
  readonly #public: Agent
  readonly #any: Agent

  constructor(network: NetworkPolicy, lookup: LookupFunction | undefined, options: Agent.Options) {
    this.#network = network
    const connect = { allowH2: false, ...(lookup && { lookup }) }
    this.#public = new Agent({ ...options, allowH2: false, connect: publicOnlyConnector(connect) })
    this.#any = new Agent({ ...options, allowH2: false, connect })
  }

  /** Outside of everything that makes more requests of one. */
  readonly begin: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const chained: Chained = { ...options, [CHAIN]: [] }
    return dispatch(chained, handler)
  }

  /** Where a request goes out. */
  readonly dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const chain = (options as Chained)[CHAIN] ?? []
    chain.push(String(options.origin))
    const agent = reachOf(this.#network, chain) === 'public' ? this.#public : this.#any
    return agent.dispatch(options, handler)
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.close(), this.#any.close()])
  }

  async destroy(error: Error | null): Promise<void> {
    await Promise.all([this.#public.destroy(error), this.#any.destroy(error)])
  }
}
