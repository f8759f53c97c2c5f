// What a page loads: checked where it goes to, and not held back by a pause.
import type { Reply } from '@politely/testkit'
import { htmlPage, redirectTo, scriptOf } from '@politely/testkit'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, failing, HOME, kit, OTHER, openContext, RULES, SLOW, startWeb } from './kits.ts'

const IMAGE: Reply = { status: 200, headers: { 'content-type': 'image/svg+xml' }, body: '<svg/>' }

describe.skipIf(noChromium)('what a page loads', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('is checked by the robots.txt of its own origin, whatever it is', async () => {
    const kinds = (
      path: string,
    ) => `<img src="${path}/image"><iframe src="${path}/frame"></iframe><link rel="prefetch" href="${path}/next">
      <link rel="stylesheet" href="${path}/style"><object data="${path}/object"></object>
      <script>fetch('${path}/data', { method: 'POST' }).catch(() => 0)
      navigator.sendBeacon('${path}/beacon'); new Worker('${path}/worker'); new SharedWorker('${path}/shared')
      new EventSource('${path}/events')</script>`
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${OTHER}/robots.txt`]: { status: 200, body: 'User-agent: *\nDisallow: /\n' },
      [`${HOME}/open`]: htmlPage(
        `${kinds('/private')}${kinds('/o')}<img src="${OTHER}/image"><iframe src="${OTHER}/frame"></iframe>`,
      ),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`), { waitUntil: 'networkidle0' })
    const kind = ['beacon', 'data', 'events', 'frame', 'image', 'next', 'object', 'shared', 'style', 'worker']
    expect(sites.askedPages.filter((url) => !url.endsWith('favicon.ico'))).toEqual([
      ...kind.map((name) => `${HOME}/o/${name}`),
      `${HOME}/open`,
    ])
  })

  it('is checked where its workers load it, too: dedicated, nested and shared ones', async () => {
    const loads = (name: string) => `fetch('/private/${name}').catch(() => 0).then(() => fetch('/by-${name}'))`
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage("<script>new Worker('/outer.js'); new SharedWorker('/shared.js')</script>"),
      [`${HOME}/outer.js`]: scriptOf(`${loads('outer')}; new Worker('/nested.js')`),
      [`${HOME}/nested.js`]: scriptOf(loads('nested')),
      [`${HOME}/shared.js`]: scriptOf(loads('shared')),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    await sites.requested(8) // robots.txt, the page, three scripts, three of what they load
    expect(sites.askedPages).toEqual(
      ['by-nested', 'by-outer', 'by-shared', 'nested.js', 'open', 'outer.js', 'shared.js'].map((it) => `${HOME}/${it}`),
    )
  })

  it('is checked in frames of other sites, which have a process of their own', async () => {
    const { sites, context } = await kit(browser, {
      [`${OTHER}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(`<iframe src="${OTHER}/frame"></iframe>`),
      [`${OTHER}/frame`]: htmlPage(`<img src="/private/image">
        <iframe src="/private/frame" onload="new Image().src = '/image'"></iframe>`),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    await sites.requested(5) // two of robots.txt, the page, the frame, and the last thing that it loads
    expect(sites.askedPages).toEqual([`${OTHER}/frame`, `${OTHER}/image`, `${HOME}/open`])
  })

  it('our choice: waits for no turn, and a page of a slow site is shown at once', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/robots.txt`]: SLOW,
      [`${HOME}/open`]: htmlPage('<img src="/1"><img src="/2"><iframe src="/frame"></iframe>'),
      [`${HOME}/1`]: IMAGE,
      [`${HOME}/2`]: IMAGE,
      [`${HOME}/frame`]: htmlPage(),
    })
    const tab = await context.newPage()
    expect((await tab.goto(sites.withPort(`${HOME}/open`)))?.status()).toBe(200)
    expect(sites.askedPages).toEqual([`${HOME}/1`, `${HOME}/2`, `${HOME}/frame`, `${HOME}/open`])
    expect(robots.gate.counters.left).toBe(1)
  })

  it('subresources: pass leaves it alone; pages are checked all the same', async () => {
    const { sites, context } = await kit(
      browser,
      {
        [`${HOME}/robots.txt`]: RULES,
        [`${HOME}/open`]: htmlPage(`<img src="/private/image"><img src="${OTHER}/image">`),
      },
      { ...CRAWLER, subresources: 'pass' },
    )
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    expect(sites.asked.toSorted()).toEqual([
      `${OTHER}/image`,
      `${HOME}/open`,
      `${HOME}/private/image`,
      `${HOME}/robots.txt`,
    ])
  })

  it.each(['check', 'pass'] as const)(
    'subresources: %s, a service worker and what it asks for are checked',
    async (subresources) => {
      const { sites, context } = await kit(
        browser,
        {
          [`${HOME}/robots.txt`]: RULES,
          [`${HOME}/open`]: htmlPage(`<script>
          navigator.serviceWorker.register('/worker.js')
          navigator.serviceWorker.oncontrollerchange = () => { document.title = 'controlled' }</script>`),
          [`${HOME}/worker.js`]: scriptOf(`addEventListener('activate', (event) => event.waitUntil(clients.claim()))
          addEventListener('fetch', (event) => event.respondWith(fetch(event.request.url.replace('/public', '/private'))))`),
          [`${HOME}/private/page`]: htmlPage(),
        },
        { ...CRAWLER, subresources },
      )
      const tab = await context.newPage()
      await tab.goto(sites.withPort(`${HOME}/open`))
      await tab.waitForFunction('document.title === "controlled"')
      await errorOf(tab.goto(sites.withPort(`${HOME}/public/page`)))
      await errorOf(tab.goto(sites.withPort(`${HOME}/private/page`)))
      await errorOf(tab.goto(sites.withPort(`${HOME}/open`)))
      expect(sites.askedPages).toEqual([`${HOME}/open`, `${HOME}/worker.js`])
    },
  )

  it('RFC 9309 §2.3.1.4: comes from no origin whose robots.txt is unreachable', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${OTHER}/robots.txt`]: { status: 503 },
      [`${HOME}/open`]: htmlPage(`<img src="${OTHER}/image">`),
    })
    const tab = await context.newPage()
    const failed = failing(tab)
    await tab.goto(sites.withPort(`${HOME}/open`))
    expect(robots.refusalOf(await failed)?.verdict.because).toBe('unreachable')
    expect(sites.askedPages).toEqual([`${HOME}/open`])
  })

  it('a WebSocket is not seen: its handshake is no request that can be stopped', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(
        `<script>new WebSocket('ws://localhost:PORT/private/socket').onerror = () => { document.title = 'over' }</script>`,
      ),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    await tab.waitForFunction('document.title === "over"')
    expect(sites.askedPages).toEqual([`${HOME}/open`, `${HOME}/private/socket`])
  })
})

describe.skipIf(noChromium)('contexts of one browser', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('are told apart, also by frames that share a process with their page', async () => {
    const sites = await startWeb({
      [`${HOME}/robots.txt`]: { status: 200, body: 'User-agent: one\nDisallow: /1\n\nUser-agent: two\nDisallow: /2\n' },
      [`${HOME}/open`]: htmlPage(
        '<iframe src="/frame"></iframe><iframe src="/1/frame"></iframe><iframe src="/2/frame"></iframe>',
      ),
      [`${HOME}/frame`]: htmlPage(
        '<img src="/1/image"><img src="/2/image"><script>fetch("/" + navigator.userAgent)</script>',
      ),
    })
    for (const userAgent of ['one', 'two', 'neither']) {
      const context = await openContext(browser)
      if (userAgent !== 'neither') await withRobots(context, { ...CRAWLER, userAgent })
      const tab = await context.newPage()
      await tab.setUserAgent({ userAgent })
      await tab.goto(sites.withPort(`${HOME}/open`), { waitUntil: 'networkidle0' })
    }
    const askedBy = (name: string) => {
      const mine = sites.requests.filter(({ headers }) => headers['user-agent'] === name)
      return [...new Set(mine.map(({ url }) => url.replace(HOME, '')))].sort()
    }
    expect(askedBy('one')).toEqual(['/2/frame', '/2/image', '/frame', '/one', '/open', '/robots.txt'])
    expect(askedBy('two')).toEqual(['/1/frame', '/1/image', '/frame', '/open', '/robots.txt', '/two'])
    expect(askedBy('neither')).toEqual(['/1/frame', '/1/image', '/2/frame', '/2/image', '/frame', '/neither', '/open'])
  })

  it('close each for itself', async () => {
    const sites = await startWeb({
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/private`]: htmlPage(),
      [`${HOME}/hop`]: redirectTo('/private'),
    })
    const [one, two] = [await openContext(browser), await openContext(browser)]
    const ofOne = await withRobots(one, CRAWLER)
    const ofTwo = await withRobots(two, CRAWLER)
    const [tabOne, tabTwo] = [await one.newPage(), await two.newPage()]
    await ofOne.close()
    expect((await tabOne.goto(sites.withPort(`${HOME}/hop`)))?.status()).toBe(200)
    expect(await errorOf(tabTwo.goto(sites.withPort(`${HOME}/hop`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    await ofTwo.close()
    const again = await withRobots(one, CRAWLER)
    expect(await errorOf(tabOne.goto(sites.withPort(`${HOME}/hop`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    await again.close()
  })
})
