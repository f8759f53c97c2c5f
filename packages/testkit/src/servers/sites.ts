// A server for tests on loopback: one real server, one ephemeral port, any number of host names.
//
// URLs contain `:PORT` for the server's port, which is not known in advance:
// `http://a.test:PORT/robots.txt`.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from './self-signed.ts'

/** A valid response. */
export interface Reply {
  readonly status: number
  /** `:PORT` in a value is replaced by the server's port. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
}

/**
 * Responds by writing to the connection directly. The connection then serves no further requests.
 */
export type Behaviour = (socket: Socket) => void

/** The response to a request. A promise delays the response until the test resolves it. */
export type Answer = Reply | Behaviour | Promise<Reply>

export interface SeenRequest {
  readonly method: string
  /** Contains `:PORT`. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The time of arrival by `performance.now()`, in milliseconds. */
  readonly at: number
}

export interface SitesOptions {
  /** With a certificate the server supports only TLS, and its URLs begin with https. */
  readonly certificate?: Certificate
}

export async function startSites(options: SitesOptions = {}): Promise<Sites> {
  const sites = new Sites(options)
  await sites.ready()
  return sites
}

/** Replaces a colon and the server's port in URLs. */
const PLACEHOLDER = ':PORT'

export class Sites {
  /** All requests received, in order. */
  readonly requests: SeenRequest[] = []
  /** All connections accepted, in order, including connections without a request. */
  readonly connections: Socket[] = []
  readonly #open = new Set<Socket>()
  readonly #answers = new Map<string, Answer[]>()
  readonly #waiting = new Set<() => void>()
  readonly #scheme: 'http' | 'https'
  readonly #server: Server
  #port = 0

  /** @internal Use `startSites`. */
  constructor({ certificate }: SitesOptions) {
    this.#scheme = certificate === undefined ? 'http' : 'https'
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    this.#server = certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve)
    this.#server.on('connection', (socket: Socket) => {
      this.connections.push(socket)
      this.#open.add(socket)
      socket.on('error', () => undefined) // clients may reset connections
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#notify()
      })
      this.#notify()
    })
  }

  /** @internal */
  async ready(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    await promise
    this.#port = (this.#server.address() as AddressInfo).port
  }

  get port(): number {
    return this.#port
  }

  /**
   * Sets the responses of a URL (with `:PORT`): each request gets the next one, and the last one
   * repeats. Without any, the URL is a 404.
   */
  respond(url: string, ...answers: readonly Answer[]): void {
    if (answers.length > 0) this.#answers.set(url, [...answers])
    else this.#answers.delete(url)
  }

  /** Sets the responses of several URLs, one each. Replaces `:PORT` in bodies too. */
  answerAll(web: Readonly<Record<string, Reply>>): void {
    for (const [url, reply] of Object.entries(web)) {
      this.respond(url, typeof reply.body === 'string' ? { ...reply, body: this.withPort(reply.body) } : reply)
    }
  }

  /**
   * Clears `requests` and `connections`. A test that measures memory would count these records as a
   * leak.
   */
  clearRecords(): void {
    this.requests.length = 0
    this.connections.length = 0
  }

  /** Replaces `:PORT` in a text by the server's port. */
  withPort(text: string): string {
    return text.replaceAll(PLACEHOLDER, `:${this.#port}`)
  }

  /** The URLs of all requests, in order, with `:PORT`. */
  get requestedUrls(): readonly string[] {
    return this.requests.map(({ url }) => url)
  }

  /** The distinct URLs of all requests except requests for robots.txt, sorted. */
  get requestedPages(): readonly string[] {
    return [...new Set(this.requestedUrls.filter((url) => !url.endsWith('/robots.txt')))].sort()
  }

  /** The number of bytes received over all connections, including TLS overhead. */
  get bytesReceived(): number {
    return this.connections.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  }

  /** Resolves when the total number of requests reaches `count`. */
  async requested(count: number): Promise<void> {
    await this.#waitUntil(() => this.requests.length >= count)
  }

  /** Resolves when the total number of connections reaches `count`. */
  async connected(count: number): Promise<void> {
    await this.#waitUntil(() => this.connections.length >= count)
  }

  /** Resolves when no connection is open. */
  async allConnectionsClosed(): Promise<void> {
    await this.#waitUntil(() => this.#open.size === 0)
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    await promise
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const authority = (request.headers.host ?? '').replace(new RegExp(`:${this.#port}$`), PLACEHOLDER)
    const url = `${this.#scheme}://${authority}${request.url}`
    this.requests.push({ method: request.method ?? '', url, headers: request.headers, at: performance.now() })
    this.#notify()
    const answers = this.#answers.get(url) ?? []
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 404 }
    if (typeof answer === 'function') answer(request.socket)
    else this.#reply(response, await answer)
  }

  #reply(response: ServerResponse, { status, headers = {}, body }: Reply): void {
    response.statusCode = status
    response.sendDate = false // the client under test may use a fake clock
    for (const [name, value] of Object.entries(headers)) {
      response.setHeader(
        name,
        typeof value === 'string' ? this.withPort(value) : value.map((item) => this.withPort(item)),
      )
    }
    response.end(body)
  }

  async #waitUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      await promise
    }
  }

  #notify(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}
