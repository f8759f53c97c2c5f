// How waiting ends: who gives up leaves the queue, and what is over gives its place back.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import type { Reply } from '@politely/testkit'
import { htmlPage, redirectTo } from '@politely/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, HOME, type Kit, kit, OTHER, openContext, startWeb } from './kits.ts'

/** A site with a long pause, of which one page has been asked for: the next one waits. */
const SLOW_WEB = {
  [`${HOME}/robots.txt`]: { status: 200, body: 'User-agent: *\nCrawl-delay: 60\nDisallow: /private\n' },
  [`${HOME}/1`]: htmlPage(),
  [`${HOME}/2`]: htmlPage(),
  [`${HOME}/3`]: htmlPage(),
}

/** Resolves when a gate says this of a URL. */
function told(what: 'wait' | 'abandon' | 'leave' | 'done', url: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const name = `politely:gate:${what}`
  const hear = (message: unknown) => {
    if ((message as { readonly url: string }).url === url) resolve()
  }
  subscribe(name, hear)
  onTestFinished(() => void unsubscribe(name, hear))
  return promise
}

/** A page that waits at the gate for its second visit. */
async function waiting(
  browser: Browser,
): Promise<Kit & { readonly tab: Page; readonly visit: Promise<unknown>; readonly left: Promise<void> }> {
  const opened = await kit(browser, SLOW_WEB)
  const url = opened.sites.withPort(`${HOME}/2`)
  const [waits, left] = [told('wait', url), told('abandon', url)]
  const tab = await opened.context.newPage()
  await tab.goto(opened.sites.withPort(`${HOME}/1`))
  const visit = errorOf(tab.goto(url))
  await waits
  return { ...opened, tab, visit, left }
}

describe.skipIf(noChromium)('a page that waits', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it.each<readonly [string, (kit: Kit & { readonly tab: Page }) => Promise<unknown>]>([
    ['its page is closed', ({ tab }) => tab.close()],
    ['its context is closed', ({ context }) => context.close()],
    ['its page goes elsewhere', ({ tab }) => tab.goto('data:text/html,elsewhere')],
    ['its page stops loading', async ({ tab, context }) => (await context.newCDPSession(tab)).send('Page.stopLoading')],
    ['its page crashes', ({ tab }) => Promise.race([errorOf(tab.goto('chrome://crash')), tab.waitForEvent('crash')])],
    ['withRobots is closed', ({ robots }) => robots.close()],
  ])('leaves the queue when %s', async (_, end) => {
    const opened = await waiting(browser)
    await Promise.all([end(opened), opened.left])
    expect(await opened.visit).toBeInstanceOf(Error)
    expect(opened.robots.gate.queues()).toEqual([])
    expect(opened.sites.askedPages).toEqual([`${HOME}/1`])
  })

  it('leaves the queue when goto has a timeout that is shorter', async () => {
    const { sites, context, robots } = await kit(browser, SLOW_WEB)
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/1`))
    const left = told('abandon', sites.withPort(`${HOME}/2`))
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/2`), { timeout: 500 }))).toMatchObject({
      name: 'TimeoutError',
    })
    await left
    expect(robots.gate.queues()).toEqual([])
  })

  it('for a hop of a redirect that nobody waits for any more is not asked for', async () => {
    const { sites, context, robots } = await kit(browser, { [`${HOME}/2`]: htmlPage() })
    const held = Promise.withResolvers<Reply>()
    sites.answer(`${HOME}/hop`, held.promise)
    const tab = await context.newPage()
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/hop`), { timeout: 500 }))).toMatchObject({
      name: 'TimeoutError',
    })
    const failing = tab.waitForEvent('requestfailed')
    held.resolve(redirectTo('/2'))
    expect((await failing).url()).toBe(sites.withPort(`${HOME}/2`))
    expect(robots.gate.queues()).toEqual([])
    expect(sites.askedPages).toEqual([`${HOME}/hop`])
    expect((await tab.goto(sites.withPort(`${HOME}/2`)))?.status()).toBe(200)
  })

  it('for another goto gives its place to that', async () => {
    const { sites, tab, visit, left, robots } = await waiting(browser)
    const waits = told('wait', sites.withPort(`${HOME}/3`))
    const next = errorOf(tab.goto(sites.withPort(`${HOME}/3`)))
    await Promise.all([left, waits])
    expect(await visit).toMatchObject({ message: expect.stringMatching(/ERR_ABORTED|interrupted/) })
    expect(robots.gate.queues()).toMatchObject([{ waiting: 1, underWay: 0 }])
    await tab.close()
    expect(await next).toBeInstanceOf(Error)
  })

  it.each(['data:text/html,elsewhere', 'about:blank'])('by itself leaves the queue when it goes to %s', async (url) => {
    const { sites, context, robots } = await kit(browser, SLOW_WEB)
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/1`))
    const [waits, left] = (['wait', 'abandon'] as const).map((what) => told(what, sites.withPort(`${HOME}/2`)))
    await tab.evaluate('void setTimeout(() => { location = "/2" })')
    await waits
    await tab.goto(url)
    await left
    expect(robots.gate.queues()).toEqual([])
    expect(sites.askedPages).toEqual([`${HOME}/1`])
  })

  it('is not told of a refusal that is another goto’s', async () => {
    const { sites, tab, visit } = await waiting(browser)
    // Its robots.txt is known, so that the refusal is there at once.
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    expect(await visit).not.toHaveProperty('verdict')
  })

  it('is let go when the browser has gone', async () => {
    const another = await launch()
    const { visit, left, robots } = await waiting(another)
    await another.close()
    await left
    expect(await visit).toBeInstanceOf(Error)
    await robots.close()
    expect(robots.gate.queues()).toEqual([])
  })
})

