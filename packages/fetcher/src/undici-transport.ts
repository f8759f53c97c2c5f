// Robots.txt by undici: with our own connections, which the network guard watches, or with the caller's dispatcher.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type Failure, type Headers, headerOf, type Reply } from '@politely/core'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { ACCEPT_ENCODING, bodyOf, isCoded, readBody } from './body.ts'
import { endsWithConnection, isChunked, problemOfConnection, TlsCarrier } from './body-end.ts'
import type { Deadline } from './deadline.ts'
import { answerIn, failureOf, truncated } from './failure.ts'
import type { NetworkGuard, Reach } from './network-guard.ts'
import { cutIn, type Exchange, problemOfCoding, RequestWatch } from './request-watch.ts'
import {
  ACCEPT,
  isBodyWanted,
  MAX_HEADER_BYTES,
  PAST_CACHES,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

/** One request's way to the server, and what can be known there of its response. */
export interface Connection {
  readonly dispatcher: Dispatcher
  /** Dispatch options beside the common ones. */
  readonly options?: Partial<Dispatcher.DispatchOptions>
  /** Why a response cannot be used, judged by its head. */
  problemOfHead?(status: number): Failure | undefined
  /** Why a body that has ended cannot be used; called at the moment of the end. */
  problemOfBody(received: ReceivedBody): Failure | undefined | Promise<Failure | undefined>
  /** The request needs it no more. */
  close(): void
}

interface ReceivedBody {
  readonly status: number
  readonly headers: Headers
  /** How many bytes the handler was given. */
  readonly size: number
}

export interface Connections {
  open(url: URL, reach: Reach): Connection
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
    const connection = this.#connections.open(target, reach)
    const answer = new Answer(this.#settings, connection, deadline)
    // Undici heeds a signal only once it has a connection, and how long that takes is up to the site.
    const forget = deadline.onOver(() => answer.fail(new Error('the deadline passed')))
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
      headersTimeout: 0, // the deadline is the only clock
      bodyTimeout: 0,
      ...options,
    }
    try {
      connection.dispatcher.dispatch(init, answer)
    } catch (error) {
      answer.fail(error)
    }
    try {
      return await answer.reply
    } finally {
      forget()
      connection.close()
    }
  }
}

/**
 * Takes an answer as undici hands it out, piece by piece. For a file that comes as it is, which most do, there is no stream: to make
 * one costs more than to read the file.
 */
