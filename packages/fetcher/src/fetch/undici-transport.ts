// Fetches robots.txt with undici: over the client's own connections, which the network guard
// checks, or with the caller's dispatcher.
import type { Socket } from 'node:net'
import { type Failure, type Headers, headerOf, type Reply } from '@politely/core/engine'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { connectorsOf, type GuardedConnectors, type NetworkGuard, type Reach } from '../network/network-guard.ts'
import { loadUndici } from '../network/undici.ts'
import { ACCEPT_ENCODING, bodyOf, CodedBody, isCoded, maxReceivedBytes, readBody } from './body.ts'
import { endsWithConnection, isChunked, problemOfConnection, TlsCarrier } from './body-end.ts'
import type { Deadline } from './deadline.ts'
import { failure, replyOf } from './failure.ts'
import { type Exchange, problemOfCoding, RequestObserver, truncationOf } from './request-observer.ts'
import {
  ACCEPT,
  BYPASS_CACHES,
  isBodyWanted,
  MAX_HEADER_BYTES,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

/** The connection of one request, and what it shows about the response. */
export interface Connection {
  readonly dispatcher: Dispatcher
  /** Dispatch options in addition to the common ones. */
  readonly options?: Partial<Dispatcher.DispatchOptions>
  /**
   * Returns why a response with this status cannot be used, if so. Called when the head arrives.
   */
  problemOfHead?(status: number): Failure | undefined
  /** Returns why a body that has ended cannot be used, if so. Called at the moment of the end. */
  problemOfBody(received: ReceivedBody): Failure | undefined | Promise<Failure | undefined>
  /** Calls the listener when the connection has received more bytes, if it knows their number. */
  onReceivedOver?(bytes: number, listener: () => void): void
  /** Called when the request has ended. */
  close(): void
}

interface ReceivedBody {
  readonly status: number
  readonly headers: Headers
  /** The number of bytes that the handler received. */
  readonly size: number
}

export interface Connections {
  open(url: URL, reach: Reach): Connection | Promise<Connection>
}

export class UndiciTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #connections: Connections

  constructor(settings: TransportSettings, connections: Connections) {
    this.#settings = settings
    this.#connections = connections
  }

  async send({ url, conditions, reach }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const target = new URL(url)
    const connection = await this.#connections.open(target, reach)
    if (deadline.isOver) {
      connection.close()
      return replyOf(new Error(deadline.explanation), 'request', deadline)
    }
    const handler = new ResponseHandler(this.#settings, connection, deadline)
    // undici observes a signal only once it has a connection, and the site decides how long that
    // takes.
    const unlisten = deadline.onOver(() => handler.fail(new Error(deadline.explanation)))
    const maxBytes = maxReceivedBytes(this.#settings.maxBodyBytes)
    connection.onReceivedOver?.(maxBytes, () => handler.endOverLimit(maxBytes))
    const { headers, ...options } = connection.options ?? {}
    const init: Dispatcher.DispatchOptions = {
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'GET',
      // No cookies, no credentials, no Referer.
      headers: {
        'user-agent': this.#settings.userAgent,
        accept: ACCEPT,
        'accept-encoding': ACCEPT_ENCODING,
        ...headers,
        ...conditions,
      },
      headersTimeout: 0, // the deadline is the only timeout
      bodyTimeout: 0,
      ...options,
    }
    try {
      connection.dispatcher.dispatch(init, handler)
    } catch (error) {
      handler.fail(error)
    }
    try {
      return await handler.reply
    } finally {
      unlisten()
      connection.close()
    }
  }
}

/**
 * Receives a response from undici, chunk by chunk. An uncoded body, the common case, is collected
 * without a stream: creating one costs more than reading the file.
 */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>
  readonly #resolve: (reply: Reply) => void
  readonly #settings: TransportSettings
  readonly #connection: Connection
  readonly #deadline: Deadline
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  /** Status and headers of the final response, once received. */
  #head: { readonly status: number; readonly headers: Headers } | undefined
  /** The bytes of an uncoded body. */
  readonly #bytes: ByteBuffer
  /** The number of bytes received. */
  #size = 0
  /** The bytes of a coded body, on their way to the decoder. */
  #coded: CodedBody | undefined
  /** Stops the decoders. Undefined for an uncoded body. */
  #decoding: AbortController | undefined

  constructor(settings: TransportSettings, connection: Connection, deadline: Deadline) {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    this.reply = promise
    this.#resolve = resolve
    this.#settings = settings
    this.#connection = connection
    this.#deadline = deadline
    this.#bytes = new ByteBuffer(settings.maxBodyBytes + 1)
  }

  fail(error: unknown): void {
    this.#end(replyOf(error, this.#head === undefined ? 'request' : 'body', this.#deadline))
  }

  /**
   * Ends a response that is longer than the limit. Its body is not used, even as a cut file:
   * without framing it may be shorter than `maxBodyBytes`, and the missing part may contain a
   * Disallow.
   */
  endOverLimit(maxBytes: number): void {
    this.#end(failure('too-large', `the response is longer than ${maxBytes} bytes, including headers and framing`))
  }

  onRequestStart(controller: Dispatcher.DispatchController, context?: { readonly history?: unknown } | null): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(NOT_NEEDED)
    // A redirect handler of undici passes its history to the outer handlers, from the first request
    // on.
    else if (context?.history !== undefined) this.#end(FOLLOWS_REDIRECTS)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 100 && status < 200) return // an interim response. RFC 9110 §15.2.
    this.#head = { status, headers }
    const problem = this.#connection.problemOfHead?.(status)
    if (problem !== undefined) this.#end(problem)
    else if (status < 100) this.#end(failure('malformed', `status ${status}`))
    else if (!isBodyWanted(status, headers, this.#settings.policy)) this.#end({ kind: 'response', status, headers })
    else if (isCoded(headers)) this.#decode(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#coded !== undefined) {
      if (!this.#coded.add(chunk)) controller.pause()
      return
    }
    this.#bytes.add(chunk)
    if (this.#size > this.#settings.maxBodyBytes) this.#endWithBody()
  }

  onResponseEnd(): void {
    if (this.#head === undefined || this.#isOver) return
    const problem = this.#connection.problemOfBody({ ...this.#head, size: this.#size })
    if (problem instanceof Promise) void problem.then((found) => this.#endAfter(found))
    else this.#endAfter(problem)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#coded === undefined) this.fail(error)
    else this.#coded.destroy(error)
  }

  #endAfter(problem: Failure | undefined): void {
    if (problem !== undefined) this.#end(problem)
    else if (this.#coded === undefined) this.#endWithBody()
    else this.#coded.complete()
  }

  #decode(status: number, headers: Headers): void {
    const coded = new CodedBody(() => this.#controller?.resume())
    this.#coded = coded
    this.#decoding = new AbortController()
    readBody(coded, headers, this.#settings.maxBodyBytes, this.#decoding.signal).then(
      (body) => this.#end({ kind: 'response', status, headers, body }),
      (error: unknown) => this.fail(error),
    )
  }

  #endWithBody(): void {
    if (this.#head === undefined) return
    const { status, headers } = this.#head
    const body = bodyOf(this.#bytes.take(), this.#settings.maxBodyBytes)
    this.#end({ kind: 'response', status, headers, body })
  }

  /**
   * Resolves the reply, and ends the request and its decoders: the rest of the response is not
   * needed, and may never come.
   */
  #end(reply: Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resolve(reply)
    this.#controller?.abort(NOT_NEEDED)
    this.#decoding?.abort(NOT_NEEDED)
  }
}

/**
 * One shared error. undici would create one for each connection that ends, and their stack traces
 * cost more than reading the file.
 */
const NOT_NEEDED = new Error('the rest of the response is not needed')

/**
 * The client's own connections: one for each request, closed when the request ends. Keeping them
 * open would not help: the next request to an origin comes a day later, and few redirects stay on
 * one host. An undici Agent would keep a pool for each of a million origins, and scan all of them
 * whenever a connection ends.
 */
export class OwnConnections implements Connections {
  readonly #guard: NetworkGuard
  readonly #timeoutMs: number
  /** What all connections use. Created by the first one, since loading undici takes long. */
  #shared: Promise<SharedParts> | undefined
  readonly #open = new Set<OwnConnection>()

  constructor(guard: NetworkGuard, timeoutMs: number) {
    this.#guard = guard
    this.#timeoutMs = timeoutMs
  }

  async open({ origin }: URL, reach: Reach): Promise<Connection> {
    this.#shared ??= this.#load()
    const { Client, tcp, tls } = await this.#shared
    const connection = new OwnConnection(Client, origin, { tcp: tcp[reach], tls }, () => this.#open.delete(connection))
    this.#open.add(connection)
    return connection
  }

  async #load(): Promise<SharedParts> {
    const { buildConnector, Client } = await loadUndici()
    // No TCP keep-alive: its first probe would come long after the deadline.
    const options = { allowH2: false, timeout: this.#timeoutMs, keepAlive: false }
    return { Client, tcp: connectorsOf(this.#guard, buildConnector, options), tls: buildConnector(options) }
  }

  async close(): Promise<void> {
    const open = [...this.#open]
    for (const connection of open) connection.close()
    await Promise.all(open.map(({ dispatcher }) => dispatcher.destroy()))
  }
}

interface SharedParts {
  /** The class of undici. */
  readonly Client: typeof Client
  readonly tcp: GuardedConnectors
  readonly tls: buildConnector.connector
}

interface Connectors {
  readonly tcp: buildConnector.connector
  readonly tls: buildConnector.connector
}

class OwnConnection implements Connection {
  readonly dispatcher: Dispatcher
  readonly #onClose: () => void
  /**
   * Sockets that are connecting. A destroyed undici Client leaves them open until they time out.
   */
  readonly #connecting = new Set<Socket>()
  #carrier: TlsCarrier | undefined
  #socket: Socket | undefined
  /** Called when the TCP socket has received bytes. */
  #onReceived: (tcp: Socket) => void = () => undefined

  constructor(ClientOfUndici: typeof Client, origin: string, { tcp, tls }: Connectors, onClose: () => void) {
    this.#onClose = onClose
    const connect: buildConnector.connector = (target, callback) => {
      const done: buildConnector.Callback = (...result) => {
        this.#socket = result[1] ?? undefined
        callback(...result)
      }
      if (target.protocol !== 'https:') {
        return void this.#connect(tcp, target, (...result) => {
          const [, socket] = result
          socket?.on('readable', () => this.#onReceived(socket)) // like undici; `data` would start the flow before undici reads
          done(...result)
        })
      }
      this.#connect(tcp, { ...target, protocol: 'http:', port: target.port || '443' }, (error, socket) => {
        if (error !== null) return done(error, null)
        socket.on('data', () => this.#onReceived(socket))
        const carrier = new TlsCarrier(socket)
        this.#carrier = carrier
        // The type requires a Socket, but Node runs TLS over any stream.
        const overTls = this.#connect(tls, { ...target, httpSocket: carrier as unknown as Socket }, done)
        if (overTls !== undefined) carrier.carry(overTls)
      })
    }
    this.dispatcher = new ClientOfUndici(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES })
  }

  onReceivedOver(bytes: number, listener: () => void): void {
    this.#onReceived = ({ bytesRead }) => {
      if (bytesRead > bytes) listener()
    }
  }

  problemOfBody({ status, headers }: ReceivedBody): Failure | undefined {
    if (!endsWithConnection(status, headers) || this.#socket === undefined) return undefined
    const problem = problemOfConnection(this.#socket, this.#carrier)
    return problem === undefined ? undefined : failure('truncated', problem)
  }

  close(): void {
    this.#onClose()
    void this.dispatcher.destroy(NOT_NEEDED)
    for (const socket of this.#connecting) socket.destroy(NOT_NEEDED)
  }

  #connect(
    connector: buildConnector.connector,
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Socket | undefined {
    let isOver = false // may become true before the connector returns
    let socket: Socket | undefined
    const returned: unknown = connector(target, (...result) => {
      isOver = true
      if (socket !== undefined) this.#connecting.delete(socket)
      callback(...result)
    })
    socket = returned as Socket | undefined // undici's connector returns the socket, although its type does not say so
    if (!isOver && socket !== undefined) this.#connecting.add(socket)
    return socket
  }
}

/**
 * Connections of the caller's dispatcher. A body counts as complete only if the observed request or
 * its length shows that it is.
 */
export class CallersConnections implements Connections {
  readonly #dispatcher: Dispatcher
  readonly #maxBodyBytes: number

  constructor(dispatcher: Dispatcher, { maxBodyBytes }: TransportSettings) {
    this.#dispatcher = dispatcher
    this.#maxBodyBytes = maxBodyBytes
  }

  open({ href }: URL): Connection {
    return new CallersConnection(this.#dispatcher, href, this.#maxBodyBytes)
  }
}

class CallersConnection implements Connection {
  readonly dispatcher: Dispatcher
  // `maxRedirections` turns off undici's redirect interceptor. A caching interceptor would return a
  // body whose end was not observed.
  readonly options: Connection['options'] & { maxRedirections: 0 } = { maxRedirections: 0, headers: BYPASS_CACHES }
  readonly #observer: RequestObserver
  readonly #maxBodyBytes: number

  constructor(dispatcher: Dispatcher, url: string, maxBodyBytes: number) {
    this.dispatcher = dispatcher
    this.#observer = new RequestObserver(url, maxBodyBytes)
    this.#maxBodyBytes = maxBodyBytes
  }

  problemOfHead(status: number): Failure | undefined {
    return this.#observer.wasRedirected(status) ? FOLLOWS_REDIRECTS : undefined
  }

  problemOfBody({ status, headers, size }: ReceivedBody): Failure | undefined | Promise<Failure | undefined> {
    const exchanges = this.#observer.withStatus(status)
    const truncation = truncationOf(exchanges)
    if (truncation !== undefined) return truncation
    const complete = exchanges.filter(({ end }) => end === 'complete')
    const decoded = isCoded(headers) ? undefined : complete.find((exchange) => isCoded(exchange.headers))
    if (decoded !== undefined) return problemOfCoding(decoded, this.#maxBodyBytes)
    if (status === 204) return undefined
    if (complete.length > 0) {
      return complete.some((exchange) => sizeOf(exchange, size) === size) ? undefined : CHANGED_BODY
    }
    if (isChunked(headerOf(headers, 'transfer-encoding') ?? '')) return undefined
    return headerOf(headers, 'content-length') === String(size) ? undefined : UNOBSERVED_END
  }

  close(): void {
    this.#observer.stop()
  }
}

/**
 * Returns the number of body bytes received. undici 6 does not report it; then the Content-Length
 * counts, or else `fallback`.
 */
function sizeOf({ size, headers }: Exchange, fallback: number): number {
  return size || Number(headerOf(headers, 'content-length') ?? fallback)
}

const FOLLOWS_REDIRECTS = failure(
  'unusable-transport',
  'the given dispatcher follows redirects itself; give one that returns the 3xx response, such as `new Agent()` without a redirect interceptor or handler',
)

const UNOBSERVED_END = failure(
  'truncated',
  'the given dispatcher does not show whether the body is complete; give an Agent, Pool, Client or ProxyAgent of undici, or send a correct Content-Length',
)

const CHANGED_BODY = failure(
  'unusable-transport',
  'the given dispatcher did not return the body that was received; remove interceptors that change or drop it, such as `interceptors.dump()`',
)
