// A small web on this machine: one server on loopback, several sites, told apart by the Host header.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'

export interface SmallWeb {
  /** Where a crawl begins. */
  readonly seed: string
  readonly origins: number
  /** Finds every site of this web, and nothing else: no name leaves this machine. */
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
        callback(Object.assign(new Error(`no site is called ${host}`), { code: 'ENOTFOUND' }), '')
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
    // Everything is open, and the front page leads to all the others.
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
    // Rules of several strengths, and a pause of a second between requests.
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
      // A redirect into what is disallowed: the first request is fine, the second must never be made.
      '/checkout': redirect(302, '/cart/pay'),
    }),
    // No robots.txt: everything may be fetched.
    'none.test': site({ '/': page('/a', '/b'), '/a': page(), '/b': page() }),
    // Down: nobody knows what robots.txt says, so nothing may be fetched.
    'down.test': (_request, response) => response.writeHead(503, { 'retry-after': '120' }).end(),
    // robots.txt is found two hosts further; its rules hold here all the same.
    'moved.test': site({
      robots: redirect(301, at('cdn.test', '/robots.txt')),
      '/': page('/public', '/private'),
      '/public': page(),
    }),
    'cdn.test': site({ robots: redirect(302, at('rules.test', '/moved/robots.txt')) }),
    'rules.test': site({ '/moved/robots.txt': text('User-agent: *\nDisallow: /private\n') }),
    // Takes its time.
    'slow.test': site({
      robots: (_request, response) => {
        setTimeout(() => response.end('User-agent: *\nDisallow: /never\n'), 1500)
      },
      '/': page('/never'),
    }),
    // Too busy for one of its pages, and says for how long.
    'busy.test': site({
      '/': page('/one', '/two', '/three'),
      '/one': (_request, response) => response.writeHead(429, { 'retry-after': '2' }).end(),
      '/two': page(),
      '/three': page(),
    }),
    // 5 MiB of rules; the first 500 KiB count.
    'huge.test': site({
      robots: text(`User-agent: *\nDisallow: /first\n${'Disallow: /filler\n'.repeat(290_000)}Disallow: /last\n`),
      '/': page('/first', '/last'),
      '/last': page(),
    }),
    // bücher.test, as it is asked for.
    'xn--bcher-kva.test': site({
      robots: text('User-agent: *\nDisallow: /geheim\n'),
      '/': page('/geheim', '/über'),
      '/%C3%BCber': page(),
    }),
  }
}

/** A site from its pages by path; `robots` is its robots.txt. */
function site({ robots, ...pages }: Readonly<Record<string, Site>>): Site {
  return (request, response) => {
    const answer = request.url === '/robots.txt' ? robots : pages[request.url ?? '']
    if (answer === undefined) response.writeHead(404).end('not here')
    else answer(request, response)
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
