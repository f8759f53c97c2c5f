// Page requests other than navigations: they are checked by the robots.txt of their own origin, and
// do not wait. And the separation of contexts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from '../servers/sites.ts'
import { htmlPage, redirectTo, scriptOf } from '../servers/small-pages.ts'
import {
  assertRefused,
  type BrowserCase,
  CRAWLER,
  errorOf,
  HOME,
  nextFailure,
  OTHER,
  RULES,
  SLOW,
} from './browser-fixture.ts'

const IMAGE: Reply = { status: 200, headers: { 'content-type': 'image/svg+xml' }, body: '<svg/>' }

const KINDS = ['beacon', 'data', 'events', 'frame', 'image', 'next', 'object', 'shared', 'style', 'worker']
const kindsIn = (path: string) =>
  `<img src="${path}/image"><iframe src="${path}/frame"></iframe><link rel="prefetch" href="${path}/next">
  <link rel="stylesheet" href="${path}/style"><object data="${path}/object"></object>
  <script>fetch('${path}/data', { method: 'POST' }).catch(() => 0)
  navigator.sendBeacon('${path}/beacon'); new Worker('${path}/worker'); new SharedWorker('${path}/shared')
  new EventSource('${path}/events')</script>`
const fetchesBy = (name: string) => `fetch('/private/${name}').catch(() => 0).then(() => fetch('/by-${name}'))`

/** A page whose requests continue after it was closed: a redirect of `fetch`, and `fetchLater`. */
const LATE = htmlPage(`<script>fetch('/slow', { method: 'POST', keepalive: true }).catch(() => 0)
  try { fetchLater('/private/later') } catch {}</script>`)

