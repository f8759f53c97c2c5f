// What requests for pages may connect to: the guard that robots.txt is fetched behind, in front of pages as well.
import type { NetworkGuard } from '@politely/fetcher'
import { Agent, type Dispatcher } from 'undici'

/** The URLs that led to a request, its own one last. It travels with a request's options from hop to hop of a redirect. */
const CHAIN: unique symbol = Symbol('politely.chain')

type Chained = Dispatcher.DispatchOptions & { readonly [CHAIN]?: string[] }

/** Agents for pages: one that reaches public addresses only, and one that reaches any. */
export class PageNetwork {
  readonly #guard: NetworkGuard
  readonly #public: Agent
  readonly #any: Agent

  constructor(guard: NetworkGuard, options: Agent.Options) {
    this.#guard = guard
    const http1 = { ...options, allowH2: false }
    this.#public = new Agent({ ...http1, connect: guard.connector({ reach: 'public', allowH2: false }) })
    this.#any = new Agent({ ...http1, connect: guard.connector({ reach: 'any', allowH2: false }) })
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
    const agent = this.#guard.reachOf(chain) === 'public' ? this.#public : this.#any
    return agent.dispatch(options, handler)
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.close(), this.#any.close()])
  }

  async destroy(error: Error | null): Promise<void> {
    await Promise.all([this.#public.destroy(error), this.#any.destroy(error)])
  }
}
