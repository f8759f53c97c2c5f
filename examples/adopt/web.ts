// A site with 30 pages that robots.txt allows, and four other origins whose robots.txt is hard to
// read. All of them are servers on loopback, and their log is the judge.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

/** The site's crawl-delay, in milliseconds. */
const DELAY_MS = 400

/** Paths that the rules of the site allow. The index links to all of them. */
const ALLOWED = ['/', '/private/press', ...Array.from({ length: 28 }, (_, i) => `/page-${i + 1}`)]

/** Paths that the rules of the site disallow. The index links to them too. */
const DISALLOWED = ['/private/diary', '/private/list', '/cart/1', '/cart/2', '/search?q=shoes', '/%7Eann']

const SITE_RULES = `user-agent: *
crawl-delay: ${DELAY_MS / 1000}
disallow: /private/ # for members
disallow: /cart
disallow: /search?
disallow: /~ann
allow: /private/press
`
const OTHER_RULES = 'User-agent: *\nDisallow: /private/\n'

interface Answer {
  readonly status: number
  readonly body?: string
  readonly location?: string
}

/** What each of the other origins answers for its robots.txt, and whether RFC 9309 then allows `/open`. */
const OTHERS: readonly { readonly robots: Answer; readonly open: boolean }[] = [
  { robots: { status: 301, location: '/moved/robots.txt' }, open: true },
  { robots: { status: 200, body: `# ${'-'.repeat(120_000)}\n${OTHER_RULES}` }, open: true },
  { robots: { status: 429 }, open: false },
  { robots: { status: 503 }, open: false },
]

export interface Page {
  readonly url: string
  readonly isAllowed: boolean
  readonly isOnSite: boolean
}

export interface Web {
  /** The URL of the index, which links to all pages. */
  readonly index: string
  readonly pages: readonly Page[]
  /** The requests that the servers received for pages, in order. */
  readonly log: readonly { readonly url: string; readonly at: number }[]
  close(): Promise<void>
}

/** Starts the servers. @param host The name of the site in its URLs. It has to resolve to 127.0.0.1. */
export async function startWeb(host = '127.0.0.1'): Promise<Web> {
  const log: { url: string; at: number }[] = []
  const pages: Page[] = []
  const servers: Server[] = []
  const serve = async (robots: Answer, host: string): Promise<string> => {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://host')
      const { status, body, location } =
        pathname === '/robots.txt'
          ? robots
          : pathname === '/moved/robots.txt'
            ? { status: 200, body: OTHER_RULES, location: undefined }
            : { status: 200, body: pageOf(pathname, pages), location: undefined }
      if (!pathname.endsWith('robots.txt')) log.push({ url: `${origin}${request.url}`, at: performance.now() })
      response.writeHead(status, {
        'content-type': pathname.endsWith('robots.txt') ? 'text/plain' : 'text/html',
        ...(location !== undefined && { location }),
      })
      response.end(body)
    })
    await promisify<number, string>(server.listen.bind(server))(0, '127.0.0.1')
    servers.push(server)
    const origin = `http://${host}:${(server.address() as AddressInfo).port}`
    return origin
  }

  const site = await serve({ status: 200, body: SITE_RULES }, host)
  for (const path of ALLOWED) pages.push({ url: site + path, isAllowed: true, isOnSite: true })
  for (const path of DISALLOWED) pages.push({ url: site + path, isAllowed: false, isOnSite: true })
  for (const { robots, open } of OTHERS) {
    const origin = await serve(robots, '127.0.0.1')
    pages.push({ url: `${origin}/open`, isAllowed: open, isOnSite: false })
    pages.push({ url: `${origin}/private/list`, isAllowed: false, isOnSite: false })
  }
  return {
    index: `${site}/`,
    pages,
    log,
    close: async () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

/** Counts the requests to the site that came sooner than its crawl-delay allows. Timers may be 20 % early. */
export function tooSoon({ log, index }: Web): number {
  const times = log.filter(({ url }) => url.startsWith(index)).map(({ at }) => at)
  return times.filter((at, i) => i > 0 && at - (times[i - 1] ?? 0) < 0.8 * DELAY_MS).length
}

function pageOf(path: string, pages: readonly Page[]): string {
  const links = path === '/' ? pages.map(({ url }) => `<a href="${url}">${url}</a>`) : []
  return `<!doctype html><html lang="en"><title>${path}</title>${links.join('\n')}</html>`
}