describe.skipIf(noChromium)('a page that is under way', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('gives its place back when its page is closed, goes elsewhere or stops, or withRobots is closed', async () => {
    const { sites, context, robots } = await kit(browser, {})
    sites.answer(`${HOME}/hangs`, () => undefined)
    const url = sites.withPort(`${HOME}/hangs`)
    const stop = async (tab: Page) => (await context.newCDPSession(tab)).send('Page.stopLoading')
    const ends = [(tab: Page) => tab.close(), (tab: Page) => tab.goto('about:blank'), stop, () => robots.close()]
    for (const end of ends) {
      const [left, done] = [told('leave', url), told('done', url)]
      const tab = await context.newPage()
      const visit = errorOf(tab.goto(url))
      await left
      expect(robots.gate.queues()).toMatchObject([{ underWay: 1 }])
      await Promise.all([end(tab), done])
      expect(robots.gate.queues()).toEqual([])
      await tab.close()
      expect(await visit).toBeInstanceOf(Error)
    }
  })

  it('by itself gives its place back when it goes elsewhere', async () => {
    const { sites, context, robots } = await kit(browser, { [`${HOME}/1`]: htmlPage() })
    sites.answer(`${HOME}/hangs`, () => undefined)
    const url = sites.withPort(`${HOME}/hangs`)
    const [left, done] = [told('leave', url), told('done', url)]
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/1`))
    await tab.evaluate('void setTimeout(() => { location = "/hangs" })')
    await left
    await tab.goto('data:text/html,elsewhere')
    await done
    expect(robots.gate.queues()).toEqual([])
  })

  it('gives its place back when nobody answers', async () => {
    const { sites, context, robots } = await kit(browser, {})
    sites.answer(`${HOME}/broken`, (socket) => socket.destroy())
    const tab = await context.newPage()
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/broken`)))).toMatchObject({
      message: expect.stringContaining('ERR_EMPTY_RESPONSE'),
    })
    expect(robots.gate.queues()).toEqual([])
  })

  it.each([429, 503])('and is answered by %i slows its origin down by Retry-After', async (status) => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/busy`]: { ...htmlPage('busy'), status, headers: { 'content-type': 'text/html', 'Retry-After': '30' } },
    })
    const tab = await context.newPage()
    expect((await tab.goto(sites.withPort(`${HOME}/busy`)))?.status()).toBe(status)
    const plan = await robots.gate.when(sites.withPort(`${HOME}/1`))
    expect(plan).toMatchObject({ allowed: true, because: 'retry-after' })
  })
})

describe.skipIf(noChromium)('close', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('leaves the context as it was', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/robots.txt`]: { status: 200, body: 'User-agent: *\nDisallow: /\n' },
      [`${HOME}/1`]: htmlPage('<script type="speculationrules">{}</script>'),
    })
    const tab = await context.newPage()
    expect(Object.hasOwn(tab, 'goto')).toBe(true)
    await robots.close()
    await robots.close()
    expect(Object.hasOwn(tab, 'goto')).toBe(false)
    expect((await tab.goto(sites.withPort(`${HOME}/1`)))?.status()).toBe(200)
    expect(await tab.locator('script').count()).toBe(1)
    expect(sites.asked).toEqual([`${HOME}/1`])
  })

  it('lets nothing go that still waits for an answer about robots.txt', async () => {
    const images = Array.from({ length: 20 }, (_, i) => `<img src="${OTHER}/${i}">`).join('')
    const { sites, context, robots } = await kit(browser, { [`${HOME}/1`]: htmlPage(images) })
    const held = Promise.withResolvers<Reply>()
    onTestFinished(() => held.resolve({ status: 404 }))
    sites.answer(`${OTHER}/robots.txt`, held.promise)
    const tab = await context.newPage()
    const checks = vi.spyOn(robots.gate, 'check')
    let failed = 0
    const allFailed = new Promise<void>((resolve) => tab.on('requestfailed', () => ++failed === 20 && resolve()))
    await tab.goto(sites.withPort(`${HOME}/1`), { waitUntil: 'commit' })
    await sites.requested(3)
    await expect.poll(() => checks.mock.calls.length).toBe(20)
    await robots.close()
    await allFailed
    expect(sites.askedPages).toEqual([`${HOME}/1`])
  })

  it('ends what was made, also with the context; what was given stays its owner’s', async () => {
    const sites = await startWeb({ [`${HOME}/1`]: htmlPage() })
    const url = sites.withPort(`${HOME}/1`)
    const made = await openContext(browser)
    const own = await withRobots(made, CRAWLER)
    await made.close()
    const closed = { code: 'ERR_POLITELY_GATE_CLOSED' }
    await expect.poll(() => errorOf(own.gate.when(url))).toMatchObject(closed)

    await using robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    await using gate = new PoliteGate({ robots, minDelayMs: 0 })
    const given = await openContext(browser)
    const polite = await withRobots(given, { gate })
    expect(polite.gate).toBe(gate)
    await polite.close()
    ;(await gate.enter(url)).leave()
  })

  it('of a gate or a RobotsClient of your own under a context lets nothing through, and says so', async () => {
    const sites = await startWeb({ [`${HOME}/1`]: htmlPage() })
    const url = sites.withPort(`${HOME}/1`)
    for (const [closed, code] of [
      ['gate', 'ERR_POLITELY_GATE_CLOSED'],
      ['robots', 'ERR_POLITELY_CLOSED'],
    ]) {
      await using robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
      await using gate = new PoliteGate({ robots, minDelayMs: 0 })
      const context = await openContext(browser)
      await withRobots(context, { gate })
      const tab = await context.newPage()
      if (closed === 'gate') gate.close()
      else await robots.close()
      expect(await errorOf(tab.goto(url))).toMatchObject({ code })
    }
    expect(sites.asked).toEqual([])
  })
})
