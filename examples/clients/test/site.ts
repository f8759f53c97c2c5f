// The site that the clients crawl, and what must come out for each of its URLs.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const USER_AGENT = 'ExampleBot/1.0 (+https://example.com/bot)'
export const DELAY_MS = 300
/**
 * What the site asks for with 429, and with RateLimit headers. The server holds a call meanwhile, for
 * longer than a permit is valid, even when a busy client calls a second late.
 */
export const PAUSE_MS = 2_000
/** Longer than the lease of the client that renews its leases. */
export const SLOW_MS = 3_000

const ROBOTS_TXT = `User-agent: ExampleBot
Crawl-delay: ${DELAY_MS / 1_000}
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$
Disallow: /search
Allow: /search/about
Disallow: /cart?

User-agent: *
Disallow: /
`
const OTHER_ROBOTS_TXT = 'User-agent: *\nDisallow: /secret\n'

/** The path of each case, and its outcome: a status and the page, or why the URL is refused. */
export const CASES: readonly (readonly [path: string, outcome: string])[] = [
  ...['/', '/about', '/news/1', '/news/2', '/news/3', '/a%20b', '/caf%C3%A9', '/q?x=1&y=2'].map(page),
  ['/busy', '429 page /busy'],
  ...['/cart', '/private', '/private/open', '/private/open/deep', '/search/about', '/x.pdf?page=1', '/y.pdf.html'].map(
    page,
  ),
  ['/to-about', '200 page /about'],
  ['/to-to-about', '200 page /about'],
  ['/to-relative', '200 page /about'],
  ['/to-private', 'refused rule 3'],
  ['/to-pdf', 'refused rule 5'],
  ['/to-other', '200 page /other'],
  ['/to-other-secret', 'refused rule 2'],
  ['/late', '200 page /late'],
  ['/missing', '404 page /missing'],
  ['/gone', '410 page /gone'],
  ['/error', '500 page /error'],
  ['/odd', '999 page /odd'],
  ['/empty', '204 '],
  ['/restart', '200 page /restart'],
  ['/private/', 'refused rule 3'],
  ['/private/x', 'refused rule 3'],
  ['/private/ope', 'refused rule 3'],
  ['/%70rivate/x', 'refused rule 3'],
  ['/x.pdf', 'refused rule 5'],
  ['/a/b.pdf', 'refused rule 5'],
  ['/search', 'refused rule 6'],
  ['/search?q=1', 'refused rule 6'],
  ['/searching', 'refused rule 6'],
  ['/cart?add=1', 'refused rule 8'],
  ['/drop', 'failed'],
  ...['/PRIVATE/x', '/searc', '/x/y/z?a=b/c'].map(page),
  ['/limited', '200 page /limited'],
  ...['/news/4', '/news/5'].map(page),
  ['/slow', '200 page /slow'],
  ['/full', '200 page /full'],
  ['/news/6', '200 page /news/6'],
]

function page(path: string): [string, string] {
  return [path, `200 page ${path}`]
}

const STATUS: Readonly<Record<string, number>> = {
  '/busy': 429,
  '/missing': 404,
  '/gone': 410,
  '/error': 500,
  '/odd': 999,
  '/empty': 204,
}

interface Visit {
  readonly path: string
  readonly userAgent: string | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface Site extends AsyncDisposable {
  readonly origin: string
  readonly visits: readonly Visit[]
}

/** Starts the site, or the other site, to which some of its pages redirect. */
export async function startSite(other?: Site): Promise<Site> {
  const visits: Visit[] = []
  const location = (path: string): string | undefined =>
    ({
      '/to-about': '/about',
      '/to-to-about': '/to-about',
      '/to-relative': 'about',
      '/to-private': '/private/x',
      '/to-pdf': '/x.pdf',
      '/to-other': `${other?.origin}/other`,
      '/to-other-secret': `${other?.origin}/secret`,
    })[path]
  const answer = (path: string, request: IncomingMessage, response: ServerResponse) => {
    if (path === '/robots.txt') return response.end(other === undefined ? OTHER_ROBOTS_TXT : ROBOTS_TXT)
    if (path === '/drop') return request.socket.destroy()
    const to = location(path)
    if (to !== undefined) return response.writeHead(302, { location: to }).end('moved')
    if (path === '/busy') response.setHeader('retry-after', PAUSE_MS / 1_000)
    if (path === '/limited') response.setHeader('ratelimit-remaining', 0).setHeader('ratelimit-reset', PAUSE_MS / 1_000)
    response.writeHead(STATUS[path] ?? 200)
    response.write(path === '/empty' ? '' : 'page ')
    return setTimeout(() => response.end(path === '/empty' ? '' : path), path === '/slow' ? SLOW_MS : 0)
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    visits.push({ path, userAgent: request.headers['user-agent'], at: Date.now() })
    answer(path, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