export const browserLoadCases: readonly BrowserCase[] = [
  {
    name: 'page requests of every kind are checked by the robots.txt of their own origin',
    web: {
      '/robots.txt': RULES,
      [`${OTHER}/robots.txt`]: { status: 200, body: 'User-agent: *\nDisallow: /\n' },
      '/open': htmlPage(
        `${kindsIn('/private')}${kindsIn('/o')}<img src="${OTHER}/image"><iframe src="${OTHER}/frame"></iframe>`,
      ),
    },
    run: async ({ sites, tab, at, gateEvent }) => {
      const disallowed = [...KINDS.map((kind) => `/private/${kind}`), `${OTHER}/image`, `${OTHER}/frame`]
      const refusals = disallowed.map((url) => gateEvent('refuse', url))
      await tab.goto(at('/open'))
      await Promise.all(refusals)
      await sites.requested(3 + KINDS.length) // two robots.txt files, and the page
    },
    requested: [...KINDS.map((kind) => `/o/${kind}`), '/open'],
  },
  {
    name: 'requests of workers are checked: dedicated, nested and shared workers',
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage("<script>new Worker('/outer.js'); new SharedWorker('/shared.js')</script>"),
      '/outer.js': scriptOf(`${fetchesBy('outer')}; new Worker('/nested.js')`),
      '/nested.js': scriptOf(fetchesBy('nested')),
      '/shared.js': scriptOf(fetchesBy('shared')),
    },
    run: async ({ sites, tab, at }) => {
      await tab.goto(at('/open'))
      await sites.requested(8) // robots.txt, the page, three scripts, and one request by each
    },
    requested: ['/by-nested', '/by-outer', '/by-shared', '/nested.js', '/open', '/outer.js', '/shared.js'],
  },
  {
    name: 'requests of frames of other sites are checked, though the frames run in another process',
    web: {
      [`${OTHER}/robots.txt`]: RULES,
      '/open': htmlPage(`<iframe src="${OTHER}/frame"></iframe>`),
      [`${OTHER}/frame`]: htmlPage(`<img src="/private/image">
        <iframe src="/private/frame" onload="new Image().src = '/image'"></iframe>`),
    },
    run: async ({ sites, tab, at }) => {
      await tab.goto(at('/open'))
      await sites.requested(5) // two robots.txt files, the page, the frame, and the frame's last request
    },
    requested: ['/open', `${OTHER}/frame`, `${OTHER}/image`],
  },
  {
    name: 'our choice: page requests do not wait, so a page of a slow site loads at once',
    web: {
      '/robots.txt': SLOW,
      '/open': htmlPage('<img src="/1"><img src="/2"><iframe src="/frame"></iframe>'),
      '/1': IMAGE,
      '/2': IMAGE,
      '/frame': htmlPage(),
    },
    run: async ({ robots, tab, at }) => {
      assert.equal((await tab.goto(at('/open')))?.status(), 200)
      assert.equal(robots.gate.counters.started, 1)
    },
    requested: ['/1', '/2', '/frame', '/open'],
  },
  {
    name: 'with pageRequests: ignore, only navigations are checked',
    web: { '/robots.txt': RULES, '/open': htmlPage(`<img src="/private/image"><img src="${OTHER}/image">`) },
    options: { pageRequests: 'ignore' },
    run: async ({ browser, sites, tab, at }) => {
      await tab.goto(at('/open'))
      await assertRefused(browser, tab.goto(at('/private')))
      assert.equal(sites.requestedUrls.filter((url) => url.endsWith('/robots.txt')).length, 1)
    },
    requested: ['/open', '/private/image', `${OTHER}/image`],
  },
  {
    name: 'refuses page requests to an origin whose robots.txt is unreachable (RFC 9309 §2.3.1.4)',
    web: { [`${OTHER}/robots.txt`]: { status: 503 }, '/open': htmlPage(`<img src="${OTHER}/image">`) },
    run: async ({ robots, tab, at }) => {
      const failed = nextFailure(tab)
      await tab.goto(at('/open'))
      assert.equal(robots.refusalOf(await failed)?.verdict.because, 'unreachable')
    },
    requested: ['/open'],
  },
  {
    name: 'a redirect of a page request from a public site to a private address is refused before anything is sent there',
    web: {
      [`${OTHER}/open`]: htmlPage(`<img src="/image"><iframe src="/frame"></iframe>
        <script>fetch('/data', { mode: 'no-cors' }).catch(() => 0)</script>`),
      [`${OTHER}/data`]: redirectTo('/hop'),
    },
    options: { allowAddresses: ['127.0.0.1'] }, // so that it counts as public
    run: async ({ sites, robots, tab, at, defer }) => {
      const received: unknown[] = []
      const inside = createServer(({ url }, response) => {
        received.push(url)
        response.writeHead(404).end()
      })
      await once(inside.listen(0, '127.0.0.2'), 'listening')
      defer(() => inside.close())
      const url = `http://127.0.0.2:${(inside.address() as AddressInfo).port}/page`
      for (const name of ['image', 'frame', 'hop']) sites.respond(`${OTHER}/${name}`, redirectTo(url))
      const reasons: unknown[] = []
      const allFailed = new Promise<void>((resolve) => {
        tab.on('requestfailed', (request) => {
          reasons.push(robots.refusalOf(request)?.verdict.access?.reason)
          if (reasons.length === 3) resolve()
        })
      })
      await tab.goto(at(`${OTHER}/open`))
      await allFailed
      assert.deepEqual(reasons, ['blocked-address', 'blocked-address', 'blocked-address'])
      assert.deepEqual(received, [])
    },
  },
  {
    name: 'contexts of one browser are distinguished, also for frames that share a process with their page',
    web: {
      '/robots.txt': { status: 200, body: 'User-agent: one\nDisallow: /1\n\nUser-agent: two\nDisallow: /2\n' },
      '/be/one': htmlPage('', { 'set-cookie': 'be=one; Path=/' }),
      '/be/two': htmlPage('', { 'set-cookie': 'be=two; Path=/' }),
      '/be/neither': htmlPage('', { 'set-cookie': 'be=neither; Path=/' }),
      '/open': htmlPage(
        '<iframe src="/frame"></iframe><iframe src="/1/frame"></iframe><iframe src="/2/frame"></iframe>',
      ),
      '/frame': htmlPage('<img src="/1/image"><img src="/2/image"><script>fetch("/data")</script>'),
    },
    run: async ({ browser, sites, openContext, openPolite, at }) => {
      const tabs = {
        one: (await openPolite({ ...CRAWLER, userAgent: 'one' })).tab,
        two: (await openPolite({ ...CRAWLER, userAgent: 'two' })).tab,
        neither: await (await openContext()).newPage(),
      }
      const visits = Object.entries(tabs).map(async ([name, tab]) => {
        await tab.goto(at(`/be/${name}`))
        await tab.goto(at('/open'), { waitUntil: browser.networkIdle })
      })
      await Promise.all(visits)
      await sites.requested(22) // on a busy machine, some frames load later
      const requestedBy = (name: string) => {
        const own = sites.requests.filter(({ headers }) => headers.cookie === `be=${name}`)
        return [...new Set(own.map(({ url }) => url.replace(/.*:PORT/, '')))].sort()
      }
      assert.deepEqual(requestedBy('one'), ['/2/frame', '/2/image', '/data', '/frame', '/open'])
      assert.deepEqual(requestedBy('two'), ['/1/frame', '/1/image', '/data', '/frame', '/open'])
      assert.deepEqual(requestedBy('neither'), [
        '/1/frame',
        '/1/image',
        '/2/frame',
        '/2/image',
        '/data',
        '/frame',
        '/open',
      ])
      const robots = sites.requests.filter(({ url }) => url.endsWith('/robots.txt'))
      assert.deepEqual(robots.map(({ headers }) => headers['user-agent']).sort(), ['one', 'two'])
    },
  },
  {
    name: 'requests of a closed page are checked, also if all open pages belong to a context without a guard',
    wholeChromium: true,
    web: { '/robots.txt': RULES, '/open': LATE },
    run: async ({ sites, tab, openContext, at, gateEvent }) => {
      await (await openContext()).newPage()
      const { promise, resolve } = Promise.withResolvers<Reply>()
      sites.respond(`${HOME}/slow`, promise)
      const refusals = ['/private/later', '/private/redirected'].map((path) => gateEvent('refuse', path))
      await tab.goto(at('/open'))
      await sites.requested(3) // robots.txt, the page, and the request that is still open when the page is closed
      await tab.close()
      resolve(redirectTo('/private/redirected', 307))
      await Promise.race([Promise.all(refusals), sites.requested(4)])
    },
    requested: ['/open', '/slow'],
  },
  {
    name: 'requests of a closed page are not checked if its context has no guard',
    wholeChromium: true,
    web: { '/robots.txt': RULES, '/open': LATE },
    run: async ({ sites, openContext, at }) => {
      const tab = await (await openContext()).newPage()
      const { promise, resolve } = Promise.withResolvers<Reply>()
      sites.respond(`${HOME}/slow`, promise)
      await tab.goto(at('/open'))
      await sites.requested(2)
      await tab.close()
      resolve(redirectTo('/private/redirected', 307))
      await sites.requested(4)
    },
    requested: ['/open', '/private/later', '/private/redirected', '/slow'],
  },
  {
    name: 'contexts of one browser do not wait for a crashed or busy page of another context',
    web: {
      '/robots.txt': RULES,
      '/open': htmlPage('<iframe src="/frame"></iframe>'),
      '/frame': htmlPage('<img src="/private/image">'),
    },
    run: async ({ openContext, openPolite, at }) => {
      const other = await openContext()
      const [crashed, busy] = [await other.newPage(), await other.newPage()]
      await errorOf(crashed.goto('chrome://crash', { timeout: 2_000 })) // not all drivers report the crash at once
      await busy.goto('about:blank')
      void errorOf(busy.evaluate('for (;;);'))
      const { robots, tab } = await openPolite()
      assert.equal((await tab.goto(at('/open')))?.status(), 200)
      await robots.close()
    },
    requested: ['/frame', '/open'],
  },
  {
    name: 'a document is shown while it still arrives, also beside a page whose frames are refused all the time',
    web: {
      '/robots.txt': RULES,
      // Each refused frame brings the next, so that a busy machine keeps up with them.
      '/open': htmlPage(`<script>let frames = 0; const refuse = () => {
        const frame = document.createElement('iframe'); frame.src = '/private/' + frames++
        frame.onload = () => { frame.remove(); setTimeout(refuse, 10) }; document.body.append(frame) }; refuse()</script>`),
    },
    run: async ({ sites, context, tab, at, refusedUrls }) => {
      await tab.goto(at('/open'))
      // The browser slows the timers of a page behind another.
      const mayEnd = () => refusedUrls.length > 20
      for (let visits = 0; visits < 8 || (visits < 80 && !mayEnd()); visits++) {
        const url = `${OTHER}/${visits}`
        const shown = Promise.withResolvers<void>()
        sites.respond(url, async (socket) => {
          await sleep(250) // so that the document does not arrive with the first checks of a failed navigation
          socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>early</title>`)
          socket.write('x'.repeat(3_000))
          await shown.promise
          socket.end()
        })
        const page = await context.newPage()
        const visit = page.goto(at(url))
        await page.waitForFunction('document.title === "early"')
        shown.resolve()
        await visit
        await page.close()
      }
      assert.ok(mayEnd(), `only ${refusedUrls.length} frames were refused`)
    },
  },
  {
    name: 'guards of contexts of one browser close separately',
    web: { '/robots.txt': RULES, '/private': htmlPage(), '/hop': redirectTo('/private') },
    run: async ({ browser, context, robots, tab, openPolite, at, defer }) => {
      const other = await openPolite()
      await robots.close()
      assert.equal((await tab.goto(at('/hop')))?.status(), 200)
      await assertRefused(browser, other.tab.goto(at('/hop')))
      await other.robots.close()
      const again = await browser.withRobots(context, CRAWLER)
      defer(() => again.close())
      await assertRefused(browser, tab.goto(at('/hop')))
    },
  },
]
