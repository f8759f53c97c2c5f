// politeInterceptor: puts a gate in front of an undici dispatcher, so that every dispatched request
// enters it.
//
// The handler starts at once, with the interceptor's own controller, and the request is dispatched
// when it may start. So a signal, fetch or an emitter can abort a waiting request. undici's redirect
// interceptor passes `history` to every handler outside of it, which shows that it was composed on
// the wrong side.
import { isIP } from 'node:net'
import { OptionError } from '@politely/core'
import { headerOf } from '@politely/core/internal'
import type { BlockedAddressError } from '@politely/fetcher'
import { describeValue, redirectChain, withHeaders } from '@politely/fetcher/internal'
import type { Dispatcher } from 'undici'
import { versionError } from '../adapter/dispatcher-version.ts'
import { Exchange, type Sender, senderOf } from '../adapter/exchange.ts'
import { assertGate } from '../adapter/resolve-gate.ts'
import { assertOwnHost, dispatchedTarget } from '../adapter/target.ts'
import type { PoliteGate } from '../gate.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import { hasRedirectInside, isRedirect } from '../redirects/redirect.ts'
import { InvalidRequestError } from '../report/errors.ts'
import { fixedHeaders } from './dispatched-headers.ts'

/**
 * Returns an interceptor for undici 8:
 * `new Agent().compose(politeInterceptor(gate), interceptors.redirect({ maxRedirections: 5 }))`.
 * The last interceptor is the outermost.
 *
 * Put interceptors that may make several requests from one (`redirect`, `retry`) after this one, so
 * that each request enters the gate. Put `cache` after it too, so that a cached response needs no
 * permit. If `redirect` comes before this interceptor, the first request fails before it is sent.
 * Put `dns` before it. A Client or a Pool sends only requests to its own origin.
 * CONNECT requests open a tunnel and skip the gate.
 *
 * The permit is released when the response ends: read the body, or `dump` it. The permit of a
 * redirect is released when its headers arrive. Requests are signed if the gate's RobotsClient has
 * the option `sign`.
 * @throws {OptionError} if `gate` is not a gate. With a request of undici 6 or 7, the returned
 * interceptor throws one, too.
 */
export function politeInterceptor(gate: PoliteGate): Dispatcher.DispatcherComposeInterceptor {
  assertGate(gate)
  return guardedInterceptor(gate, { refusalOf: () => undefined, ended: () => undefined })
}

let hasWarned = false

/**
 * Emits a process warning on Deno, once for the process: its built-in fetch ignores the option
 * `dispatcher` and the global dispatcher, so the gate would see none of its requests.
 */
function warnOfOtherFetch(): void {
  if (hasWarned || process.versions.deno === undefined) return
  hasWarned = true
  process.emitWarning(
    'the built-in fetch of Deno ignores dispatchers of undici, so its requests would enter no gate; write politely(fetch, { userAgent }) of @politely/gate, or request and fetch of undici',
    { type: 'PolitelyWarning', code: 'POLITELY_DISPATCHER_IGNORED' },
  )
}

/** Returns the same interceptor, with another check before the check of robots.txt. */
export function guardedInterceptor(gate: PoliteGate, network: GuardedNetwork): Dispatcher.DispatcherComposeInterceptor {
  warnOfOtherFetch()
  const sender = senderOf(gate)
  // undici's types omit the second argument: the origin of a Client or a Pool, which sends each request there.
  return (dispatch, ownOrigin?: string | null) => {
    const link: Link = { sender, dispatch, network, ownOrigin: ownOrigin ?? undefined }
    return (options, handler) => {
      if (options.method === 'CONNECT') return dispatch(options, handler)
      if (typeof handler.onRequestStart !== 'function') {
        throw new OptionError(
          'dispatcher',
          'the request comes from undici 6 or 7, or from the built-in fetch of Node 22 or 24, and politeInterceptor needs undici 8; write new Dispatcher1Wrapper(new Agent().compose(politeInterceptor(gate))) with the classes of undici 8, or use politeAgent',
        )
      }
      new GatedRequest(link, { ...options }, handler).start()
      return true
    }
  }
}

/** What the requests through one composed interceptor share. */
interface Link {
  readonly sender: Sender
  readonly dispatch: Dispatcher.Dispatch
  readonly network: GuardedNetwork
  /** The origin of a Client or a Pool. */
  readonly ownOrigin: string | undefined
}

/** What sends the requests of an interceptor. */
export interface GuardedNetwork {
  /**
   * Returns why a URL must not be connected to; undefined if it may be. Returns a promise if that
   * takes a DNS lookup.
   */
  readonly refusalOf: (
    url: string,
    options: Dispatcher.DispatchOptions,
    signal: AbortSignal,
  ) => Promise<BlockedAddressError | undefined> | undefined
  /** Called when a dispatched request has ended. */
  readonly ended: (handler: GuardedHandler) => void
}

/** The handler of a dispatched request. */
export interface GuardedHandler extends Dispatcher.DispatchHandler {
  /** Where the network has dispatched the request to, until it has ended. Only the network sets it. */
  host: object | undefined
}

