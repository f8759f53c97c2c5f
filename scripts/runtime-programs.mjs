// What check-runtimes.mjs runs on each runtime: one program for each package, which gets the
// package's main entry point. A program throws if the package does not work. It uses nothing of a
// runtime but `fetch`; Deno has one more case.

const isWorkerd = globalThis.navigator?.userAgent === 'Cloudflare-Workers'
/** The code of an error about an option or entry that needs sockets, DNS lookups or undici. */
const UNSUPPORTED = 'ERR_POLITELY_RUNTIME'

export const programs = {
  '@politely/core': async ({ parseRobots }) => {
    const rules = parseRobots('User-agent: *\nDisallow: /cart\nCrawl-delay: 2').forCrawler('ExampleBot')
    expect('/cart', rules.isAllowed('/cart'), false)
    expect('/about', rules.isAllowed('https://example.com/about'), true)
    expect('the crawl-delay', rules.crawlDelayMs, 2_000)
  },
  '@politely/fetcher': async ({ dnsLookup, NetworkGuard, RobotsClient }, origin) => {
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
    const cart = await robots.check(`${origin}/cart`)
    expect('/cart', `${cart.allowed} ${cart.because} ${cart.access?.detail ?? ''}`.trim(), 'false rule')
    expect('/about', await robots.isAllowed(`${origin}/about`), true)
    await robots.close()
    if (!isWorkerd) return
    const userAgent = 'ExampleBot/1.0'
    const dispatcher = { dispatch: () => true }
    expect(
      'dispatcher',
      codeOf(() => new RobotsClient({ userAgent, dispatcher })),
      UNSUPPORTED,
    )
    expect(
      "robotsVia: 'own'",
      codeOf(() => new RobotsClient({ userAgent, robotsVia: 'own' })),
      UNSUPPORTED,
    )
    expect(
      'dnsLookup',
      codeOf(() => dnsLookup()),
      UNSUPPORTED,
    )
    const ftp = new RobotsClient({ userAgent, retries: 0 })
    expect('ftp:', (await ftp.check('ftp://127.0.0.1/a')).access?.reason, 'no-transport')
    await ftp.close()
    const { access } = await new RobotsClient({ userAgent, retries: 0 }).check('http://127.0.0.1:1/')
    expect('no hint about a fetch', /the fetch threw|robotsVia/.exec(access.detail)?.[0], undefined)
    const guard = new NetworkGuard({ network: 'public-only' })
    const refusal = await guard.refusalBeforehand('http://169.254.169.254/')
    expect('a private address', refusal?.code, 'ERR_POLITELY_BLOCKED_ADDRESS')
  },
  '@politely/gate': async ({ politeHttpAgent, politely }, origin) => {
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
    expect('/about', await fetch(`${origin}/about`).then(({ status }) => status, reasonOf), 200)
    expect('/cart', await fetch(`${origin}/cart`).then(({ status }) => status, reasonOf), 'ERR_POLITELY_DISALLOWED')
    if (globalThis.Deno) {
      // Its own fetch ignores dispatchers, and nothing can see that. So the agent warns.
      let warning
      process.once('warning', (given) => {
        warning = given
      })
      const { politeAgent } = await import('@politely/gate/undici')
      await politeAgent({ gate: fetch.gate }).close()
      await new Promise((resolve) => setTimeout(resolve))
      expect('the warning', warning?.code, 'POLITELY_DISPATCHER_IGNORED')
    }
    if (isWorkerd || globalThis.Bun) {
      const { politeAgent, politeInterceptor } = await import('@politely/gate/undici')
      expect(
        'politeAgent',
        codeOf(() => politeAgent({ gate: fetch.gate })),
        UNSUPPORTED,
      )
      expect(
        'politeInterceptor',
        codeOf(() => politeInterceptor(fetch.gate)),
        UNSUPPORTED,
      )
    }
    if (isWorkerd) {
      expect(
        'politeHttpAgent',
        codeOf(() => politeHttpAgent({}, fetch.gate)),
        UNSUPPORTED,
      )
      const byAddress = () => politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', paceBy: 'address' })
      expect("paceBy: 'address'", codeOf(byAddress), UNSUPPORTED)
    }
    await fetch.close()
  },
  politely: async ({ politely, describeVerdict }, origin) => {
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
    expect('/about', await fetch(`${origin}/about`).then(({ status }) => status, reasonOf), 200)
    const verdict = await fetch.gate.robots.check(`${origin}/cart`)
    const sentence = 'disallowed: line 2 of robots.txt says "Disallow: /cart" to *'
    expect('/cart', describeVerdict(verdict), sentence)
    await fetch.close()
    const plain = globalThis.fetch
    const everywhere = politely(plain, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
    globalThis.fetch = everywhere // requests for robots.txt must not wait for themselves
    const status = await globalThis.fetch(`${origin}/about`).then((response) => response.status, reasonOf)
    globalThis.fetch = plain
    expect('/about by globalThis.fetch', status, 200)
    await everywhere.close()
  },
  '@politely/testing': async ({ fakeWeb }) => {
    const web = fakeWeb({ 'https://site.example': { pages: { '/': 'a page' } } })
    expect('/', await (await web.fetch('https://site.example/')).text(), 'a page')
    expect('/robots.txt', (await web.fetch('https://site.example/robots.txt')).status, 404)
    expect('the log', web.requests.length, 2)
  },
  '@politely/robots-parser': async (entry) => {
    const robotsParser = entry.default ?? entry // `require` returns the function itself
    const robots = robotsParser('https://example.com/robots.txt', 'User-agent: *\nDisallow: /cart')
    expect('/cart', robots.isAllowed('https://example.com/cart', 'ExampleBot'), false)
  },
  '@politely/sqlite': async ({ SqliteStore }) => {
    const store = new SqliteStore({ path: `store-${Math.random()}.sqlite` })
    await store.set('https://example.com', 'a text', Date.now() + 60_000)
    expect('the stored text', await store.get('https://example.com'), 'a text')
    await store.close()
  },
  '@politely/cache': async ({ PageCache }, origin) => {
    const { politely } = await import('@politely/gate')
    const cache = new PageCache({ file: `pages-${Math.random()}.sqlite` })
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, cache })
    const text = await (await fetch(`${origin}/about`)).text()
    expect('the stored page', await (await cache.get(`${origin}/about`))?.text(), text)
    await fetch.close()
    await cache.close()
  },
  '@politely/web-bot-auth': async ({ signer, verify }) => {
    const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
    const key = await crypto.subtle.exportKey('jwk', pair.privateKey)
    const sign = signer({ key, agent: 'https://bot.example', profile: 'ietf-01', now: () => 0 })
    const request = { method: 'GET', url: 'https://example.com/' }
    const headers = await sign.sign(request)
    expect('the agent', headers['signature-agent'].startsWith('sig1="https://bot.example/'), true)
    expect('the reason', (await verify({ ...request, headers })).reason, 'expired')
  },
  '@politely/redis': async ({ RedisStore }) => {
    const texts = new Map()
    const commands = {
      SET: (key, value) => texts.set(key, value) && 'OK',
      GETRANGE: (key) => texts.get(key),
    }
    const store = new RedisStore({ client: { callBuffer: async (name, [key, value]) => commands[name](key, value) } })
    await store.set('https://example.com', 'a text', Date.now() + 60_000)
    expect('the stored text', await store.get('https://example.com'), 'a text')
  },
  '@politely/postgres': async ({ PostgresStore }) => {
    const texts = new Map()
    const functions = {
      robots_set: ({ origin, text }) => texts.set(origin, text) && { kind: 'done' },
      robots_get: ({ origin }) => ({ text: texts.get(origin) }),
    }
    const query = async (_, [requests]) => ({
      rows: JSON.parse(requests).map((request) => ({ reply: functions[request.op](request) })),
    })
    const store = new PostgresStore({ client: { query } })
    await store.set('https://example.com', 'a text', Date.now() + 60_000)
    expect('the stored text', await store.get('https://example.com'), 'a text')
  },
  '@politely/sitemaps': async ({ readSitemaps }) => {
    const text = '<urlset><url><loc>https://example.com/a</loc></url></urlset>'
    const reading = readSitemaps(new TextEncoder().encode(text), { base: 'https://example.com/sitemap.xml' })
    for await (const { loc } of reading) expect('the entry', loc, 'https://example.com/a')
    expect('the outcome', reading.files.list[0].outcome, 'complete')
  },
  '@politely/mcp': async ({ FetchTools }, origin) => {
    const { politeFetchTool } = await import('@politely/mcp/tool')
    const options = { userAgent: 'ExampleAgent/1.0', minDelayMs: 0, allowAddresses: ['127.0.0.0/8', '::1'] }
    const fetchUrl = politeFetchTool(options)
    expect('/about', (await fetchUrl.execute({ url: `${origin}/about` })).status, 200)
    expect('/cart', (await fetchUrl.execute({ url: `${origin}/cart` })).reason, 'robots.txt')
    await fetchUrl.close()
    const tools = new FetchTools({ userAgent: 'ExampleMCP/1.0' })
    const server = tools.createServer()
    expect('the server', typeof server.connect, 'function')
    await server.close()
    await tools.close()
  },
  '@politely/server': async ({ newToken, PolitelyServer }, origin) => {
    const { RobotsClient } = await import('@politely/fetcher')
    const { PoliteGate } = await import('@politely/gate')
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    await robots.check(origin)
    const server = new PolitelyServer({ gate, allowPrivate: true })
    const address = await server.listen({ port: 0 })
    const body = JSON.stringify({ requests: [{ url: `${origin}/about` }, { url: `${origin}/cart` }] })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${address}/v1/permits`, { method: 'POST', headers, body })
    const { results } = await response.json()
    expect('the states', results.map(({ state }) => state).join(), 'go,refused')
    expect('the line of a token', newToken('a').line.startsWith('a sha256:'), true)
    await server.close()
    gate.close()
    await robots.close()
  },
  '@politely/otel': async ({ PolitelyInstrumentation }, origin) => {
    const { politely } = await import('@politely/gate')
    const names = []
    const values = new Map()
    const instrument = (name) => ({ name, record: (value) => values.set(name, value) })
    const meter = {
      createHistogram: instrument,
      createObservableCounter: instrument,
      createObservableGauge: instrument,
      createObservableUpDownCounter: instrument,
      addBatchObservableCallback: (observe) => {
        meter.collect = () => observe({ observe: ({ name }, value) => values.set(name, value) })
      },
      removeBatchObservableCallback: () => {},
    }
    const span = { setAttributes: () => {}, setAttribute: () => {}, end: () => {} }
    const instrumentation = new PolitelyInstrumentation({ enabled: false })
    instrumentation.setMeterProvider({ getMeter: () => meter })
    instrumentation.setTracerProvider({ getTracer: () => ({ startSpan: (name) => names.push(name) && span }) })
    instrumentation.enable()
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
    await fetch(`${origin}/about`)
    meter.collect()
    expect('the spans', names.join(), 'politely.check,politely.robots.fetch')
    expect('the counter', values.get('politely.gate.started'), 1)
    expect('the histogram', values.get('politely.gate.wait.duration'), 0)
    instrumentation.disable()
    await fetch.close()
  },
  // Their own tests run these with the frameworks, on Node.
  '@politely/crawlee': isAdapter,
  '@politely/playwright': isAdapter,
  '@politely/puppeteer': isAdapter,
  '@politely/timeline': async ({ CrawlTimeline }) => expect('the text', new CrawlTimeline().text(), 'no requests\n'),
  '@politely/fleet': async ({ FleetPacer }) => expect('FleetPacer', typeof FleetPacer, 'function'),
  '@politely/cdp': async ({ guardBrowser }) => expect('guardBrowser', typeof guardBrowser, 'function'),
}

/** The demo's crawl: each page, and the pages that it links to. The sites judge it: crawl-sites.mjs. */
export async function crawl({ politely }, seed) {
  const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 400 })
  const seen = new Set()
  async function visit(url, redirectedFrom) {
    if (seen.has(url)) return
    seen.add(url)
    try {
      const response = await fetch(url, { redirectedFrom })
      const links = Array.from(
        (await response.text()).matchAll(/<a href="([^"]+)"/g),
        ([, to]) => new URL(to, url).href,
      )
      await Promise.all(links.map((link) => visit(link, [url])))
    } catch (error) {
      if (error.code !== 'ERR_POLITELY_DISALLOWED') throw error
    }
  }
  await visit(seed, [])
  await fetch.close()
}

async function isAdapter({ withRobots }) {
  expect('withRobots', typeof withRobots, 'function')
}

function codeOf(call) {
  try {
    call()
    return 'no error'
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error) {
  return error.code ?? String(error)
}

function expect(what, actual, expected) {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}