class Answer implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>
  readonly #resolve: (reply: Reply) => void
  readonly #settings: TransportSettings
  readonly #connection: Connection
  readonly #deadline: Deadline
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  /** Once there are headers that count. */
  #head: { readonly status: number; readonly headers: Headers } | undefined
  /** Of a file that comes as it is. */
  readonly #chunks: Buffer[] = []
  #size = 0
  /** Of one that has to be decoded. */
  #coded: Readable | undefined

  constructor(settings: TransportSettings, connection: Connection, deadline: Deadline) {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    this.reply = promise
    this.#resolve = resolve
    this.#settings = settings
    this.#connection = connection
    this.#deadline = deadline
  }

  fail(error: unknown): void {
    // Some interceptors report the status of a response as an error.
    const answered = this.#head === undefined ? answerIn(error) : undefined
    this.#end(answered ?? failureOf(error, this.#head === undefined ? 'request' : 'body', this.#deadline))
    this.#coded?.destroy()
  }

  onRequestStart(controller: Dispatcher.DispatchController, context?: { readonly history?: unknown } | null): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(NOT_WANTED)
    // A redirect handler of undici gives its history to the handlers outside of it, from the first request on.
    else if (context?.history !== undefined) this.#end(FOLLOWS_REDIRECTS)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 100 && status < 200) return // the answer is yet to come. RFC 9110 §15.2.
    this.#head = { status, headers }
    const problem = this.#connection.problemOfHead?.(status)
    if (problem !== undefined) this.#end(problem)
    else if (status < 100) this.#end({ kind: 'failure', reason: 'malformed', detail: `status ${status}` })
    else if (!isBodyWanted(status, this.#settings.policy)) this.#end({ kind: 'response', status, headers })
    else if (isCoded(headers)) this.#decode(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#coded !== undefined) {
      if (!this.#coded.push(chunk)) controller.pause()
      return
    }
    this.#chunks.push(chunk)
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
    if (problem !== undefined) {
      this.#end(problem)
      this.#coded?.destroy()
    } else if (this.#coded === undefined) this.#endWithBody()
    else this.#coded.push(null)
  }

  #decode(status: number, headers: Headers): void {
    const coded = new Readable({ read: () => this.#controller?.resume() })
    coded.on('error', () => undefined) // whoever reads it is told
    this.#coded = coded
    readBody(coded, headers, this.#settings.maxBodyBytes).then(
      (body) => this.#end({ kind: 'response', status, headers, body }),
      (error: unknown) => this.fail(error),
    )
  }

  #endWithBody(): void {
    if (this.#head === undefined) return
    const { status, headers } = this.#head
    this.#end({ kind: 'response', status, headers, body: bodyOf(this.#chunks, this.#settings.maxBodyBytes) })
  }

  /** What has not come yet is not wanted, and a site may take for ever to send it. */
  #end(reply: Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resolve(reply)
    this.#controller?.abort(NOT_WANTED)
  }
}

/** Made once: undici would make an error for the end of each connection, and their stacks cost more than reading the file. */
const NOT_WANTED = new Error('the rest is not wanted')

/**
 * Our own: one for each request, ended with it. The next request to an origin comes tomorrow, and few redirects lead to the host
 * that they come from; an undici Agent would keep a pool for each of a million origins, and look through all of them at the end of
 * each.
 */
export class OwnConnections implements Connections {
  readonly #connectors: Readonly<Record<Reach, buildConnector.connector>>
  readonly #overTls: buildConnector.connector
  readonly #open = new Set<OwnConnection>()

  constructor(guard: NetworkGuard, timeoutMs: number) {
    // No TCP keep-alive: it would begin when the deadline has long passed.
    const options = { allowH2: false, timeout: timeoutMs, keepAlive: false }
    this.#connectors = {
      public: guard.connector({ reach: 'public', ...options }),
      any: guard.connector({ reach: 'any', ...options }),
    }
    this.#overTls = buildConnector(options)
  }

  open({ origin }: URL, reach: Reach): Connection {
    const connectors = { tcp: this.#connectors[reach], tls: this.#overTls }
    const connection = new OwnConnection(origin, connectors, () => this.#open.delete(connection))
    this.#open.add(connection)
    return connection
  }

  async destroy(): Promise<void> {
    const open = [...this.#open]
    for (const connection of open) connection.close()
    await Promise.all(open.map(({ dispatcher }) => dispatcher.destroy()))
  }
}

interface Connectors {
  readonly tcp: buildConnector.connector
  readonly tls: buildConnector.connector
}

class OwnConnection implements Connection {
  readonly dispatcher: Dispatcher
  readonly #onClose: () => void
  /** While it is being made: a client leaves it to its own time-out when it ends. */
  readonly #connecting = new Set<Socket>()
  #carrier: TlsCarrier | undefined
  #socket: Socket | undefined

  constructor(origin: string, { tcp, tls }: Connectors, onClose: () => void) {
    this.#onClose = onClose
    const connect: buildConnector.connector = (target, callback) => {
      const done: buildConnector.Callback = (...result) => {
        this.#socket = result[1] ?? undefined
        callback(...result)
      }
      if (target.protocol !== 'https:') return void this.#connect(tcp, target, done)
      this.#connect(tcp, { ...target, protocol: 'http:', port: target.port || '443' }, (error, socket) => {
        if (error !== null) return done(error, null)
        const carrier = new TlsCarrier(socket)
        this.#carrier = carrier
        // Its type says Socket; to Node any stream is one to run TLS on.
        const overTls = this.#connect(tls, { ...target, httpSocket: carrier as unknown as Socket }, done)
        if (overTls !== undefined) carrier.carry(overTls)
      })
    }
    this.dispatcher = new Client(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES })
  }

  problemOfBody({ status, headers }: ReceivedBody): Failure | undefined {
    if (!endsWithConnection(status, headers) || this.#socket === undefined) return undefined
    const problem = problemOfConnection(this.#socket, this.#carrier)
    return problem === undefined ? undefined : truncated(problem)
  }

  close(): void {
    this.#onClose()
    void this.dispatcher.destroy(NOT_WANTED)
    for (const socket of this.#connecting) socket.destroy(NOT_WANTED)
  }

  #connect(
    connector: buildConnector.connector,
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Socket | undefined {
    let isOver = false // maybe before the connector returns
    let socket: Socket | undefined
    const returned: unknown = connector(target, (...result) => {
      isOver = true
      if (socket !== undefined) this.#connecting.delete(socket)
      callback(...result)
    })
    socket = returned as Socket | undefined // its type does not say so, but it returns the socket
    if (!isOver && socket !== undefined) this.#connecting.add(socket)
    return socket
  }
}

/** The caller's dispatcher. Nothing it says of the end of a body is trusted without evidence. */
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
  // Heeded by undici's redirect interceptor. A caching one would give a body whose end was not seen.
  readonly options: Connection['options'] & { maxRedirections: 0 } = { maxRedirections: 0, headers: PAST_CACHES }
  readonly #watch: RequestWatch
  readonly #maxBodyBytes: number

  constructor(dispatcher: Dispatcher, url: string, maxBodyBytes: number) {
    this.dispatcher = dispatcher
    this.#watch = new RequestWatch(url, maxBodyBytes)
    this.#maxBodyBytes = maxBodyBytes
  }

  problemOfHead(status: number): Failure | undefined {
    return this.#watch.wasRedirected(status) ? FOLLOWS_REDIRECTS : undefined
  }

  problemOfBody({ status, headers, size }: ReceivedBody): Failure | undefined | Promise<Failure | undefined> {
    const exchanges = this.#watch.answeredWith(status)
    const cut = cutIn(exchanges)
    if (cut !== undefined) return cut
    const whole = exchanges.filter(({ end }) => end === 'whole')
    const decoded = isCoded(headers) ? undefined : whole.find((exchange) => isCoded(exchange.headers))
    if (decoded !== undefined) return problemOfCoding(decoded, this.#maxBodyBytes)
    if (status === 204) return undefined
    if (whole.length > 0) return whole.some((exchange) => sizeOf(exchange, size) === size) ? undefined : OTHER_BODY
    if (isChunked(headerOf(headers, 'transfer-encoding') ?? '')) return undefined
    return headerOf(headers, 'content-length') === String(size) ? undefined : UNSEEN_END
  }

  close(): void {
    this.#watch.stop()
  }
}

/** The bytes of the body on the wire. Older versions of undici do not report them; a Content-Length still tells how many. */
function sizeOf({ size, headers }: Exchange, unknown: number): number {
  return size || Number(headerOf(headers, 'content-length') ?? unknown)
}

const FOLLOWS_REDIRECTS: Failure = {
  kind: 'failure',
  reason: 'malformed',
  detail:
    'the dispatcher that was given follows redirects itself; give one that answers with the 3xx itself, such as `new Agent()` without a redirect interceptor or handler',
}

const UNSEEN_END: Failure = truncated(
  'the dispatcher that was given does not show whether the body is whole; give an Agent, Pool, Client or ProxyAgent of undici, or answer with a Content-Length that is right',
)

const OTHER_BODY: Failure = {
  kind: 'failure',
  reason: 'malformed',
  detail:
    'the dispatcher that was given does not hand out the body that was received; leave out interceptors that change or drop it, such as `interceptors.dump()`',
}