/**
 * The option `redirectedFrom` of a dispatched request: the URLs that led to its URL, as for `enter`
 * of a gate. undici passes options on that it does not know.
 */
export function dispatchedSources(options: Dispatcher.DispatchOptions): readonly string[] {
  return redirectChain((options as SourceOptions).redirectedFrom)
}

/**
 * Reads the options once. Returns the URL to check, and options that send a request for exactly
 * this URL.
 */
function checkedOptions(
  given: Dispatcher.DispatchOptions,
  { sender, ownOrigin }: Link,
): { readonly url: string; readonly options: Dispatcher.DispatchOptions; readonly redirectedFrom: readonly string[] } {
  const redirectedFrom = dispatchedSources(given)
  const { url, origin, path } = dispatchedTarget(given, ownOrigin)
  const { headers, hosts } = fixedHeaders(given.headers, sender.gate)
  try {
    if (hosts.length > 0) assertOwnHost(url, hosts, origin)
  } catch (error) {
    throw isFromDns(given, url) ? new InvalidRequestError(`${(error as Error).message}. ${DNS_ORDER}`) : error
  }
  const options = { ...given, origin, path, headers }
  if ('query' in options) delete options.query // `path` has it
  return { url, options, redirectedFrom }
}

type RawHeaders = NonNullable<Dispatcher.DispatchController['rawHeaders']> | null

const WRONG_ORDER =
  'redirect comes before politeInterceptor, so redirect hops would not be checked; write .compose(politeInterceptor(gate), interceptors.redirect(…))'

const DNS_ORDER =
  'interceptors.dns has replaced the name of the site by its address; it must come before politeInterceptor: write .compose(interceptors.dns(), politeInterceptor(gate)). With politeAgent, leave it out'

/** Whether undici's `interceptors.dns` has replaced the host of a request by an address. */
function isFromDns(
  { servername }: Dispatcher.DispatchOptions & { readonly servername?: unknown },
  url: string,
): boolean {
  return servername !== undefined && isIP(new URL(url).hostname.replace(/[[\]]/g, '')) !== 0
}

/** True while a GatedRequest starts the caller's handler: that request has no connection yet. */
let isStartingHandler = false

/**
 * One dispatched request. It is the handler that undici gets, and the controller that the caller's
 * handler gets. The caller's handler is started before the request enters the gate, so that the
 * caller can abort the request while it waits.
 */
class GatedRequest implements Dispatcher.DispatchController, GuardedHandler {
  host: object | undefined
  readonly #link: Link
  readonly #handler: Dispatcher.DispatchHandler
  /** Aborted when the caller aborts the request. */
  readonly #aborting = new AbortController()
  #options: Dispatcher.DispatchOptions
  /** Undefined until the options are checked, and for a request that skips the gate. */
  #exchange: Exchange | undefined
  /** Undici's controller, once the request has been dispatched. */
  #inner: Dispatcher.DispatchController | undefined
  #paused = false
  /** Whether the response that arrives is aborted, because the request is sent again, signed. */
  #isRepeating = false

  constructor(link: Link, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#link = link
    this.#options = options
    this.#handler = handler
  }

