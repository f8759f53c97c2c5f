// The undici dispatcher of a fake web. It serves requests of undici 6, 7 and 8, and of Node's fetch
// after `setGlobalDispatcher`.
import { STATUS_CODES } from 'node:http'
import { stringify } from 'node:querystring'
import { Dispatcher } from 'undici'
import type { Respond } from './fake-fetch.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

export class FakeDispatcher extends Dispatcher {
  readonly #respond: Respond

  constructor(respond: Respond) {
    super()
    this.#respond = respond
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const exchange = new Exchange(typeof handler.onRequestStart === 'function' ? handler : new OldHandler(handler))
    void exchange.run(() => this.#respond(requestOf(options)))
    return true
  }

  /** Closes nothing, since the dispatcher opens no connections. It can be used again. */
  override close(callback?: () => void): Promise<void> {
    callback?.()
    return Promise.resolve()
  }

  override destroy(...args: unknown[]): Promise<void> {
    return this.close(args.find((arg) => typeof arg === 'function') as (() => void) | undefined)
  }
}

/** One dispatched request and its response. */
class Exchange implements Controller {
  readonly #handler: Handler
  #resumed = Promise.withResolvers<void>()
  paused = false
  aborted = false
  reason: Error | null = null
  rawHeaders: Buffer[] = []
  readonly rawTrailers: Buffer[] = []

  constructor(handler: Handler) {
    this.#handler = handler
    this.#resumed.resolve()
  }

  async run(respond: () => Promise<Response>): Promise<void> {
    const handler = this.#handler
    try {
      handler.onRequestStart?.(this, {})
      if (this.aborted) return
      const response = await respond()
      const body = Buffer.from(await response.arrayBuffer())
      if (this.aborted) return
      const { status } = response
      this.rawHeaders = [...response.headers].flat().map((text) => Buffer.from(text, 'latin1'))
      handler.onResponseStart?.(this, status, headersOf(response), STATUS_CODES[status] ?? '')
      await this.#resumed.promise
      if (body.length > 0 && !this.aborted) handler.onResponseData?.(this, body)
      await this.#resumed.promise
      if (!this.aborted) handler.onResponseEnd?.(this, {})
    } catch (error) {
      if (!this.aborted) this.abort(error as Error)
    }
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.resume()
    this.#handler.onResponseError?.(this, reason)
  }

  pause(): void {
    if (!this.paused) this.#resumed = Promise.withResolvers()
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.#resumed.resolve()
  }
}

/** The methods of a handler of undici 6. */
interface OldMethods {
  onConnect?(abort: (reason: Error) => void, context: object): void
  onHeaders?(status: number, headers: unknown, resume: () => void, statusText: string | undefined): boolean
  onData?(chunk: Buffer): boolean
  onComplete?(trailers: readonly Buffer[]): void
  onError?(error: Error): void
}

/** Calls a handler of undici 6, which undici 7 and the fetch of Node 22 and 24 use too. */
class OldHandler implements Handler {
  readonly #old: OldMethods

  constructor(handler: object) {
    this.#old = handler
  }

  onRequestStart(controller: Controller, context: object): void {
    this.#old.onConnect?.((reason) => controller.abort(reason), context)
  }

  onResponseStart(controller: Controller, status: number, _: unknown, statusText?: string): void {
    const isRead = this.#old.onHeaders?.(status, controller.rawHeaders, () => controller.resume(), statusText)
    if (isRead === false) controller.pause()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#old.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd(): void {
    this.#old.onComplete?.([])
  }

  onResponseError(_: Controller, error: Error): void {
    this.#old.onError?.(error)
  }
}

function requestOf({ origin, path, query, method, headers, body }: Dispatcher.DispatchOptions): Request {
  const search = query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${stringify(query)}`
  const hasBody = body !== null && body !== undefined && method !== 'GET' && method !== 'HEAD'
  return new Request(`${new URL(String(origin)).origin}${path}${search}`, {
    method,
    headers: requestHeaders(headers),
    // A Request accepts every form of body that undici accepts.
    ...(hasBody && { body: body as unknown as ReadableStream, duplex: 'half' }),
  })
}

/** Reads headers in any form that undici accepts: an object, `[name, value, …]`, or pairs. */
function requestHeaders(headers: Dispatcher.DispatchOptions['headers']): Headers {
  const result = new Headers()
  const isList = typeof headers === 'object' && headers !== null && Symbol.iterator in headers
  const list = isList ? [...(headers as Iterable<unknown>)] : Object.entries(headers ?? {})
  const flat = list.every(Array.isArray) ? list.flat(1) : list
  for (let n = 0; n < flat.length; n += 2)
    for (const value of [flat[n + 1] ?? []].flat()) result.append(String(flat[n]), String(value))
  return result
}

function headersOf(response: Response): Record<string, string | string[]> {
  const cookies = response.headers.getSetCookie()
  return { ...Object.fromEntries(response.headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) }
}
