// Robots.txt by undici: with our own connections, which the network guard watches, or with the caller's dispatcher.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Headers, Reply } from '@politely/core'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { ACCEPT_ENCODING, bodyOf, isCoded, readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import { failureOf } from './failure.ts'
import type { NetworkGuard, Reach } from './network-guard.ts'
import {
  ACCEPT,
  isBodyWanted,
  MAX_HEADER_BYTES,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

/** Whose connections are used. A request says when it has no more use for what it was given. */
export interface Connections {
  open(origin: string, reach: Reach): Dispatcher
  end(dispatcher: Dispatcher): void
}

export class UndiciTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #connections: Connections

  constructor(settings: TransportSettings, connections: Connections) {
    this.#settings = settings
    this.#connections = connections
  }

  async send({ url, conditions, reach }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const { origin, pathname, search } = new URL(url)
    const dispatcher = this.#connections.open(origin, reach)
    const answer = new Answer(this.#settings, deadline)
    // Undici heeds a signal only once it has a connection, and how long that takes is up to the site.
    const forget = deadline.onOver(() => answer.fail(new Error('the deadline passed')))
    const init: Dispatcher.DispatchOptions = {
      origin,
      path: pathname + search,
      method: 'GET',
      // No cookies, no credentials, no Referer.
      headers: {
        'user-agent': this.#settings.userAgent,
        accept: ACCEPT,
        'accept-encoding': ACCEPT_ENCODING,
        ...conditions,
      },
      headersTimeout: 0, // the deadline is the only clock
      bodyTimeout: 0,
    }
    try {
      dispatcher.dispatch(init, answer)
    } catch (error) {
      answer.fail(error)
    }
    try {
      return await answer.reply
    } finally {
      forget()
      this.#connections.end(dispatcher)
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

  constructor(settings: TransportSettings, deadline: Deadline) {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    this.reply = promise
    this.#resolve = resolve
    this.#settings = settings
    this.#deadline = deadline
  }

  fail(error: unknown): void {
    this.#end(failureOf(error, this.#head === undefined ? 'request' : 'body', this.#deadline))
    this.#coded?.destroy()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(NOT_WANTED)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 100 && status < 200) return // the answer is yet to come. RFC 9110 §15.2.
    this.#head = { status, headers }
    if (status < 100) this.#end({ kind: 'failure', reason: 'malformed', detail: `status ${status}` })
    else if (!isBodyWanted(status, this.#settings.policy)) this.#end({ kind: 'response', status, headers })
    else if (isCoded(headers)) this.#decode(status, headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#coded !== undefined) {
      if (!this.#coded.push(chunk)) controller.pause()
      return
    }
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > this.#settings.maxBodyBytes) this.#endWithBody()
  }

  onResponseEnd(): void {
    if (this.#coded === undefined) this.#endWithBody()
    else this.#coded.push(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#coded === undefined) this.fail(error)
    else this.#coded.destroy(error)
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
  readonly #clients = new Set<Dispatcher>()
  /** Those that are being made: a client leaves them to their own time-out when it ends. */
  readonly #connecting = new Map<Dispatcher, Socket>()

  constructor(guard: NetworkGuard, timeoutMs: number) {
    // No TCP keep-alive: it would begin when the deadline has long passed.
    const options = { allowH2: false, timeout: timeoutMs, keepAlive: false }
    this.#connectors = {
      public: guard.connector({ reach: 'public', ...options }),
      any: guard.connector({ reach: 'any', ...options }),
    }
  }

  open(origin: string, reach: Reach): Dispatcher {
    const connect: buildConnector.connector = (target, callback) => {
      let isOver = false
      // Its type does not say so, but it returns the socket.
      const socket = this.#connectors[reach](target, (...result) => {
        isOver = true
        this.#connecting.delete(client)
        callback(...result)
      }) as unknown as Socket
      if (!isOver) this.#connecting.set(client, socket)
    }
    const client = new Client(origin, { connect, maxHeaderSize: MAX_HEADER_BYTES })
    this.#clients.add(client)
    return client
  }

  end(client: Dispatcher): void {
    this.#clients.delete(client)
    void client.destroy(NOT_WANTED)
    this.#connecting.get(client)?.destroy(NOT_WANTED)
  }

  async destroy(): Promise<void> {
    const clients = [...this.#clients]
    for (const client of clients) this.end(client)
    await Promise.all(clients.map((client) => client.destroy()))
  }
}
