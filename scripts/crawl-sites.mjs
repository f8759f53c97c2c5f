// The sites of the demo (examples/polite-crawl) on one loopback address each, for the crawl that
// check-runtimes.mjs runs on each runtime. What the sites received decides: the crawler's own words
// don't count.

import { createServer } from 'node:http'

/** The crawler's own delay in runtime-programs.mjs. Milliseconds. */
const OWN_DELAY_MS = 400
/** How much less than the delay may be between two arrivals: the first request opens the connection. */
const LATENESS_MS = 300

const html = (...links) => [200, { 'content-type': 'text/html' }, links.map((to) => `<a href="${to}">x</a>`).join('')]
const text = (body) => [200, { 'content-type': 'text/plain' }, body]
const redirect = (to) => [302, { location: to }, '']

/**
 * By site: what it answers by path, given the origins; which paths the crawler must request, and the
 * delay that the site asks for.
 */
const SITES = {
  open: {
    '/robots.txt': () => text('User-agent: *\nDisallow:\n'),
    '/': ({ shop, none, down, moved, busy }) =>
      html('/about', `${shop}/`, `${none}/`, `${down}/`, `${moved}/`, `${busy}/`),
    '/about': () => html('/'),
    expected: ['/', '/about'],
  },
  shop: {
    '/robots.txt': () =>
      text(
        'User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nCrawl-delay: 1\nDisallow: /cart\nAllow: /cart/help\n',
      ),
    '/': () => html('/toys', '/cart', '/cart/help', '/checkout'),
    '/toys': () => html('/'),
    '/cart/help': () => html(),
    '/checkout': () => redirect('/cart/pay'), // the second hop is disallowed
    expected: ['/', '/cart/help', '/checkout', '/toys'],
    delayMs: 1_000,
  },
  none: { '/': () => html('/a', '/b'), '/a': () => html(), '/b': () => html(), expected: ['/', '/a', '/b'] },
  down: { '/robots.txt': () => [503, { 'retry-after': '120' }, ''], expected: [] },
  moved: {
    '/robots.txt': ({ rules }) => redirect(`${rules}/moved/robots.txt`),
    '/': () => html('/public', '/private'),
    '/public': () => html(),
    expected: ['/', '/public'],
  },
  rules: { '/moved/robots.txt': () => text('User-agent: *\nDisallow: /private\n'), expected: ['/moved/robots.txt'] },
  busy: {
    '/': () => html('/one'),
    '/one': () => [429, { 'retry-after': '1' }, ''],
    expected: ['/', '/one'],
  },
}

/** Starts the sites. `seed` is the URL at which a crawl begins. */
export async function startCrawlSites() {
  const received = []
  const servers = {}
  const origins = {}
  for (const [name, site] of Object.entries(SITES)) {
    const server = createServer(({ url, headers }, response) => {
      received.push({ name, path: url, userAgent: headers['user-agent'], at: performance.now() })
      const [status, head, body] = site[url]?.(origins) ?? [404, {}, '']
      response.writeHead(status, head).end(body)
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers[name] = server
    origins[name] = `http://127.0.0.1:${server.address().port}`
  }
  return {
    seed: `${origins.open}/`,
    /** Returns what was wrong with the crawl, by what the sites received. */
    problem: () =>
      Object.keys(SITES)
        .map((name) => problemOf(name, received))
        .find((found) => found !== undefined),
    close() {
      for (const server of Object.values(servers)) server.close().closeAllConnections()
    },
  }
}

function problemOf(name, received) {
  const { expected, delayMs = OWN_DELAY_MS } = SITES[name]
  const all = received.filter((request) => request.name === name)
  const stranger = all.find(({ userAgent }) => userAgent !== 'ExampleBot/1.0')
  if (stranger !== undefined) return `Error: ${name} received the User-Agent ${stranger.userAgent}`
  if (all[0]?.path !== '/robots.txt' && '/robots.txt' in SITES[name]) return `Error: ${name} received a page first`
  const pages = all.filter(({ path }) => path !== '/robots.txt')
  const paths = pages.map(({ path }) => path).sort()
  if (paths.join() !== expected.join()) return `Error: ${name} received ${paths} instead of ${expected}`
  const gaps = pages.slice(1).map(({ at }, i) => at - pages[i].at)
  const short = gaps.find((gap) => gap < delayMs - LATENESS_MS)
  return short === undefined ? undefined : `Error: ${name} received two pages within ${Math.round(short)} ms`
}
