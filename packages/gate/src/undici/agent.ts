// politeAgent: an undici dispatcher whose requests enter a gate. It composes the gate, the network guard and redirects in the right order.
import type { LookupFunction } from 'node:net'
import { NetworkGuard, type NetworkPolicy } from '@politely/fetcher'
import { assertOptions, integer } from '@politely/fetcher/option-checks'
import { type Agent, Dispatcher, Dispatcher1Wrapper, interceptors } from 'undici'
import type { PoliteGate } from '../gate.ts'
import { type GateOrOptions, resolveGate } from '../resolve-gate.ts'
import { guardedInterceptor } from './interceptor.ts'
import { PageNetwork } from './page-network.ts'

export type PoliteAgentOptions = GateOrOptions & {
  /**
   * Which addresses requests for pages may connect to. Default `guarded`: a redirect from a public host may lead only to public addresses,
   * also if `fetch` follows it. A link from a page is indistinguishable from a request of your own, so a crawler that follows links should
   * use `public-only`.
   */
  readonly network?: NetworkPolicy
  /** Private addresses and blocks, such as `10.0.0.0/8`, to treat as public. Default: none. */
  readonly allowAddresses?: readonly string[]
  /** A resolver with the signature of `dns.lookup`, for pages and for robots.txt. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction
  /** How many redirects the agent follows, for `undici.request`; `fetch` follows redirects itself. Default 0, as in undici. */
  readonly maxRedirections?: number | undefined
  /** Options for undici's Agent, such as timeouts and pipelining. */
  readonly agent?: Omit<Agent.Options, 'connect' | 'factory' | 'allowH2'> | undefined
}

/**
 * Returns an undici dispatcher. Each of its requests, redirect hops included, is checked against robots.txt and waits for its slot. It works
 * with undici's `request` and `fetch`, with the built-in `fetch` of every supported Node (`fetch(url, { dispatcher })`), and with all of them
 * at once (`setGlobalDispatcher` of undici 8). Supports HTTP/1.1.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function politeAgent(options: PoliteAgentOptions): PoliteAgent {
  return new PoliteAgent(options)
}

export class PoliteAgent extends Dispatcher implements AsyncDisposable {
  readonly gate: PoliteGate
  readonly #network: PageNetwork
  readonly #dispatch: Dispatcher.Dispatch
  readonly #closeGate: () => Promise<void>
  #closed: Promise<void> | undefined

  /** @internal Call `politeAgent`. */
  constructor(options: PoliteAgentOptions) {
    super()
    assertOptions(options)
    const { network, allowAddresses, lookup, maxRedirections = 0, agent = {}, ...others } = options
    const reach = { ...(network && { network }), ...(allowAddresses && { allowAddresses }), ...(lookup && { lookup }) }
    integer('maxRedirections', maxRedirections, { min: 0 })
    const guard = new NetworkGuard(reach)
    const { gate, close } = resolveGate('gate' in others ? others : { ...others, ...reach })
    this.gate = gate
    this.#closeGate = close
    const pages = new PageNetwork(guard, agent, (url) => gate.redirectedFrom(url))
    this.#network = pages
    const gated = guardedInterceptor(gate, (url, requestOptions) => pages.refusalOf(url, requestOptions))(
      pages.dispatch,
    )
    const redirecting = maxRedirections === 0 ? gated : interceptors.redirect({ maxRedirections })(gated)
    this.#dispatch = this.#network.begin(redirecting)
  }

  /** Also accepts a handler of an older undici, such as the one in Node 22 and 24. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#dispatch(options, currentHandler(handler))
  }

  /**
   * Closes the gate, which rejects the requests that wait; a gate that you passed stays open. Resolves when the requests under way have
   * ended.
   */
  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    this.#closed ??= this.#closeAll()
    return withCallback(this.#closed, callback)
  }

  /** Like `close`, but aborts the requests under way. */
  override destroy(): Promise<void>
  override destroy(error: Error | null): Promise<void>
  override destroy(callback: () => void): void
  override destroy(error: Error | null, callback: () => void): void
  override destroy(first?: Error | null | (() => void), second?: () => void): Promise<void> | void {
    const [error, callback] = typeof first === 'function' ? [null, first] : [first ?? null, second]
    return withCallback(this.#destroyAll(error), callback)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #closeAll(): Promise<void> {
    await this.#closeGate()
    await this.#network.close()
  }

  async #destroyAll(error: Error | null): Promise<void> {
    await Promise.all([this.#closeGate(), this.#network.destroy(error)])
  }
}

function withCallback(done: Promise<void>, callback: (() => void) | undefined): Promise<void> | void {
  if (callback === undefined) return done
  done.then(callback, callback)
}

/** A static method that undici's types omit. It converts a handler of an older undici. */
const wrapper = Dispatcher1Wrapper as unknown as {
  wrapHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler
}

function currentHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return wrapper.wrapHandler(handler)
}
