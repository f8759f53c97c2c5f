// Local sites: a server on loopback for each, and a log of the requests that it receives. Each page
// is marked as allowed or disallowed by RFC 9309, independently of any crawler.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

export interface Site {
  readonly name: string
  readonly robots: Robots
  readonly pages: Readonly<Record<string, Page>>
}

interface Robots {
  readonly status: number
  readonly body: string
  /** A one-line summary. */
  readonly says: string
  /** The delay between two requests that robots.txt asks for. Milliseconds. */
  readonly crawlDelayMs?: number
}

export interface Page {
  readonly links: readonly string[]
  readonly location?: string
  readonly is: 'allowed' | 'disallowed' | 'either'
}

/** The requests that each site received, in order. */
export type RequestLog = ReadonlyMap<Site, readonly Entry[]>

/** A request that a site received, and its response. */
export interface Entry {
  readonly path: string
  /** By `performance.now()`. Milliseconds. */
  readonly at: number
  readonly userAgent: string
  readonly status: number
  readonly location: string | undefined
  /**
   * The bytes of the response body that were sent before it ended or the client closed the
   * connection.
   */
  bytes: number
}

export interface LocalSites {
  /** The front page of each site. */
  readonly seeds: readonly string[]
  readonly log: RequestLog
  close(): Promise<void>
}

export const ROBOTS_PATH = '/robots.txt'

/** A comment of 8 MiB. */
const FILLER = `# ${'-'.repeat(61)}\n`.repeat(2 ** 17)

export const sites: readonly Site[] = [
  {
    name: 'Plain rules',
    robots: rules('Disallow: /private', 'Allow: /private/press', 'Disallow: /*.pdf$'),
    pages: {
      '/': page('/private/diary', '/private/press', '/map.pdf', '/map.pdf?page=2'),
      '/private/diary': disallowed(page()),
      '/private/press': page(),
      '/map.pdf': disallowed(page()),
      '/map.pdf?page=2': page(),
    },
  },
  {
    // Section 2.2.2: an unreserved character means the same with and without percent-encoding, on
    // both sides.
    name: 'Percent-encoding',
    robots: rules('Disallow: /~ann', 'Disallow: /%7Ebob'),
    pages: {
      '/': page('/~ann', '/%7Eann', '/~bob', '/%7Ebob'),
      '/~ann': disallowed(page()),
      '/%7Eann': disallowed(page()),
      '/~bob': disallowed(page()),
      '/%7Ebob': disallowed(page()),
    },
  },
  {
    name: 'Redirect to a disallowed page',
    robots: rules('Disallow: /cart'),
    pages: {
      '/': page('/checkout', '/moved'),
      '/checkout': redirect('/cart/pay'),
      '/moved': redirect('/here'),
      '/here': page(),
      '/cart/pay': disallowed(page()),
    },
  },
  {
    // Section 2.3.1.4: unreachable, so everything is disallowed.
    name: 'Unreachable robots.txt',
    robots: { status: 503, body: '', says: 'status 503' },
    pages: { '/': disallowed(page('/news')), '/news': disallowed(page()) },
  },
  {
    // Section 2.3.1.3: unavailable, so everything is allowed.
    name: 'Missing robots.txt',
    robots: { status: 404, body: '', says: 'status 404' },
    pages: { '/': page('/news'), '/news': page() },
  },
  {
    name: 'Crawl-delay',
    robots: { ...rules('Crawl-delay: 0.5'), crawlDelayMs: 500 },
    pages: { '/': page('/1', '/2', '/3'), '/1': page(), '/2': page(), '/3': page() },
  },
  {
    // Section 2.5: a crawler must read at least 500 KiB. A crawler that reads more also obeys the
    // last line.
    name: 'Huge robots.txt',
    robots: {
      ...rules('Disallow: /first', FILLER, 'Disallow: /last'),
      says: `Disallow: /first, ${mebibytes(FILLER.length)} of comments, Disallow: /last`,
    },
    pages: { '/': page('/first', '/last'), '/first': disallowed(page()), '/last': either(page()) },
  },
]

export async function startLocalSites(): Promise<LocalSites> {
  const log = new Map<Site, Entry[]>()
  const servers: Server[] = []
  const seeds: string[] = []
  for (const site of sites) {
    const entries: Entry[] = []
    const server = createServer((request, response) => serve(site, entries, request, response))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    log.set(site, entries)
    servers.push(server)
    seeds.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  }
  return {
    seeds,
    log,
    close: async () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
        await once(server, 'close')
      }
    },
  }
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

function serve(site: Site, entries: Entry[], request: IncomingMessage, response: ServerResponse): void {
  const at = performance.now()
  const path = request.url ?? ''
  const { status, headers, body } = path === ROBOTS_PATH ? robotsReply(site.robots) : pageReply(site.pages[path])
  const userAgent = request.headers['user-agent'] ?? ''
  const entry: Entry = { path, at, userAgent, status, location: headers.location, bytes: 0 }
  entries.push(entry)
  response.writeHead(status, headers)
  pipeline(counted(body, entry), response, () => undefined) // a client may close the connection early
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function robotsReply({ status, body }: Robots): Reply {
  return { status, headers: { 'content-type': 'text/plain' }, body }
}

function pageReply(page: Page | undefined): Reply {
  if (page === undefined) return { status: 404, headers: {}, body: 'not found' }
  if (page.location !== undefined) return { status: 302, headers: { location: page.location }, body: '' }
  const body = page.links.map((link) => `<a href="${link}">${link}</a>`).join('\n')
  return { status: 200, headers: { 'content-type': 'text/html' }, body }
}

/**
 * Yields one chunk per turn of the event loop, so that the log shows about how much a client read
 * before it closed the connection.
 */
async function* counted(body: string, entry: Entry): AsyncGenerator<string> {
  const chunkLength = 16 * 1024
  while (entry.bytes < body.length) {
    const chunk = body.slice(entry.bytes, entry.bytes + chunkLength)
    entry.bytes += chunk.length
    yield chunk
    await setImmediate()
  }
}

function rules(...lines: string[]): Robots {
  return { status: 200, body: ['User-agent: *', ...lines, ''].join('\n'), says: lines.join(', ') }
}

function page(...links: string[]): Page {
  return { is: 'allowed', links }
}

function redirect(location: string): Page {
  return { is: 'allowed', links: [], location }
}

function disallowed(page: Page): Page {
  return { ...page, is: 'disallowed' }
}

function either(page: Page): Page {
  return { ...page, is: 'either' }
}
