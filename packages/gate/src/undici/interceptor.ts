// politeInterceptor: puts a gate in front of an undici dispatcher, so that every dispatched request
// enters it.
//
// The handler starts at once, with the interceptor's own controller, and the request is dispatched
// when it may start. So a signal, fetch or an emitter can abort a waiting request. undici's redirect
// interceptor passes `history` to every handler outside of it, which shows that it was composed on
// the wrong side.
import { isIP } from 'node:net'
import { OptionError } from '@politely/core'
import { headerOf } from '@politely/core/engine'
import type { BlockedAddressError, RequestSigner, SignatureHeaders } from '@politely/fetcher'
import { challengeOf, clientPort, describeValue, redirectChain, withHeaders } from '@politely/fetcher/internal'
import type { Dispatcher } from 'undici'
import { versionError } from '../adapter/dispatcher-version.ts'
import { assertGate } from '../adapter/resolve-gate.ts'
import { signatureFor } from '../adapter/signature.ts'
import { assertOwnHost, dispatchedTarget } from '../adapter/target.ts'
import { gatePort, type PoliteGate } from '../gate.ts'
import type { SourceOptions } from '../options/gate-options.ts'
import type { Permit } from '../permit/permit.ts'
import { failureOf } from '../permit/request-report.ts'
import { endNesting } from '../permit/sending.ts'
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
  return guardedInterceptor(gate, () => undefined)
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

/**
 * Returns the same interceptor, with another check before the check of robots.txt.
 * @param refusalOf Returns why a URL must not be connected to; undefined if it may be. Returns a
 * promise if that takes a DNS lookup.
 */
export function guardedInterceptor(gate: PoliteGate, refusalOf: RefusalOf): Dispatcher.DispatcherComposeInterceptor {
  warnOfOtherFetch()
  // undici's types omit the second argument: the origin of a Client or a Pool, which sends each request there.
  return (dispatch, ownOrigin?: string | null) => (options, handler) => {
    if (options.method === 'CONNECT') return dispatch(options, handler)
    if (typeof handler.onRequestStart !== 'function') {
      throw new OptionError(
        'dispatcher',
        'the request comes from undici 6 or 7, or from the built-in fetch of Node 22 or 24, and politeInterceptor needs undici 8; write new Dispatcher1Wrapper(new Agent().compose(politeInterceptor(gate))) with the classes of undici 8, or use politeAgent',
      )
    }
    const gated = new GatedRequest(gate, dispatch, { ...options }, handler, refusalOf, ownOrigin ?? undefined)
    void gated.run()
    return true
  }
}

type RefusalOf = (
  url: string,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
) => Promise<BlockedAddressError | undefined> | undefined

/**
 * The option `redirectedFrom` of a dispatched request: the URLs that led to its URL, as for `enter`
 * of a gate. undici passes options on that it does not know.
 */
export function sourcesOf(options: Dispatcher.DispatchOptions): readonly string[] {
  return redirectChain((options as SourceOptions).redirectedFrom)
}

/**
 * Reads the options once. Returns the URL to check, and options that send a request for exactly
 * this URL.
 */
function checkedOptions(
  given: Dispatcher.DispatchOptions,
  gate: PoliteGate,
  ownOrigin: string | undefined,
): { readonly url: string; readonly options: Dispatcher.DispatchOptions; readonly redirectedFrom: readonly string[] } {
  const redirectedFrom = sourcesOf(given)
  const { url, origin, path } = dispatchedTarget(given, ownOrigin)
  const { headers, hosts } = fixedHeaders(given.headers, gate)
  try {
    assertOwnHost(url, hosts, origin)
  } catch (error) {
    throw isFromDns(given, url) ? new InvalidRequestError(`${(error as Error).message}. ${DNS_ORDER}`) : error
  }
  const options = { ...given, origin, path, headers }
  if ('query' in options) delete options.query // `path` has it
  return { url, options, redirectedFrom }
}

