// Service workers: switched off, since Chromium makes requests for them that cannot be stopped.
import assert from 'node:assert/strict'
import { type BrowserCase, CRAWLER, errorOf, type BrowserFixture, assertRefused } from './browser-fixture.ts'
import type { Reply } from './sites.ts'
import { htmlPage, scriptOf } from './small-pages.ts'

const RULES: Reply = { status: 200, body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 60\n' }

/** A worker that controls its pages as soon as it can. */
const controlling = (more: string) =>
  scriptOf(`addEventListener('install', (event) => { skipWaiting(); event.waitUntil(fetch('/by-worker').catch(() => 0)) })
  addEventListener('activate', (event) => event.waitUntil(registration.navigationPreload?.enable().then(() => clients.claim())))
  ${more}`)

/** Workers whose navigations Chromium asks for past the DevTools protocol. */
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

/** A page that tells in its title what became of its service worker. */
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
async function checkNavigations({ browser, robots, tab, at, gateEvent: told }: BrowserFixture): Promise<void> {
  const waits = told('wait', '/next')
  const visit = errorOf(tab.goto(at('/next')))
  await waits
  assert.partialDeepStrictEqual(robots.gate.queues(), [{ waiting: 1 }])
  await assertRefused(browser, tab.goto(at('/private/page')))
  assert((await visit) instanceof Error)
}

const registered = Object.entries(WORKERS).flatMap(([what, worker]): BrowserCase[] => [
  ...['check', 'ignore'].map(
    (pageRequests): BrowserCase => ({
      name: `pageRequests: ${pageRequests}, a service worker with ${what} is not registered, and its script is not asked for`,
      web: web(worker),
      options: { pageRequests },
      run: async (room) => {
        await room.tab.goto(room.at('/open'))
        await room.tab.waitForFunction('document.title === "TypeError"')
        await checkNavigations(room)
      },
      requested: ['/open'],
    }),
  ),
  {
    name: `a service worker with ${what} that was registered before is unregistered`,
    web: web(worker),
    run: async (room) => {
      const context = await room.openContext()
      const tab = (await context.newPage()) as BrowserFixture['tab']
      await tab.goto(room.at('/open'))
      await tab.waitForFunction('document.title === "controlled"')
      const robots = await room.browser.withRobots(context, CRAWLER)
      room.defer(() => robots.close())
      await tab.goto(room.at('/open'))
      await checkNavigations({ ...room, context, robots, tab })
    },
    requested: ['/by-worker', '/open', '/worker.js'],
  },
])

const backgroundFetch: BrowserCase = {
  name: 'a service worker that was registered before can start no Background Fetch, and is not updated',
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

export const browserServiceWorkerCases: readonly BrowserCase[] = [...registered, backgroundFetch]
