// What check-runtimes.mjs runs on each runtime: one program for each package, which gets the
// package's main entry point. A program throws if the package does not work. It uses nothing of a
// runtime but `fetch`; Deno has one more case.

export const programs = {
  '@politely/core': async ({ parseRobots }) => {
    const rules = parseRobots('User-agent: *\nDisallow: /cart\nCrawl-delay: 2').forCrawler('ExampleBot')
    expect('/cart', rules.isAllowed('/cart'), false)
    expect('/about', rules.isAllowed('https://example.com/about'), true)
    expect('the crawl-delay', rules.crawlDelayMs, 2_000)
  },
  '@politely/fetcher': async ({ RobotsClient }, origin) => {
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
    const cart = await robots.check(`${origin}/cart`)
    expect('/cart', `${cart.allowed} ${cart.because} ${cart.access?.detail ?? ''}`.trim(), 'false rule')
    expect('/about', await robots.isAllowed(`${origin}/about`), true)
    await robots.close()
  },
  '@politely/gate': async ({ politely }, origin) => {
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
    await fetch.close()
  },
  politely: async ({ politely, describeVerdict }, origin) => {
    const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
    expect('/about', await fetch(`${origin}/about`).then(({ status }) => status, reasonOf), 200)
    const verdict = await fetch.gate.robots.check(`${origin}/cart`)
    const sentence = 'disallowed: line 2 of robots.txt says "Disallow: /cart" to *'
    expect('/cart', describeVerdict(verdict), sentence)
    await fetch.close()
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
  '@politely/sitemaps': async ({ readSitemaps }) => {
    const text = '<urlset><url><loc>https://example.com/a</loc></url></urlset>'
    const reading = readSitemaps(new TextEncoder().encode(text), { base: 'https://example.com/sitemap.xml' })
    for await (const { loc } of reading) expect('the entry', loc, 'https://example.com/a')
    expect('the outcome', reading.files.list[0].outcome, 'complete')
  },
  // Their own tests run these with the frameworks, on Node.
  '@politely/crawlee': isAdapter,
  '@politely/playwright': isAdapter,
  '@politely/puppeteer': isAdapter,
  '@politely/cdp': async ({ guardBrowser }) => expect('guardBrowser', typeof guardBrowser, 'function'),
}

async function isAdapter({ withRobots }) {
  expect('withRobots', typeof withRobots, 'function')
}

function reasonOf(error) {
  return error.code ?? String(error)
}

function expect(what, actual, expected) {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
}