  start(): void {
    const { sender, dispatch } = this.#link
    try {
      this.#startHandler()
      const { url, options, redirectedFrom } = checkedOptions(this.#options, this.#link)
      // Undici checks this for its own handlers. A GatedRequest always has the method.
      if (options.upgrade && typeof this.#handler.onRequestUpgrade !== 'function')
        throw new InvalidRequestError(
          `\`upgrade\` is ${describeValue(options.upgrade)}, and the handler has no method onRequestUpgrade; leave it out, or write upgrade(url, { protocol })`,
        )
      // The RobotsClient's own request for robots.txt, through the global dispatcher, needs no
      // permit.
      if (sender.client.isOwnRequest(url)) return void dispatch(options, this)
      this.#options = options
      this.#exchange = new Exchange({ url, signal: this.#aborting.signal, redirectedFrom }, sender)
      void this.#send(this.#exchange)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Makes the first try; or the second one, if the site has asked for a signature. */
  async #send(exchange: Exchange): Promise<void> {
    const { sender, dispatch, network } = this.#link
    const { signal } = this.#aborting
    try {
      const refusal = network.refusalOf(exchange.url, this.#options, signal)
      await (refusal === undefined ? exchange.enter() : this.#enterUnless(refusal, exchange))
      signal.throwIfAborted()
      const options = sender.signer === undefined ? this.#options : await this.#signed(exchange)
      exchange.run(() => dispatch(options, this))
    } catch (error) {
      // The gate may refuse at once. A handler that then dispatches its next URL must not do so inside
      // of this dispatch: the stack would grow with each refused URL.
      await undefined
      this.#fail(error)
    }
  }

  async #enterUnless(pendingRefusal: Promise<BlockedAddressError | undefined>, exchange: Exchange): Promise<void> {
    const { activity, robots } = this.#link.sender.port
    const endHold = activity.hold() // `drain` must not resolve between two hops
    try {
      const refusal = await pendingRefusal
      if (refusal !== undefined) robots.refuse(exchange.url, refusal)
      await exchange.enter()
    } finally {
      endHold()
    }
  }

  async #signed(exchange: Exchange): Promise<Dispatcher.DispatchOptions> {
    const { method, headers, headersTimeout } = this.#options
    // As undici itself waits for headers: no limit for 0, and its default for null.
    const signature = await exchange.sign(method, 'headersTimeout', (headersTimeout ?? HEADERS_TIMEOUT_MS) || undefined)
    this.#aborting.signal.throwIfAborted()
    return signature === undefined
      ? this.#options
      : { ...this.#options, headers: withHeaders(headers, signature) as NonNullable<typeof headers> }
  }

  #startHandler(): void {
    isStartingHandler = true
    try {
      this.#handler.onRequestStart?.(this, null)
    } finally {
      isStartingHandler = false
    }
  }

  // The controller, for the caller.

  get aborted(): boolean {
    return this.#inner?.aborted ?? this.#aborting.signal.aborted
  }

  get paused(): boolean {
    return this.#inner?.paused ?? this.#paused
  }

  get reason(): Error | null {
    return this.#inner?.reason ?? (this.#aborting.signal.reason as Error | undefined) ?? null
  }

  get rawHeaders(): RawHeaders {
    return this.#inner?.rawHeaders ?? null
  }

  set rawHeaders(headers: RawHeaders) {
    if (this.#inner) this.#inner.rawHeaders = headers
  }

  get rawTrailers(): RawHeaders {
    return this.#inner?.rawTrailers ?? null
  }

  set rawTrailers(trailers: RawHeaders) {
    if (this.#inner) this.#inner.rawTrailers = trailers
  }

  abort(reason: Error): void {
    this.#aborting.abort(reason)
    this.#inner?.abort(reason)
  }

  pause(): void {
    this.#paused = true
    this.#inner?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#inner?.resume()
  }

  // The handler, for undici.

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    if (hasRedirectInside(context)) {
      controller.abort(new OptionError('compose', WRONG_ORDER))
      return
    }
    this.#inner = controller
    // Undici makes this call when the request has a connection. Later events of the connection may
    // run in this async context. A GatedRequest inside of this one makes this call before it enters
    // the gate.
    if (!isStartingHandler) this.#exchange?.connected()
    if (this.#aborting.signal.aborted) controller.abort(this.#aborting.signal.reason)
    else if (this.#paused) controller.pause()
  }

  onRequestUpgrade(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    const [, status, headers] = args
    this.#link.network.ended(this)
    this.#handler.onRequestUpgrade?.(...args)
    this.#exchange?.end({ status, headers }) // the upgraded socket carries no more requests
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    const [controller, status, headers] = args
    const response = { status, headers }
    if (status >= 200) this.#exchange?.responded(response)
    if (this.#exchange?.isChallenge(this.#options.method, response)) {
      this.#isRepeating = true
      controller.abort(NOT_NEEDED) // a site may never end the body
      return
    }
    if (isRedirect(status, headerOf(headers, 'location') ?? null)) {
      // `interceptors.redirect` dispatches the next hop when the body ends. `fetch` sets
      // `maxRedirections: 0`, which switches that interceptor off, and dispatches the next hop in
      // this turn of the event loop. It may leave the body unread.
      const { maxRedirections } = this.#options as { readonly maxRedirections?: number }
      this.#exchange?.redirected(maxRedirections === 0 ? 'turn' : 'body', (error) => this.#inner?.abort(error))
    }
    this.#handler.onResponseStart?.(...args)
  }

  onResponseData(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseData']>>): void {
    this.#handler.onResponseData?.(...args)
    if (args[0].paused) this.#exchange?.stopHolding() // the caller has stopped reading, so the end may never come
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#link.network.ended(this)
    try {
      this.#handler.onResponseEnd?.(...args) // the next hop of a redirect may enter in this call, and `drain` waits for it
    } finally {
      this.#exchange?.end()
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // Another interceptor may have aborted the response for its own second try.
    if (!this.#isRepeating || error !== NOT_NEEDED || this.#exchange === undefined) this.#fail(error)
    else {
      this.#isRepeating = false
      this.#inner = undefined
      this.#link.network.ended(this)
      this.#exchange.end()
      void this.#send(this.#exchange)
    }
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onBodySent(chunk: Buffer): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  #fail(thrown: unknown): void {
    const error = versionError(thrown) ?? asError(thrown)
    this.#link.network.ended(this)
    try {
      this.#exchange?.fail(error)
    } finally {
      this.#handler.onResponseError?.(this.#inner ?? this, error)
    }
  }
}

/** undici's default. */
const HEADERS_TIMEOUT_MS = 300_000

/** The reason for which a response is aborted that asks for a signed request. */
const NOT_NEEDED = new Error('the request is sent again, signed')

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error })
}
