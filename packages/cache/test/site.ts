// A site on loopback whose pages tests write, with the polite fetches that visit it.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CachedRequest, type CacheExchange, type PolitelyOptions, politely } from '@politely/gate'
import { onTestFinished } from 'vitest'
import { PageCache, type PageCacheOptions } from '../src/index.ts'

export type Page = (request: IncomingMessage, response: ServerResponse) => unknown

export interface Seen {
  readonly line: string
  readonly headers: IncomingHttpHeaders
}

/** 1 June 2026. */
export const START: number = Date.UTC(2026, 5, 1)
export const SECOND = 1_000
export const HOUR = 3_600_000

export class TestSite {
  /** The requests for pages. */
  readonly seen: Seen[] = []
  readonly pages: Map<string, Page> = new Map()
  robots = ''
  robotsRequests = 0
  /** Milliseconds since 1970, for the cache. */
  now: number = START
  readonly origin: string

  private constructor(origin: string) {
    this.origin = origin
  }

  static async open(): Promise<TestSite> {
    let site: TestSite | undefined
    const server = createServer((request, response) => site?.respond(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      server.close()
    })
    site = new TestSite(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return site
  }

  private respond(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method, headers } = request
    if (url === '/robots.txt') {
      this.robotsRequests++
      response.end(this.robots)
      return
    }
    this.seen.push({ line: `${method} ${url}`, headers })
    response.sendDate = false // the clock of the cache is not ours
    const page = this.pages.get(url)
    if (page === undefined) response.writeHead(404).end('nothing')
    else page(request, response)
  }

  /** A page with these headers, whose body counts its requests. */
  page(path: string, headers: Readonly<Record<string, string | string[]>>, status = 200): void {
    let count = 0
    this.pages.set(path, (request, response) => {
      const { etag, 'last-modified': modified } = headers
      const isSame =
        (etag !== undefined && request.headers['if-none-match'] === etag) ||
        (modified !== undefined && request.headers['if-modified-since'] === modified)
      if (isSame) response.writeHead(304, headers).end()
      else response.writeHead(status, headers).end(`${path} ${++count}`)
    })
  }

  /** The requests for pages, such as `GET /page`. */
  get lines(): readonly string[] {
    return this.seen.map(({ line }) => line)
  }

  cache(options: PageCacheOptions = {}): PageCache {
    const cache = new PageCache({ now: () => this.now, ...options })
    onTestFinished(async () => cache.close())
    return cache
  }

  /** A fetch through a cache. */
  fetch(
    cache: PageCache,
    options: Partial<PolitelyOptions> = {},
  ): (path: string, init?: RequestInit) => Promise<Response> {
    const polite = politely(globalThis.fetch, {
      userAgent: 'CacheBot/1.0',
      minDelayMs: 0,
      cache,
      ...options,
    } as PolitelyOptions)
    onTestFinished(() => polite.close())
    return (path, init) => polite(this.origin + path, init as never)
  }
}

/** A request as `politely` gives it to a cache. */
export function requestOf(url: string): CachedRequest {
  return { url, method: 'GET', headers: {}, hasBody: false, signal: undefined }
}

/** What a cache may do for a request that the site answers with this response. */
export function exchangeOf(sent: Response): CacheExchange {
  return {
    check: async () => undefined,
    checkStored: async () => true,
    send: async () => sent,
    robotsTagsOf: () => [],
    codedBodyOf: () => undefined,
    isRateLimited: () => false,
    adopt: (response) => response,
  }
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