type EnterCall = SourceOptions & { readonly signal: AbortSignal }

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
class GatedRequest implements Dispatcher.DispatchController, Dispatcher.DispatchHandler {
  readonly #gate: PoliteGate
  readonly #dispatch: Dispatcher.Dispatch
  readonly #options: Dispatcher.DispatchOptions
  readonly #handler: Dispatcher.DispatchHandler
  readonly #refusalOf: RefusalOf
  readonly #ownOrigin: string | undefined
  /** Aborted when the caller aborts the request. */
  readonly #aborting = new AbortController()
  /** Undici's controller, once the request has been dispatched. */
  #inner: Dispatcher.DispatchController | undefined
  #permit: Permit | undefined
  #paused = false
  /**
   * Set while `drain` has to wait for the body of a redirect, at whose end the next hop enters.
   * Calling it ends the wait.
   */
  #endHold: (() => void) | undefined
  /** Set while the body of a redirect has not ended. To be called when it ends. */
  #redirectEnded: (() => void) | undefined
  /** The option `sign` of the RobotsClient. */
  readonly #signer: RequestSigner | undefined
  #signature: SignatureHeaders | undefined
  /** `now`: the site has asked for a signature, and the request is sent again. `done`: it was. */
  #repeat: 'not' | 'now' | 'done' = 'not'

  constructor(
    gate: PoliteGate,
    dispatch: Dispatcher.Dispatch,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    refusalOf: RefusalOf,
    ownOrigin: string | undefined,
  ) {
    this.#refusalOf = refusalOf
    this.#ownOrigin = ownOrigin
    this.#gate = gate
    this.#signer = clientPort(gate.robots).signer()
    this.#dispatch = dispatch
    this.#options = options
    this.#handler = handler
  }

