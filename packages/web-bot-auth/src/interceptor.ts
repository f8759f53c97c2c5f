// signedInterceptor: signs the requests of an undici dispatcher that enters no gate.
//
// A signature may take a while. The handler is started before that, with a controller of ours, so
// that the caller can abort the request meanwhile. (undici's cache interceptor does the same.)
import { OptionError } from '@politely/core'
import { headerOf } from '@politely/core/internal'
import type { RequestSigner, SignatureHeaders } from '@politely/fetcher'
import { challengeOf, checkedSigner, withHeaders } from '@politely/fetcher/internal'
import { dispatchedTarget, hasRedirectInside } from '@politely/gate/internal'

interface Options {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly query?: unknown
  readonly method: string
  readonly headers?: unknown
  readonly maxRedirections?: number | null | undefined
}

type Headers = Parameters<typeof headerOf>[0]

interface Controller {
  abort(reason: Error): void
  pause(): void
  resume(): void
}

/** The methods of a handler that this file calls. */
interface Handler {
  onRequestStart(controller: object, context: unknown): void
  onResponseStart?(controller: object, status: number, headers: Headers, ...rest: unknown[]): void
  onResponseError?(controller: object, error: unknown): void
}

type Dispatch = (options: Options, handler: Handler) => boolean

const REDIRECT_INSIDE =
  'redirect comes before signedInterceptor, so a redirect would get the headers of another request; write .compose(signedInterceptor(signer), interceptors.redirect(…))'

/**
 * Returns an interceptor that signs each request over https. Put `redirect` and `retry` after it, so
 * that each request has its own signature: with `redirect` before it, requests fail before they are
 * sent. `politeAgent` and `politeInterceptor` need no interceptor: they sign if their RobotsClient
 * has the option `sign`. A response that asks for a signature is passed on, and the next requests
 * are signed. Experimental.
 * @throws {OptionError} if `signer` is not a signer. With a request of undici 6, the returned
 * interceptor throws one, too; and an `InvalidRequestError` for a request whose URL is unknown: a
 * Client of undici 7 does not tell its origin.
 */
export function signedInterceptor(
  signer: RequestSigner,
): <D extends (options: never, handler: never) => boolean>(dispatch: D) => D {
  const checked = checkedSigner(signer)
  if (checked === undefined)
    throw new OptionError('signer', 'is missing; write signedInterceptor(signer({ key, agent, profile }))')
  return ((dispatch: Dispatch, ownOrigin?: string | null) => (options: Options, handler: Handler) => {
    if (options.method === 'CONNECT') return dispatch(options, handler)
    if (typeof handler.onRequestStart !== 'function')
      throw new OptionError(
        'dispatcher',
        'the request comes from undici 6, and signedInterceptor needs undici 7 or 8; write signed(fetch, signer), or use a newer undici',
      )
    if ((options.maxRedirections ?? 0) > 0) throw new OptionError('maxRedirections', REDIRECT_INSIDE)
    const { url, origin, path } = dispatchedTarget(options, ownOrigin ?? undefined)
    const send = (signature: SignatureHeaders | undefined, pending?: PendingRequest) => {
      const watched = watching(handler, pending, (status, headers) => {
        const wish = challengeOf(options.method, status, () => headerOf(headers, 'accept-signature'))
        if (wish !== undefined) checked.challenged(url, wish, signature)
      })
      const headers = signature === undefined ? options.headers : withHeaders(options.headers, signature)
      return dispatch({ ...options, origin, path, query: undefined, headers }, watched)
    }
    const signing = checked.sign({ method: options.method, url })
    if (signing === undefined || typeof (signing as PromiseLike<unknown>).then !== 'function')
      return send(signing as SignatureHeaders | undefined)
    const pending = new PendingRequest(handler)
    handler.onRequestStart(pending, null)
    Promise.resolve(signing)
      .then((signature) => pending.aborted || send(signature, pending))
      .catch((error) => pending.abort(error))
    return true
  }) as unknown as ReturnType<typeof signedInterceptor>
}

/**
 * The controller of a request while it is signed. Later, it passes calls on to undici's controller.
 */
class PendingRequest implements Controller {
  readonly #handler: Handler
  #inner: (Controller & { readonly rawHeaders?: unknown; readonly rawTrailers?: unknown }) | undefined
  aborted = false
  paused = false
  reason: Error | null = null

  constructor(handler: Handler) {
    this.#handler = handler
  }

  get rawHeaders(): unknown {
    return this.#inner?.rawHeaders ?? null
  }

  get rawTrailers(): unknown {
    return this.#inner?.rawTrailers ?? null
  }

  sendBy(inner: Controller): void {
    this.#inner = inner
    if (this.paused) inner.pause()
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    if (this.#inner === undefined) this.#handler.onResponseError?.(this, reason)
    else this.#inner.abort(reason)
  }

  pause(): void {
    this.paused = true
    this.#inner?.pause()
  }

  resume(): void {
    this.paused = false
    this.#inner?.resume()
  }
}

/**
 * Returns the same handler, which also calls `onHead` when a response begins. A handler may have
 * private fields.
 * @param pending Set if the handler was started already.
 */
function watching(
  handler: Handler,
  pending: PendingRequest | undefined,
  onHead: (status: number, headers: Headers) => void,
): Handler {
  const own: Partial<Handler> = {
    onRequestStart(controller, context) {
      if (hasRedirectInside(context))
        return (controller as Controller).abort(new OptionError('compose', REDIRECT_INSIDE))
      if (pending === undefined) handler.onRequestStart(controller, context)
      else pending.sendBy(controller as Controller)
    },
    onResponseStart(controller, status, headers, ...rest) {
      onHead(status, headers)
      handler.onResponseStart?.(controller, status, headers, ...rest)
    },
  }
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = own[name as keyof Handler] ?? Reflect.get(target, name, target)
      return typeof value === 'function' && !(name in own) ? value.bind(target) : value
    },
  })
}
