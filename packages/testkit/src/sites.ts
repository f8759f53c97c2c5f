// A small web on loopback: one real server, one ephemeral port, as many host names as a test likes.
//
// URLs are written with `:PORT` for the server's port, which nobody knows beforehand: `http://a.test:PORT/robots.txt`.
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

/** A well-formed answer. */
export interface Reply {
  readonly status: number
  /** `:PORT` in a value is the server's port. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
}

/** An answer that does with the connection what it likes. It is the only one that the connection gets. */
export type Behaviour = (socket: Socket) => void

/** A promise holds the answer back until the test lets it go. */
export type Answer = Reply | Behaviour | Promise<Reply>

export interface SeenRequest {
  readonly method: string
  /** With `:PORT`. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** When it came, by `performance.now()`. Milliseconds. */
  readonly at: number
}

export interface SitesOptions {
  /** With it the server speaks TLS and nothing else, and its URLs begin with https. */
  readonly certificate?: Certificate
}

export async function startSites(options: SitesOptions = {}): Promise<Sites> {
  const sites = new Sites(options)
  await sites.ready()
  return sites
}

/** Stands for a colon and the server's port. */
const PLACEHOLDER = ':PORT'

export class Sites {
  /** Every request that came, in order. */
  readonly requests: SeenRequest[] = []
  /** Every connection that was made, in order, also those on which nothing was said. */
  readonly connections: Socket[] = []
  readonly #open = new Set<Socket>()
  readonly #answers = new Map<string, Answer[]>()
  readonly #waiting = new Set<() => void>()
  readonly #scheme: 'http' | 'https'
  readonly #server: Server
  #port = 0

  /** @internal Made by `startSites`. */
  constructor({ certificate }: SitesOptions) {
    this.#scheme = certificate === undefined ? 'http' : 'https'
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    this.#server = certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve)
    this.#server.on('connection', (socket: Socket) => {
      this.connections.push(socket)
      this.#open.add(socket)
      socket.on('error', () => undefined) // clients break connections too
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#changed()
      })
      this.#changed()
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

  /** Sets what a URL (with `:PORT`) answers: one answer each time, or several in turn, of which the last one stays; 404 if none. */
  answer(url: string, ...answers: readonly Answer[]): void {
    if (answers.length > 0) this.#answers.set(url, [...answers])
    else this.#answers.delete(url)
  }

  /** The same for several, each with one answer. In bodies, too, `:PORT` is the server's port. */
  answerAll(web: Readonly<Record<string, Reply>>): void {
    for (const [url, reply] of Object.entries(web)) {
      this.answer(url, typeof reply.body === 'string' ? { ...reply, body: this.withPort(reply.body) } : reply)
    }
  }

  /** Drops the records of what came so far; a test of thousands would count them for memory that leaked. */
  forget(): void {
    this.requests.length = 0
    this.connections.length = 0
  }

  /** The text with the server's port for `:PORT`. */
  withPort(text: string): string {
    return text.replaceAll(PLACEHOLDER, `:${this.#port}`)
  }

  /** The URLs that were asked for, in order, with `:PORT`. */
  get asked(): readonly string[] {
    return this.requests.map(({ url }) => url)
  }

  /** What was asked for, robots.txt aside, each once and sorted. */
  get askedPages(): readonly string[] {
    return [...new Set(this.asked.filter((url) => !url.endsWith('/robots.txt')))].sort()
  }

  /** Bytes that came over all connections, TLS included. */
  get bytesReceived(): number {
    return this.connections.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  }

  /** Resolves as soon as so many requests have come in all. */
  async requested(count: number): Promise<void> {
    await this.#until(() => this.requests.length >= count)
  }

  /** Resolves as soon as so many connections have been made in all. */
  async connected(count: number): Promise<void> {
    await this.#until(() => this.connections.length >= count)
  }

  /** Resolves as soon as no connection is open. */
  async deserted(): Promise<void> {
    await this.#until(() => this.#open.size === 0)
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
    this.#changed()
    const answers = this.#answers.get(url) ?? []
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 404 }
    if (typeof answer === 'function') answer(request.socket)
    else this.#reply(response, await answer)
  }

  #reply(response: ServerResponse, { status, headers = {}, body }: Reply): void {
    response.statusCode = status
    response.sendDate = false // a test's clock is not the server's
    for (const [name, value] of Object.entries(headers)) {
      response.setHeader(
        name,
        typeof value === 'string' ? this.withPort(value) : value.map((one) => this.withPort(one)),
      )
    }
    response.end(body)
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      await promise
    }
  }

  #changed(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}
