// politeAgent: an undici dispatcher whose requests enter a gate. It composes the gate, the network
// guard and redirects in the right order.
import type { LookupFunction } from 'node:net'
import { type AnyDispatcher, type DispatcherByOrigin, NetworkGuard, type RobotsClientOptions } from '@politely/fetcher'
import { dispatcherChooser, integer, registerPoliteDispatcher } from '@politely/fetcher/internal'
import { Dispatcher, Dispatcher1Wrapper, interceptors } from 'undici'
import { assertGateOptions, type GateOrOptions, resolveGate } from '../adapter/resolve-gate.ts'
import type { PoliteGate } from '../gate.ts'
import { OPTIONS_OF_FETCH } from '../options/pacing.ts'
import { type AgentSettings, agentSettingsOf } from './agent-options.ts'
import { guardedInterceptor } from './interceptor.ts'
import { PageNetwork } from './page-network.ts'

/**
 * Options of `politeAgent`: an existing gate, or the options of a new one; and how requests
 * connect.
 */
export type PoliteAgentOptions = GateOrOptions & {
  /**
   * Which addresses requests for pages may connect to. Default `guarded`: a redirect from a public
   * host may lead only to public addresses, even if `fetch` follows it. So may a link of which the
   * agent knows the page (`redirectedFrom`); without it, a link looks like the caller's own URL.
   * `public-only` refuses private addresses in any case.
   */
  readonly network?: RobotsClientOptions['network']
  /** Private addresses and blocks, such as `10.0.0.0/8`, to treat as public. Default: none. */
  readonly allowAddresses?: readonly string[] | undefined
  /**
   * A resolver with the signature of `dns.lookup`, for pages and for robots.txt. Default:
   * `dns.lookup`.
   */
  readonly lookup?: LookupFunction | undefined
  /**
   * How many redirects the agent follows, for `undici.request`; `fetch` follows redirects itself.
   * Default 0, as in undici.
   */
  readonly maxRedirections?: number | undefined
  /**
   * Options for undici's Agent, such as timeouts and `connect: { ca }`. `connections` is not
   * supported: a request that waits for a connection would start later than its slot. `pipelining`
   * may be 0 or 1, and HTTP/2 is not supported: if a site closes a connection, undici sends its
   * requests again, without slots.
   */
  readonly agent?: AgentSettings | undefined
  /**
   * Your dispatcher of undici 7 or 8 for pages, such as a ProxyAgent; or a function that chooses one
   * by the origin of each request and each redirect hop, and returns undefined for the agent's own
   * connections. A RobotsClient that is created for the agent sends robots.txt the same way. Your
   * dispatcher makes the connections, so `network` sees only URLs, and `agent` has no effect on them.
   * You close it. Default: the agent's own connections.
   */
  readonly dispatcher?: AnyDispatcher | DispatcherByOrigin | undefined
}

/**
 * Returns an undici dispatcher. Each of its requests, redirect hops included, is checked against
 * robots.txt and waits for its slot. It works with undici's `request` and `fetch`, with the
 * built-in `fetch` of every supported Node (`fetch(url, { dispatcher })`), and with all of them at
 * once (`setGlobalDispatcher` of undici 8). Supports HTTP/1.1.
 * @throws {OptionError} for an invalid or unknown option.
 */
export function politeAgent(options: PoliteAgentOptions): PoliteAgent {
  return new PoliteAgent(options)
}

const AGENT_OPTIONS = {
  network: true,
  allowAddresses: true,
  lookup: true,
  maxRedirections: true,
  agent: true,
  dispatcher: true,
} as const

/**
 * Adds the options that pages and robots.txt share to the options of what `resolveGate` creates.
 */
function gateOptions(
  options: GateOrOptions,
  reach: Pick<RobotsClientOptions, 'network' | 'allowAddresses' | 'lookup' | 'dispatcher'>,
): GateOrOptions {
  if ('gate' in options) return options
  return 'robots' in options ? { ...options, ...(reach.lookup && { lookup: reach.lookup }) } : { ...options, ...reach }
}

/**
 * An undici dispatcher whose requests enter a gate; `politeAgent` creates it. Each request,
 * redirect hops included, is checked against robots.txt, waits for its slot, and connects only to
 * addresses that `network` permits. Closing the agent also closes a gate and a RobotsClient that
 * were created for it, but none that you passed.
 */
export class PoliteAgent extends Dispatcher implements AsyncDisposable {
  /** The gate that requests enter: the gate that you passed, or a new gate. */
  readonly gate: PoliteGate
  readonly #network: PageNetwork
  readonly #dispatch: Dispatcher.Dispatch
  readonly #closeGate: () => Promise<void>
  /** Aborted when no request needs a lookup any more. */
  readonly #closing = new AbortController()
  #closed: Promise<void> | undefined

  /**
   * Call `politeAgent`, which does the same. @throws {OptionError} for an invalid or unknown
   * option.
   */
  constructor(options: PoliteAgentOptions) {
    super()
    assertGateOptions(options)
    const { network, allowAddresses, lookup, maxRedirections = 0, agent = {}, dispatcher, ...others } = options
    const reach = { ...(network && { network }), ...(allowAddresses && { allowAddresses }), ...(lookup && { lookup }) }
    integer('maxRedirections', maxRedirections, { min: 0 })
    const undici = agentSettingsOf(agent)
    const choose = dispatcherChooser(dispatcher)
    const guard = new NetworkGuard({ ...reach, closing: this.#closing.signal })
    const { gate, close } = resolveGate(
      gateOptions(others, { ...reach, ...(dispatcher && { dispatcher }) }),
      AGENT_OPTIONS,
      OPTIONS_OF_FETCH,
      'own',
    )
    registerPoliteDispatcher(this)
    this.gate = gate
    this.#closeGate = close
    const pages = new PageNetwork(guard, undici, gate, choose)
    this.#network = pages
    const gated = guardedInterceptor(gate, pages)(pages.dispatch)
    const redirecting = maxRedirections === 0 ? gated : interceptors.redirect({ maxRedirections })(gated)
    this.#dispatch = this.#network.begin(redirecting)
    // `compose` returns a proxy of this agent, which has no private fields.
    this.close = this.close.bind(this)
    this.destroy = this.destroy.bind(this)
  }

  /**
   * Also accepts requests of undici 6 and 7, such as requests of the built-in fetch of Node 22 and
   * 24.
   */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // `request` of undici 6 and 7 leaves the agent in the options, which undici 8 rejects.
    const { dispatcher } = options as { readonly dispatcher?: unknown }
    const isFromOlder = dispatcher instanceof PoliteAgent && dispatcher.gate === this.gate
    return this.#dispatch(isFromOlder ? withoutDispatcher(options) : options, wrapper.wrapHandler(handler))
  }

  /**
   * Closes the gate, which rejects the requests that wait; a gate that you passed stays open.
   * Resolves when the requests under way have ended.
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
    this.#closing.abort()
  }

  async #destroyAll(error: Error | null): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#closeGate(), this.#network.destroy(error)])
  }
}

function withoutDispatcher(options: Dispatcher.DispatchOptions): Dispatcher.DispatchOptions {
  const { dispatcher: _, ...others } = options as Dispatcher.DispatchOptions & { readonly dispatcher?: unknown }
  return others
}

function withCallback(done: Promise<void>, callback: (() => void) | undefined): Promise<void> | void {
  if (callback === undefined) return done
  done.then(callback, callback)
}

/** A static method that undici's types omit. It converts a handler of an older undici. */
const wrapper = Dispatcher1Wrapper as unknown as {
  wrapHandler(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler
}
