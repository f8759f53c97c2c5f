// Service workers are switched off, because Chromium makes requests for them that cannot be
// stopped.
import assert from 'node:assert/strict'
import { firstInShortRun } from '../scope.ts'
import type { Reply } from '../servers/sites.ts'
import { htmlPage, scriptOf } from '../servers/small-pages.ts'
import { assertRefused, type BrowserCase, type BrowserFixture, CRAWLER, errorOf } from './browser-fixture.ts'

const RULES: Reply = { status: 200, body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 60\n' }

/** A worker that controls its pages as early as possible. */
const controlling = (more: string) =>
  scriptOf(`addEventListener('install', (event) => { skipWaiting(); event.waitUntil(fetch('/by-worker').catch(() => 0)) })
  addEventListener('activate', (event) => event.waitUntil(registration.navigationPreload?.enable().then(() => clients.claim())))
  ${more}`)

/** Workers for which Chromium makes navigation requests that bypass the DevTools protocol. */
const WORKERS: Readonly<Record<string, Reply>> = {
  'navigation preload': controlling(`addEventListener('fetch', (event) => {
    if (event.request.mode === 'navigate') event.respondWith(event.preloadResponse.then((it) => it ?? Response.error()))
  })`),
  'a static route that races the network': controlling(`
    addEventListener('install', (event) => event.addRoutes([
      { condition: { urlPattern: '/*' }, source: 'race-network-and-fetch-handler' },
    ]))
    addEventListener('fetch', (event) => event.respondWith(new Promise(() => 0)))`),
}

/** A page that writes the outcome of its service worker's registration to its title. */
const REGISTERING = htmlPage(`<script>
  navigator.serviceWorker.oncontrollerchange = () => { document.title = 'controlled' }
  navigator.serviceWorker.register('/worker.js').catch((error) => { document.title = error.name })</script>`)

const web = (worker: Reply): Readonly<Record<string, Reply>> => ({
  '/robots.txt': RULES,
  '/open': REGISTERING,
  '/next': htmlPage(),
  '/private/page': htmlPage(),
  '/worker.js': worker,
})

/** Checks that a page waits for its turn and that a disallowed page is refused. */
async function checkNavigations({ browser, robots, tab, at, gateEvent }: BrowserFixture): Promise<void> {
  const waiting = gateEvent('wait', '/next')
  const visit = errorOf(tab.goto(at('/next')))
  await waiting
  assert.partialDeepStrictEqual(robots.gate.queues(), [{ waiting: 1 }])
  await assertRefused(browser, tab.goto(at('/private/page')))
  assert((await visit) instanceof Error)
}

const notRegistered = firstInShortRun(Object.entries(WORKERS)).flatMap(([what, worker]) =>
  firstInShortRun(
    ['check', 'ignore'].map(
      (pageRequests): BrowserCase => ({
        name: `with pageRequests: ${pageRequests}, a service worker with ${what} is not registered, and its script is not requested`,
        web: web(worker),
        options: { pageRequests },
        run: async (fixture) => {
          await fixture.tab.goto(fixture.at('/open'))
          await fixture.tab.waitForFunction('document.title === "TypeError"')
          await checkNavigations(fixture)
        },
        requested: ['/open'],
      }),
    ),
  ),
)

const unregistered = firstInShortRun(Object.entries(WORKERS)).map(
  ([what, worker]): BrowserCase => ({
    name: `a service worker with ${what} that was registered before is unregistered`,
    web: web(worker),
    run: async (fixture) => {
      const context = await fixture.openContext()
      const tab = (await context.newPage()) as BrowserFixture['tab']
      await tab.goto(fixture.at('/open'))
      await tab.waitForFunction('document.title === "controlled"')
      const robots = await fixture.browser.withRobots(context, CRAWLER)
      fixture.defer(() => robots.close())
      await tab.goto(fixture.at('/open'))
      await checkNavigations({ ...fixture, context, robots, tab })
    },
    requested: ['/by-worker', '/open', '/worker.js'],
  }),
)

const backgroundFetch: BrowserCase = {
  name: 'a service worker that was registered before cannot start a Background Fetch, and is not updated',
  web: { ...web(controlling('')), '/private/file': { status: 200, body: 'x' } },
  run: async ({ browser, openContext, at, defer }) => {
    const context = await openContext()
    const tab = await context.newPage()
    await tab.goto(at('/open'))
    await tab.waitForFunction('document.title === "controlled"')
    await tab.evaluate('navigator.serviceWorker.ready.then((it) => { globalThis.registration = it })')
    const robots = await browser.withRobots(context, CRAWLER)
    defer(() => robots.close())
    const outcomes = await tab.evaluate(`Promise.allSettled([
      registration.backgroundFetch.fetch('it', ['/private/file']), registration.update(),
    ]).then((outcomes) => outcomes.map(({ status }) => status))`)
    assert.deepEqual(outcomes, ['rejected', 'rejected'])
  },
  requested: ['/by-worker', '/open', '/worker.js'],
}

export const browserServiceWorkerCases: readonly BrowserCase[] = [...notRegistered, ...unregistered, backgroundFetch]
