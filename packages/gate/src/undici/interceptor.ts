// The gate in front of an undici dispatcher: every request that is dispatched is allowed by robots.txt and waits its turn.
import { stringify } from 'node:querystring'
import { headerOf, OptionError } from '@politely/core'
import type { BlockedAddressError } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/option-checks'
import type { Dispatcher } from 'undici'
import { InvalidRequestError } from '../errors.ts'
import type { PoliteGate } from '../gate.ts'
import type { Permit } from '../permit.ts'
import { isRedirect } from '../redirect.ts'
import { assertOwnHost, originOf, targetOf } from '../target.ts'
import { fixedHeaders } from './dispatched-headers.ts'

/**
 * An interceptor for undici 8: `new Agent().compose(politeInterceptor(gate), interceptors.redirect({ maxRedirections: 5 }))`. The last one is
 * the outermost. What may make more requests of one (`redirect`, `retry`) comes after it, so that each of them is checked and waits;
 * what answers without one (`cache`) comes after it, too, and costs no turn. With `redirect` inside, the first request fails before it is
 * sent. CONNECT, which opens a tunnel and asks for no URL, passes through.
 *
 * The place among those under way is given back when the response ends: read the body, or `dump` it. A redirect gives it back with its headers.
 */
export function politeInterceptor(gate: PoliteGate): Dispatcher.DispatcherComposeInterceptor {
  return guardedInterceptor(gate, async () => undefined)
}

/**
 * The same, with a check that comes before robots.txt is asked for.
 * @param refusalOf Returns why a URL must not be connected to, if it must not.
 */
export function guardedInterceptor(gate: PoliteGate, refusalOf: RefusalOf): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    if (options.method === 'CONNECT') return dispatch(options, handler)
    if (typeof handler.onRequestStart !== 'function') {
      const how = 'give it new Dispatcher1Wrapper(dispatcher), or take politeAgent'
      throw new OptionError(
        'dispatcher',
        `the fetch of this Node speaks to dispatchers as undici 7 and older did; ${how}`,
      )
    }
    const gated = new GatedRequest(gate, dispatch, { ...options }, handler, refusalOf)
    void gated.run()
    return true
  }
}

type RefusalOf = (url: string, options: Dispatcher.DispatchOptions) => Promise<BlockedAddressError | undefined>

/** The options as they are sent, read once, and the URL that they ask for. Path and origin are rewritten to those that are judged. */
function judgedOptions(
  given: Dispatcher.DispatchOptions,
  userAgent: string,
): { readonly url: string; readonly options: Dispatcher.DispatchOptions } {
  const { query, ...others } = given
  const target = targetOf(originOf(others.origin), withQuery(others.path, query))
  const { headers, hosts } = fixedHeaders(others.headers, userAgent)
  assertOwnHost(target.url, hosts, target.origin)
  return { url: target.url, options: { ...others, origin: target.origin, path: target.path, headers } }
}

