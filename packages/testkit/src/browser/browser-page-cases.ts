// Navigations: the browser makes the requests itself, each hop of a redirect is checked, and no way
// bypasses the check.
import assert from 'node:assert/strict'
import { firstInShortRun } from '../scope.ts'
import { htmlPage, redirectTo } from '../servers/small-pages.ts'
import {
  assertRefused,
  type BrowserCase,
  CRAWLER,
  errorOf,
  HOME,
  nextFailure,
  OTHER,
  RULES,
  verdictOf,
} from './browser-fixture.ts'

const speculation = (path: string) => JSON.stringify({ prefetch: [{ urls: [path], eagerness: 'immediate' }] })

/** Names of the rules that the page of a case inserts by script. */
const INSERTED = ['shadow', 'namespaced', 'retyped', 'methods', 'closed', 'typed', 'text']

export const browserPageCases: readonly BrowserCase[] = [
  {
    name: 'a User-Agent of the browser that does not name the crawler causes one process warning for each gate',
    web: { '/1': htmlPage(), '/2': htmlPage() },
    run: async ({ sites, openPolite, at }) => {
      const warnings: Error[] = []
      const listen = (warning: Error) => void warnings.push(warning)
      process.on('warning', listen)
      try {
        const other = await openPolite({ ...CRAWLER, userAgent: 'OtherBot/1.0' })
        await other.tab.goto(at('/1'))
        await other.tab.goto(at('/2'))
        const named = await openPolite()
        await named.tab.goto(at('/1'))
        await new Promise((resolve) => setImmediate(resolve))
      } finally {
        process.off('warning', listen)
      }
      const sent = sites.requests.find(({ url }) => url.endsWith('/1'))?.headers['user-agent']
      assert.deepEqual(
        warnings.map(({ message }) => message),
        [
          `the User-Agent header of a request is "${sent}", but robots.txt is read for OtherBot; give the browser the same User-Agent as the RobotsClient: browser.newContext({ userAgent }) in Playwright, page.setUserAgent({ userAgent }) in Puppeteer, launchContext: { userAgent } in Crawlee, or Chromium's switch --user-agent`,
        ],
      )
    },
  },
  {
    name: 'a redirected page has the final URL, and the driver knows the redirects',
    web: {
      '/hop': { ...redirectTo('/there/'), headers: { location: '/step', 'set-cookie': 'hop=1' } },
      '/step': redirectTo(`${OTHER}/there/`, 301),
      [`${OTHER}/there/`]: htmlPage('<a id="next" href="next">next</a>'),
      [`${OTHER}/there/next`]: htmlPage(),
    },
    run: async ({ browser, sites, context, tab, at }) => {
      const response = await tab.goto(at('/hop#part'))
      assert(response !== null)
      assert.equal(withoutFragment(response.url()), at(`${OTHER}/there/`))
      assert.equal(tab.url(), at(`${OTHER}/there/#part`))
      assert.equal(await tab.evaluate('location.href'), tab.url())
      assert.deepEqual(browser.redirectsTo(response).map(withoutFragment), ['/hop', '/step'].map(at))
      assert.deepEqual(
        (await context.cookies()).map(({ name }) => name),
        ['hop'],
      )
      await tab.click('#next')
      await tab.waitForFunction('location.pathname === "/there/next"')
      const { url, headers } = sites.requests.at(-1) ?? {}
      assert.deepEqual([url, headers?.referer], [`${OTHER}/there/next`, at(`${OTHER}/there/`)])
    },
  },
  ...firstInShortRun(
    [
      { status: 303, method: 'GET', body: '' },
      { status: 307, method: 'POST', body: 'a=1' },
    ].map(
      ({ status, method, body }): BrowserCase => ({
        name: `a POST that is redirected with status ${status} continues as ${method} with the body "${body}"`,
        web: {
          '/form': htmlPage(
            '<form method="post" action="/send"><input name="a" value="1"><button>send</button></form>',
          ),
          '/send': redirectTo('/sent', status),
          '/sent': htmlPage('sent'),
        },
        run: async ({ sites, tab, at }) => {
          await tab.goto(at('/form'))
          const bodies = new Map<string, string>()
          tab.on('request', (request) => bodies.set(request.url(), request.postData() ?? ''))
          await tab.click('button')
          await tab.waitForFunction('location.pathname === "/sent"')
          assert.equal(sites.requests.at(-1)?.method, method)
          assert.equal(bodies.get(at('/sent')), body)
        },
        requested: ['/form', '/send', '/sent'],
      }),
    ),
  ),
  {
    name: 'a page is loaded whatever its status code, with and without a reason phrase',
    run: async ({ sites, tab, at }) => {
      for (const statusLine of ['520 Web Server Is Returning an Unknown Error', '599', '299 \xe9', '404']) {
        const path = `/${Number.parseInt(statusLine, 10)}`
        const head = `HTTP/1.1 ${statusLine}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n`
        sites.respond(`${HOME}${path}`, (socket) => void socket.end(`${head}<title>loaded</title>`, 'latin1'))
        assert.equal((await tab.goto(at(path)))?.status(), Number(path.slice(1)))
        await tab.waitForFunction('document.title === "loaded"')
      }
    },
  },
  {
    name: 'a refused goto rejects with the driver’s error as its cause, and the next goto works',
    web: { '/robots.txt': RULES, '/open': htmlPage(), '/hop': redirectTo('/private') },
    run: async ({ browser, tab, at }) => {
      for (const path of ['/private', '/hop', '/private']) {
        const error = await errorOf(tab.goto(at(path)))
        assert.equal(verdictOf(browser, error)?.because, 'rule')
        assert.match(String((error as Error).cause), new RegExp(browser.refusedPageMessage))
        assert.equal((await tab.goto(at('/open')))?.status(), 200)
      }
      // The refusal belongs to this goto, not to the previous one.
      await assertRefused(browser, tab.goto(at('/private')))
      await assert.rejects(tab.goto('no URL'), /invalid URL/)
    },
    requested: ['/hop', '/open'],
  },
  {
    name: 'reload and goBack reject with the verdict if the page is no longer allowed',
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage('<script>history.replaceState(0, "", "/private"); onunload = () => 0</script>', {
        'cache-control': 'no-store',
      }),
    },
    run: async ({ browser, tab, at }) => {
      await tab.goto(at('/open'))
      await assertRefused(browser, tab.reload())
      await tab.goto('about:blank')
      await assertRefused(browser, tab.goBack())
    },
    requested: ['/open'],
  },
  {
    name: 'a page that a click leads to is checked, and refusalOf returns why its request failed',
    web: { '/robots.txt': RULES, '/open': htmlPage('<a href="/hop#y">away</a>'), '/hop': redirectTo('/private#x') },
    run: async ({ robots, tab, at }) => {
      await tab.goto(at('/open'))
      const failed = nextFailure(tab)
      await tab.click('a')
      const { because, url } = robots.refusalOf(await failed)?.verdict ?? {}
      assert.deepEqual([because, url], ['rule', at('/private')])
    },
    requested: ['/hop', '/open'],
  },
  ...firstInShortRun(
    ['_blank', 'noopener'].map(
      (how): BrowserCase => ({
        name: `a popup (${how}) is checked from its first request on, at each hop`,
        wholeChromium: true,
        web: {
          '/robots.txt': RULES,
          '/open': htmlPage(),
          '/hop': redirectTo('/step'),
          '/step': redirectTo('/private'),
          '/private': htmlPage(),
          '/other': htmlPage('<img src="/private/image" onerror="fetch(`/over`)">'),
        },
        run: async ({ sites, tab, at, gateEvent }) => {
          await tab.goto(at('/open'))
          const open = (path: string) => tab.evaluate(`void window.open('${path}', '_blank', '${how}')`)
          for (const path of ['/private', '/hop']) {
            const refusal = gateEvent('refuse', '/private')
            await open(path)
            await refusal
          }
          await open('/other')
          await sites.requested(6)
        },
        requested: ['/hop', '/open', '/other', '/over', '/step'],
      }),
    ),
  ),
  {
    name: 'each of a dozen popups that open at once is checked',
    wholeChromium: true,
    web: { '/robots.txt': RULES, '/open': htmlPage() },
    run: async ({ tab, at, gateEvent }) => {
      await tab.goto(at('/open'))
      const paths = Array.from({ length: 12 }, (_, i) => `/private/${i}`)
      const all = paths.map((path) => gateEvent('refuse', path))
      await tab.evaluate(`for (const path of ${JSON.stringify(paths)}) window.open(path)`)
      await Promise.all(all)
    },
    requested: ['/open'],
  },
  {
    name: 'speculation rules of a page cause no requests',
    wholeChromium: true,
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage(
        `<script type="speculationrules">${speculation('/private/1')}</script><script>
          const s = document.createElement('script'); s.type = 'SpeculationRules'; s.textContent = '${speculation('/private/3')}'
          const around = document.createElement('div'); around.append(s); document.body.append(around); fetch('/last')</script>`,
        { 'speculation-rules': '"/rules.json"' },
      ),
      '/rules.json': {
        status: 200,
        headers: { 'content-type': 'application/speculationrules+json' },
        body: speculation('/private/2'),
      },
    },
    run: async ({ browser, tab, at }) => void (await tab.goto(at('/open'), { waitUntil: browser.networkIdle })),
    requested: ['/last', '/open'],
  },
  {
    name: 'speculation rules cause no requests, however a page inserts them',
    wholeChromium: true,
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage(`<div><template shadowrootmode="open"><p><template shadowrootmode="open">
          <script type="speculationrules">${speculation('/private/declarative')}</script></template></p></template></div>
        <div><script>0</script>text<template shadowrootmode="open">
          <script type="speculationrules">${speculation('/private/attached-later')}</script></template></div>
        <script>
          const texts = ${JSON.stringify(Object.fromEntries(INSERTED.map((name) => [name, speculation(`/private/${name}`)])))}
          const add = (parent, name) => {
            const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent = texts[name]; parent.append(s)
            return s
          }
          const element = (name) => document.body.appendChild(document.createElement(name))
          add(element('div').attachShadow({ mode: 'open' }), 'shadow')
          const closed = element('div').attachShadow({ mode: 'closed' })
          const namespaced = document.createElement('script')
          namespaced.setAttributeNS('urn:test', 'type', 'text/plain')
          namespaced.setAttributeNS(null, 'type', 'speculationrules')
          namespaced.textContent = texts.namespaced; document.body.append(namespaced)
          add(document.head, 'retyped').type = 'text/plain'
          const [typedLater, changed] = [element('script'), element('script')]
          changed.type = 'speculationrules'; changed.append('')
          Element.prototype.remove = () => {}
          Array.prototype[Symbol.iterator] = () => { throw new Error('no iteration') }
          RegExp.prototype.exec = () => null
          add(document.body, 'methods')
          setTimeout(() => {
            add(closed, 'closed')
            typedLater.type = 'speculationrules'; typedLater.append(texts.typed)
            changed.firstChild.data = texts.text
            fetch('/last')
          })</script>`),
    },
    run: async ({ browser, tab, at }) => void (await tab.goto(at('/open'), { waitUntil: browser.networkIdle })),
    requested: ['/last', '/open'],
  },
  {
    name: 'speculation rules that a page inserts after 10,000 nested shadow roots cause no requests',
    wholeChromium: true,
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage(`<div style="display: none"><template shadowrootmode="open" shadowrootclonable></template></div>
        <script>
          const host = document.querySelector('div')
          let outer = host
          for (let i = 0; i < 10_000; i++) {
            const inner = outer
            outer = host.cloneNode()
            outer.shadowRoot.append(inner)
          }
          document.body.append(outer)
          const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent = '${speculation('/private')}'
          document.body.append(s); fetch('/last')</script>`),
    },
    run: async ({ browser, tab, at }) => void (await tab.goto(at('/open'), { waitUntil: browser.networkIdle })),
    requested: ['/last', '/open'],
  },
  {
    name: 'a page that needs no network causes no request and takes no turn',
    run: async ({ sites, robots, tab }) => {
      for (const url of ['about:blank', 'data:text/html,here', import.meta.url]) await tab.goto(url)
      await tab.evaluate('location = URL.createObjectURL(new Blob(["x"]))')
      assert.deepEqual(sites.requestedUrls, [])
      assert.equal(robots.gate.counters.started, 0)
    },
  },
  {
    name: 'a page that was open before withRobots is guarded from then on, with its page requests',
    web: { '/robots.txt': RULES },
    run: async ({ browser, openContext, at, defer }) => {
      const context = await openContext()
      const tab = await context.newPage()
      const robots = await browser.withRobots(context, CRAWLER)
      defer(() => robots.close())
      const failed = nextFailure(tab)
      await tab.setContent(`<img src="${at('/private/image')}">`)
      assert.equal(robots.refusalOf(await failed)?.code, 'ERR_POLITELY_DISALLOWED')
      await assertRefused(browser, tab.goto(at('/private')))
    },
    requested: [],
  },
  {
    name: 'the browser’s cache is used',
    web: {
      '/open': htmlPage('<img src="/image">'),
      '/image': {
        status: 200,
        headers: { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=600' },
        body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      },
    },
    run: async ({ sites, context, at }) => {
      for (const _ of ['first', 'second']) {
        const tab = await context.newPage()
        await tab.goto(at('/open'))
        await tab.close()
      }
      assert.deepEqual(sites.requestedUrls.map((url) => url.replace(HOME, '')).sort(), [
        '/image',
        '/open',
        '/open',
        '/robots.txt',
      ])
    },
  },
]

/** Fragments are not sent, and not all drivers report them. */
function withoutFragment(url: string): string {
  return url.replace(/#.*/, '')
}
