// politeAgent: an undici dispatcher with the gate in it, put together in the right order.
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
   * What requests for pages may connect to; default `guarded`. A redirect from a public host leads to public addresses only, also where
   * `fetch` follows it. A link from a page looks like a request of your own: a crawler that follows links should write `public-only`.
   */
  readonly network?: NetworkPolicy
  /** Addresses and blocks, such as `10.0.0.0/8`, that count as public although they are not. Default none. */
  readonly allowAddresses?: readonly string[]
  /** Your own resolver for pages, too, in the form of `dns.lookup`. */
  readonly lookup?: LookupFunction
  /** Redirects that the agent follows itself; for `undici.request`, since `fetch` follows its own. Default 0, as undici has it. */
  readonly maxRedirections?: number | undefined
  /** Timeouts, pipelining and the like, for undici's Agent. */
  readonly agent?: Omit<Agent.Options, 'connect' | 'factory' | 'allowH2'> | undefined
}

/**
 * A dispatcher whose requests are allowed by robots.txt and wait their turn, each hop of a redirect included. For undici's `request` and
 * `fetch`, for the built-in `fetch` of every Node that is supported (`fetch(url, { dispatcher })`), and for all of them at once
 * (`setGlobalDispatcher` of undici 8). HTTP/1.1.
 *
 * @throws {OptionError} for an option that cannot be used.
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

  /** @internal Made by `politeAgent`. */
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
    const gated = guardedInterceptor(gate, (url, its) => pages.refusalOf(url, its))(pages.dispatch)
    const redirecting = maxRedirections === 0 ? gated : interceptors.redirect({ maxRedirections })(gated)
    this.#dispatch = this.#network.begin(redirecting)
  }

  /** Also with a handler of an older undici, such as the one that Node 22 and 24 bring. */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#dispatch(options, currentHandler(handler))
  }

  /** Turns away who waits at a gate that was made here, and resolves when the requests under way are over. */
  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    this.#closed ??= this.#closeAll()
    return told(this.#closed, callback)
  }

  /** Ends requests under way as well. */
  override destroy(): Promise<void>
  override destroy(error: Error | null): Promise<void>
  override destroy(callback: () => void): void
  override destroy(error: Error | null, callback: () => void): void
  override destroy(first?: Error | null | (() => void), second?: () => void): Promise<void> | void {
    const [error, callback] = typeof first === 'function' ? [null, first] : [first ?? null, second]
    return told(this.#destroyAll(error), callback)
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

function told(done: Promise<void>, callback: (() => void) | undefined): Promise<void> | void {
  if (callback === undefined) return done
  done.then(callback, callback)
}

/** What its types do not tell: it makes a handler of the present out of an older one. */
const wrapper = Dispatcher1Wrapper as unknown as {
  wrapHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler
}

function currentHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return wrapper.wrapHandler(handler)
}