/** As undici makes one path of both when it sends them. */
function withQuery(path: unknown, query: Dispatcher.DispatchOptions['query']): unknown {
  if (!query || typeof path !== 'string') return path
  if (/[?#]/.test(path))
    throw new InvalidRequestError(
      `path ${describeValue(path)} has a query or fragment beside the option query; write one of them`,
    )
  const text = stringify(query)
  return text === '' ? path : `${path}?${text}`
}

type RawHeaders = NonNullable<Dispatcher.DispatchController['rawHeaders']> | null

const WRONG_ORDER =
  'redirect is inside of politeInterceptor, so that hops would not be checked; write .compose(politeInterceptor(gate), interceptors.redirect(…))'

/**
 * One dispatched request. Its handler is started at once, before the turn has come, with this as the controller: so an abort while it
 * waits is heard, whoever it comes from.
 */
class GatedRequest implements Dispatcher.DispatchController, Dispatcher.DispatchHandler {
  readonly #gate: PoliteGate
  readonly #dispatch: Dispatcher.Dispatch
  readonly #options: Dispatcher.DispatchOptions
  readonly #handler: Dispatcher.DispatchHandler
  readonly #refusalOf: RefusalOf
  readonly #waiting = new AbortController()
  /** Undici's own, as soon as the request is on its way. */
  #inner: Dispatcher.DispatchController | undefined
  #pass: Permit | undefined
  #paused = false
  /** Until a redirect has ended: `drain` is to wait for the next hop. */
  #release: (() => void) | undefined
  /** Of a redirect whose body has not ended. */
  #redirectEnded: (() => void) | undefined

  constructor(
    gate: PoliteGate,
    dispatch: Dispatcher.Dispatch,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    refusalOf: RefusalOf,
  ) {
    this.#refusalOf = refusalOf
    this.#gate = gate
    this.#dispatch = dispatch
    this.#options = options
    this.#handler = handler
  }

  async run(): Promise<void> {
    const { signal } = this.#waiting
    try {
      this.#handler.onRequestStart?.(this, null)
      const { url, options } = judgedOptions(this.#options, this.#gate.robots.userAgent)
      // The client's own request for robots.txt, through the global dispatcher, needs no verdict and no turn.
      if (this.#gate.robots.isOwnRequest(url)) return void this.#dispatch(options, this)
      const refusal = await this.#refusalOf(url, this.#options)
      if (refusal !== undefined) this.#gate.refuse(url, refusal)
      this.#pass = await this.#gate.enter(url, { signal })
      signal.throwIfAborted()
      this.#pass.run(() => this.#dispatch(options, this))
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error), { cause: error }))
    }
  }

  // The controller, for whoever made the request.

  get aborted(): boolean {
    return this.#inner?.aborted ?? this.#waiting.signal.aborted
  }

  get paused(): boolean {
    return this.#inner?.paused ?? this.#paused
  }

  get reason(): Error | null {
    return this.#inner?.reason ?? (this.#waiting.signal.reason as Error | undefined) ?? null
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
    this.#waiting.abort(reason)
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
    // Undici's own controller: the request has a connection, whose events may run in this async context for as long as it lives.
    if (!(controller instanceof GatedRequest)) this.#pass?.sent()
    if (this.#waiting.signal.aborted) controller.abort(this.#waiting.signal.reason)
    else if (this.#paused) controller.pause()
  }

  onRequestUpgrade(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    const [, status, headers] = args
    this.#handler.onRequestUpgrade?.(...args)
    this.#pass?.release({ status, headers }) // what is said on the socket from now on is no request
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    const [, status, headers] = args
    if (status >= 200) this.#pass?.report({ status, headers })
    // Who follows a redirect may not read its body, and a site may never end it: its next hop would wait for the place for ever.
    if (isRedirect(status, headerOf(headers, 'location') ?? null)) {
      this.#release = this.#gate.hold()
      this.#pass?.release()
      if (this.#pass !== undefined) {
        this.#redirectEnded = this.#gate.openRedirect(this.#pass.url, (error) => this.#inner?.abort(error))
      }
    }
    this.#handler.onResponseStart?.(...args)
  }

  onResponseData(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseData']>>): void {
    this.#handler.onResponseData?.(...args)
    if (args[0].paused) this.#letDrain() // nobody reads on, so its end may never come
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    try {
      this.#handler.onResponseEnd?.(...args) // a redirect's next hop may come in here: `drain` waits for it
    } finally {
      this.#over()
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
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
      this.#over()
    } finally {
      this.#handler.onResponseError?.(this.#inner ?? this, error)
    }
  }

  #over(): void {
    this.#pass?.release()
    this.#redirectEnded?.()
    this.#letDrain()
  }

  #letDrain(): void {
    this.#release?.()
    this.#release = undefined
  }
}

/** Undici's redirect handler tells those outside of it where it has been. */
function hasRedirectInside(context: unknown): boolean {
  return typeof context === 'object' && context !== null && 'history' in context
}
