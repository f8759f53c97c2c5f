// Demo sites on this machine: one server on loopback that chooses the site by the Host header.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'

export interface SmallWeb {
  /** The URL at which a crawl starts. */
  readonly seed: string
  readonly origins: number
  /** Resolves the demo sites only. No DNS query leaves this machine. */
  readonly lookup: LookupFunction
  close(): Promise<void>
}

type Site = (request: IncomingMessage, response: ServerResponse) => void

export async function startSmallWeb(): Promise<SmallWeb> {
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const site = sites(port)[host]
    if (site === undefined) response.writeHead(421).end('no such site')
    else site(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const names = Object.keys(sites(port))
  return {
    seed: `http://open.test:${port}/`,
    origins: names.length,
    lookup: (host, options, callback) => {
      if (!names.includes(host))
        callback(Object.assign(new Error(`there is no site ${host}`), { code: 'ENOTFOUND' }), '')
      else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
      else callback(null, '127.0.0.1', 4)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function sites(port: number): Readonly<Record<string, Site>> {
  const at = (host: string, path: string) => `http://${host}:${port}${path}`
  return {
    // Allows everything. Its front page links to all other sites.
    'open.test': site({
      robots: text('User-agent: *\nDisallow:\n'),
      '/': page(
        '/about',
        at('shop.test', '/'),
        at('none.test', '/'),
        at('down.test', '/'),
        at('moved.test', '/'),
        at('slow.test', '/'),
        at('busy.test', '/'),
        at('huge.test', '/'),
        at('bücher.test', '/'),
        at('nowhere.test', '/'),
        'mailto:somebody@open.test',
      ),
      '/about': page('/'),
    }),
    // Overlapping rules, and a crawl-delay of one second.
    'shop.test': site({
      robots: text(
        [
          'User-agent: *',
          'Disallow: /',
          '',
          'User-agent: PolitelyDemo',
          'Crawl-delay: 1',
          'Disallow: /cart',
          'Allow: /cart/help',
          'Disallow: /*?sort=',
          '',
        ].join('\n'),
      ),
      '/': page('/toys', '/toys?sort=price', '/cart', '/cart/help', '/checkout'),
      '/toys': page('/'),
      '/cart/help': page('/'),
      // A redirect to a disallowed page. The crawler may make the first request, but never the
      // second.
      '/checkout': redirect(302, '/cart/pay'),
    }),
    // No robots.txt, so everything is allowed.
    'none.test': site({ '/': page('/a', '/b'), '/a': page(), '/b': page() }),
    // Down: robots.txt is unreachable, so everything is disallowed.
    'down.test': (_request, response) => response.writeHead(503, { 'retry-after': '120' }).end(),
    // Its robots.txt redirects twice to other hosts. The rules apply to this site.
    'moved.test': site({
      robots: redirect(301, at('cdn.test', '/robots.txt')),
      '/': page('/public', '/private'),
      '/public': page(),
    }),
    'cdn.test': site({ robots: redirect(302, at('rules.test', '/moved/robots.txt')) }),
    'rules.test': site({ '/moved/robots.txt': text('User-agent: *\nDisallow: /private\n') }),
    // Responds slowly to robots.txt.
    'slow.test': site({
      robots: (_request, response) => {
        setTimeout(() => response.end('User-agent: *\nDisallow: /never\n'), 1500)
      },
      '/': page('/never'),
    }),
    // Responds to one page with 429 and Retry-After.
    'busy.test': site({
      '/': page('/one', '/two', '/three'),
      '/one': (_request, response) => response.writeHead(429, { 'retry-after': '2' }).end(),
      '/two': page(),
      '/three': page(),
    }),
    // A robots.txt of 5 MiB, of which the first 500 KiB apply.
    'huge.test': site({
      robots: text(`User-agent: *\nDisallow: /first\n${'Disallow: /filler\n'.repeat(290_000)}Disallow: /last\n`),
      '/': page('/first', '/last'),
      '/last': page(),
    }),
    // bücher.test, as A-labels.
    'xn--bcher-kva.test': site({
      robots: text('User-agent: *\nDisallow: /geheim\n'),
      '/': page('/geheim', '/über'),
      '/%C3%BCber': page(),
    }),
  }
}

/** Creates a site from handlers by path. `robots` handles /robots.txt. */
function site({ robots, ...pages }: Readonly<Record<string, Site>>): Site {
  return (request, response) => {
    const handler = request.url === '/robots.txt' ? robots : pages[request.url ?? '']
    if (handler === undefined) response.writeHead(404).end('not here')
    else handler(request, response)
  }
}

function text(body: string): Site {
  return (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body)
}

function page(...links: string[]): Site {
  const body = links.map((link) => `<a href="${link}">${link}</a>`).join('\n')
  return (_request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body)
}

function redirect(status: number, location: string): Site {
  return (_request, response) => response.writeHead(status, { location }).end()
}