  async run(): Promise<void> {
    const { signal } = this.#aborting
    try {
      if (this.#repeat === 'not') this.#startHandler()
      const { url, options, redirectedFrom } = checkedOptions(this.#options, this.#gate, this.#ownOrigin)
      // Undici checks this for its own handlers. A GatedRequest always has the method.
      if (options.upgrade && typeof this.#handler.onRequestUpgrade !== 'function')
        throw new InvalidRequestError(
          `\`upgrade\` is ${describeValue(options.upgrade)}, and the handler has no method onRequestUpgrade; leave it out, or write upgrade(url, { protocol })`,
        )
      // The RobotsClient's own request for robots.txt, through the global dispatcher, needs no
      // permit.
      if (clientPort(this.#gate.robots).isOwnRequest(url)) return void this.#dispatch(options, this)
      this.#permit = await this.#enter(url, { signal, redirectedFrom })
      signal.throwIfAborted()
      const sent = this.#signer === undefined ? options : await this.#signed(this.#signer, url, options)
      this.#permit.run(() => this.#dispatch(sent, this))
    } catch (error) {
      this.#fail(versionError(error) ?? asError(error))
    }
  }

  async #signed(
    signer: RequestSigner,
    url: string,
    options: Dispatcher.DispatchOptions,
  ): Promise<Dispatcher.DispatchOptions> {
    try {
      const { robots } = gatePort(this.#gate)
      // As undici itself waits for headers: no limit for 0.
      const timeoutMs = (options.headersTimeout ?? HEADERS_TIMEOUT_MS) || undefined
      const bounds = { robots, signal: this.#aborting.signal, timeoutMs, option: 'headersTimeout' }
      this.#signature = await signatureFor(signer, { method: options.method, url }, bounds)
      bounds.signal.throwIfAborted()
    } catch (error) {
      this.#permit?.release() // the site has no part in it
      throw error
    }
    return this.#signature === undefined
      ? options
      : {
          ...options,
          headers: withHeaders(options.headers, this.#signature) as NonNullable<Dispatcher.DispatchOptions['headers']>,
        }
  }

  /** Returns whether a response asks for a signed request, which is then sent. */
  #isChallenge(status: number, headers: Parameters<typeof headerOf>[0]): boolean {
    if (this.#signer === undefined || this.#repeat !== 'not' || this.#permit === undefined) return false
    const wish = challengeOf(this.#options.method, status, headerOf(headers, 'accept-signature'))
    return wish !== undefined && this.#signer.challenged(this.#permit.url, wish, this.#signature)
  }

  #startHandler(): void {
    isStartingHandler = true
    try {
      this.#handler.onRequestStart?.(this, null)
    } finally {
      isStartingHandler = false
    }
  }

  #enter(url: string, call: EnterCall): Promise<Permit> {
    const refusal = this.#refusalOf(url, this.#options, call.signal)
    return refusal === undefined ? this.#gate.enter(url, call) : this.#enterUnless(refusal, url, call)
  }

  async #enterUnless(
    pendingRefusal: Promise<BlockedAddressError | undefined>,
    url: string,
    call: EnterCall,
  ): Promise<Permit> {
    const { activity, robots } = gatePort(this.#gate)
    const endHold = activity.hold() // `drain` must not resolve between two hops
    try {
      const refusal = await pendingRefusal
      if (refusal !== undefined) robots.refuse(url, refusal)
      return await this.#gate.enter(url, call)
    } finally {
      endHold()
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
    if (!isStartingHandler) {
      if (this.#permit !== undefined) endNesting(this.#permit)
      this.#permit?.sent()
    }
    if (this.#aborting.signal.aborted) controller.abort(this.#aborting.signal.reason)
    else if (this.#paused) controller.pause()
  }

  onRequestUpgrade(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    const [, status, headers] = args
    this.#handler.onRequestUpgrade?.(...args)
    this.#permit?.release({ status, headers }) // the upgraded socket carries no more requests
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    const [controller, status, headers] = args
    if (status >= 200) this.#permit?.report({ status, headers })
    if (this.#isChallenge(status, headers)) {
      this.#repeat = 'now'
      controller.abort(NOT_NEEDED) // a site may never end the body
      return
    }
    // The client may not read the body of a redirect, and a site may never end it. The next hop
    // must not wait for that.
    if (isRedirect(status, headerOf(headers, 'location') ?? null)) {
      this.#holdForNextHop()
      this.#permit?.release()
      if (this.#permit !== undefined) {
        const { openRedirects } = gatePort(this.#gate)
        this.#redirectEnded = openRedirects.add(this.#permit.url, (error) => this.#inner?.abort(error))
      }
    }
    this.#handler.onResponseStart?.(...args)
  }

  onResponseData(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseData']>>): void {
    this.#handler.onResponseData?.(...args)
    if (args[0].paused) this.#stopHolding() // the caller has stopped reading, so the end may never come
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    try {
      this.#handler.onResponseEnd?.(...args) // the next hop of a redirect may enter in this call, and `drain` waits for it
    } finally {
      this.#end()
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#repeat === 'now' && error === NOT_NEEDED) {
      this.#repeat = 'done'
      this.#inner = undefined
      this.#end()
      void this.run()
    } else this.#fail(error)
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

  #fail(error: Error): void {
    try {
      this.#permit?.release(failureOf(this.#aborting.signal, error)) // no effect if a response was reported
      this.#end()
    } finally {
      this.#handler.onResponseError?.(this.#inner ?? this, error)
    }
  }

  #end(): void {
    this.#permit?.release()
    this.#redirectEnded?.()
    this.#stopHolding()
  }

  /**
   * Makes `drain` wait for the next hop. `interceptors.redirect` dispatches it when the body ends.
   * `fetch` sets `maxRedirections: 0`, which switches that interceptor off, and dispatches the next
   * hop in this turn of the event loop. It may leave the body unread.
   */
  #holdForNextHop(): void {
    const endHold = gatePort(this.#gate).activity.hold()
    const { maxRedirections } = this.#options as { readonly maxRedirections?: number }
    if (maxRedirections === 0) setImmediate(endHold)
    else this.#endHold = endHold
  }

  #stopHolding(): void {
    this.#endHold?.()
    this.#endHold = undefined
  }
}

/** undici's default. */
const HEADERS_TIMEOUT_MS = 300_000

/** The reason for which a response is aborted that asks for a signed request. */
const NOT_NEEDED = new Error('the request is sent again, signed')

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error), { cause: error })
}
