// A server on loopback for any host name that ends in .test. It records the requests that it gets.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'

/** A request that the server got. */
export interface Seen {
  /** By the clock of `performance.now()`. */
  readonly at: number
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly host: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Page = (request: IncomingMessage, response: ServerResponse) => void

export class Site {
  readonly #server: Server
  /** Requests for pages, in order of arrival. Requests for robots.txt are only counted. */
  readonly seen: Seen[] = []
  robotsFetches = 0
  /**
   * The robots.txt of each host name; `*` for the others. A `Page` if the response is more than a
   * text.
   */
  readonly robots: Map<string, string | Page> = new Map()
  /** The handlers of paths. The response for any other path is `page <path>`. */
  readonly pages: Map<string, Page> = new Map()

  private constructor() {
    this.#server = createServer((request, response) => void this.#respond(request, response))
  }

  static async open(robots: Readonly<Record<string, string | Page>> = {}): Promise<Site> {
    const site = new Site()
    for (const [host, text] of Object.entries(robots)) site.robots.set(host, text)
    site.#server.listen(0, '127.0.0.1')
    await once(site.#server, 'listening')
    return site
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The server's origin with its IP address, for a fetch without `lookup`. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Returns a URL of this server with a host name, for clients that use `lookup`. */
  at(host: string, path = '/'): string {
    return `http://${host}:${this.port}${path}`
  }

  /** The requests for pages, such as `POST /path`. */
  get lines(): string[] {
    return this.seen.map(({ method, url }) => `${method} ${url}`)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((closed) => this.#server.close(closed))
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.now()
    const { url = '', method = '', headers } = request
    const host = (headers.host ?? '').replace(/:\d+$/, '')
    if (url === '/robots.txt') {
      this.robotsFetches++
      const robots = this.robots.get(host) ?? this.robots.get('*') ?? ''
      return typeof robots === 'string' ? void response.end(robots) : robots(request, response)
    }
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // the client aborted the request
    }
    this.seen.push({ at, method, url, host, headers, body: Buffer.concat(chunks).toString('latin1') })
    const page = this.pages.get(url.replace(/\?.*/, ''))
    if (page === undefined) response.end(`page ${url}`)
    else page(request, response)
  }
}

/** Resolves *.test, and tenants of the platform netlify.app, to loopback. Fails for other names. */
export const lookup: LookupFunction = (host, { all }, done) => {
  if (!/\.(test|netlify\.app)$/.test(host)) return done(new Error(`${host} is not of this test`), '', 0)
  // Asynchronous, like a real lookup.
  setImmediate(() => (all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)))
}

/** Resolves when the condition holds. Tests wait for events rather than for a time. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((turn) => setImmediate(turn))
}
