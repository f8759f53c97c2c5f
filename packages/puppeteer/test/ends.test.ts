// How waiting ends: who gives up leaves the queue, and what is over gives its place back.

import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import type { Reply } from '@politely/testkit'
import { htmlPage, redirectTo } from '@politely/testkit'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, failing, HOME, type Kit, kit, openContext, SLOW, startWeb, told } from './kits.ts'

/** A site with a long pause, of which one page has been asked for: the next one waits. */
const SLOW_WEB = {
  [`${HOME}/robots.txt`]: SLOW,
  [`${HOME}/1`]: htmlPage(),
  [`${HOME}/2`]: htmlPage(),
  [`${HOME}/3`]: htmlPage(),
}

interface Waiting extends Kit {
  readonly tab: Page
  readonly visit: Promise<unknown>
  readonly left: Promise<void>
  readonly giveUp: AbortController
}

/** A page that waits at the gate for its second visit. */
async function waiting(browser: Browser): Promise<Waiting> {
  const opened = await kit(browser, SLOW_WEB)
  const url = opened.sites.withPort(`${HOME}/2`)
  const [waits, left] = [told('wait', url), told('abandon', url)]
  const tab = await opened.context.newPage()
  await tab.goto(opened.sites.withPort(`${HOME}/1`))
  const giveUp = new AbortController()
  const visit = errorOf(tab.goto(url, { signal: giveUp.signal, timeout: 15_000 }))
  await waits
  return { ...opened, tab, visit, left, giveUp }
}

describe.skipIf(noChromium)('a page that waits', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it.each<readonly [string, (kit: Waiting) => unknown]>([
    ['its page is closed', ({ tab }) => tab.close()],
    ['its context is closed', ({ context }) => context.close()],
    ['its page goes elsewhere', ({ tab }) => tab.goto('data:text/html,elsewhere')],
    ['its page stops loading', async ({ tab }) => (await tab.createCDPSession()).send('Page.stopLoading')],
    ['its page crashes', async ({ tab }) => void errorOf((await tab.createCDPSession()).send('Page.crash'))],
    ['withRobots is closed', ({ robots }) => robots.close()],
  ])('leaves the queue when %s', async (_, end) => {
    const opened = await waiting(browser)
    await Promise.all([end(opened), opened.left])
    expect(await opened.visit).toBeInstanceOf(Error)
    expect(opened.robots.gate.queues()).toEqual([])
    expect(opened.sites.askedPages).toEqual([`${HOME}/1`])
  })

  it('leaves the queue when goto has a signal that is aborted, and rejects with its reason', async () => {
    const { visit, left, giveUp, tab, sites } = await waiting(browser)
    const reason = new Error('enough')
    giveUp.abort(reason)
    await left
    expect(await visit).toBe(reason)
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/3`), { signal: giveUp.signal }))).toBe(reason)
    expect(await tab.goto('about:blank')).toBeNull()
    expect(sites.askedPages).toEqual([`${HOME}/1`])
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
    // What the page does by itself later on is not given up with it.
    const waits = told('wait', sites.withPort(`${HOME}/3`))
    await tab.evaluate('void setTimeout(() => { location = "/3" })')
    await waits
    await tab.close()
  })

  it('for a hop of a redirect that nobody waits for any more is not asked for', async () => {
    const { sites, context, robots } = await kit(browser, { [`${HOME}/2`]: htmlPage() })
    const held = Promise.withResolvers<Reply>()
    sites.answer(`${HOME}/hop`, held.promise)
    const tab = await context.newPage()
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/hop`), { timeout: 500 }))).toMatchObject({
      name: 'TimeoutError',
    })
    const failed = failing(tab)
    held.resolve(redirectTo('/2'))
    expect((await failed).url()).toBe(sites.withPort(`${HOME}/2`))
    expect(robots.gate.queues()).toEqual([])
    expect(sites.askedPages).toEqual([`${HOME}/hop`])
    expect((await tab.goto(sites.withPort(`${HOME}/2`)))?.status()).toBe(200)
  })

  it('for another goto gives its place to that', async () => {
    const { sites, tab, visit, left, robots } = await waiting(browser)
    const waits = told('wait', sites.withPort(`${HOME}/3`))
    const next = errorOf(tab.goto(sites.withPort(`${HOME}/3`)))
    await Promise.all([left, waits])
    expect(await visit).toMatchObject({ message: expect.stringContaining('ERR_ABORTED') })
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

  it('for another goto is not told why that one was refused', async () => {
    const { sites, context } = await kit(browser, {
      ...SLOW_WEB,
      [`${HOME}/robots.txt`]: { status: 200, body: 'User-agent: *\nCrawl-delay: 60\nDisallow: /private\n' },
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/1`))
    const waits = told('wait', sites.withPort(`${HOME}/2`))
    const first = errorOf(tab.goto(sites.withPort(`${HOME}/2`)))
    await waits
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    expect(await first).toMatchObject({ message: expect.stringContaining('net::ERR_ABORTED') })
  })

  it.each<readonly [string, (browser: Browser) => Promise<unknown>]>([
    ['has been closed', (gone) => gone.close()],
    ['is no longer connected', (gone) => gone.disconnect()],
  ])('is let go when the browser %s', async (_, end) => {
    const another = await launch()
    try {
      const { visit, left, robots } = await waiting(another)
      await end(another)
      await left
      expect(await visit).toBeInstanceOf(Error)
      await robots.close()
      expect(robots.gate.queues()).toEqual([])
    } finally {
      another.process()?.kill('SIGKILL')
    }
  })
})

describe.skipIf(noChromium)('a page that is under way', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('gives its place back when its page is closed, goes elsewhere, or withRobots is closed', async () => {
    const { sites, context, robots } = await kit(browser, {})
    sites.answer(`${HOME}/hangs`, () => undefined)
    const url = sites.withPort(`${HOME}/hangs`)
    const ends = [(tab: Page) => tab.close(), (tab: Page) => tab.goto('data:text/html,x'), () => robots.close()]
    for (const end of ends) {
      const [left, done] = [told('leave', url), told('done', url)]
      const tab = await context.newPage()
      const visit = errorOf(tab.goto(url))
      await left
      expect(robots.gate.queues()).toMatchObject([{ underWay: 1 }])
      await Promise.all([end(tab), done])
      expect(robots.gate.queues()).toEqual([])
      if (!tab.isClosed()) await tab.close()
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

  it('gives its place back when it was a download', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/file`]: { status: 200, headers: { 'content-disposition': 'attachment' }, body: 'x' },
    })
    const done = told('done', sites.withPort(`${HOME}/file`))
    const tab = await context.newPage()
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/file`)))).toMatchObject({
      message: expect.stringContaining('ERR_ABORTED'),
    })
    await done
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

  it('leaves the pages as they were', async () => {
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
    expect(await tab.$$('script')).toHaveLength(1)
    const later = await context.newPage()
    expect((await later.goto(sites.withPort(`${HOME}/1`)))?.status()).toBe(200)
    expect(Object.hasOwn(later, 'goto')).toBe(false)
    expect(sites.asked).toEqual([`${HOME}/1`, `${HOME}/1`])
  })

  it('leaves a goto that another has put over ours where it is', async () => {
    const { sites, context, robots } = await kit(browser, { [`${HOME}/1`]: htmlPage() })
    const tab = await context.newPage()
    const ours = tab.goto.bind(tab)
    const theirs: Page['goto'] = (...args) => ours(...args)
    tab.goto = theirs
    await robots.close()
    expect(tab.goto).toBe(theirs)
    expect((await tab.goto(sites.withPort(`${HOME}/1`)))?.status()).toBe(200)
  })

  it('ends what was made; what was given stays its owner’s', async () => {
    const sites = await startWeb({ [`${HOME}/1`]: htmlPage() })
    const url = sites.withPort(`${HOME}/1`)
    const made = await withRobots(await openContext(browser), CRAWLER)
    await made.close()
    expect(await errorOf(made.gate.enter(url))).toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })

    await using robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    await using gate = new PoliteGate({ robots, minDelayMs: 0 })
    const polite = await withRobots(await openContext(browser), { gate })
    expect(polite.gate).toBe(gate)
    await polite.close()
    ;(await gate.enter(url)).leave()
  })

  it('comes with the end of the browser', async () => {
    const another = await launch()
    const robots = await withRobots(another, CRAWLER)
    await another.close()
    expect(await errorOf(robots.gate.enter('http://localhost:1/'))).toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  })

  it('of a gate or a RobotsClient of your own under a context lets nothing through, and says so', async () => {
    const sites = await startWeb({ [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage() })
    for (const [closed, code] of [
      ['gate', 'ERR_POLITELY_GATE_CLOSED'],
      ['robots', 'ERR_POLITELY_CLOSED'],
    ]) {
      await using robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
      await using gate = new PoliteGate({ robots, minDelayMs: 0 })
      const context = await openContext(browser)
      await using _ = await withRobots(context, { gate })
      const tab = await context.newPage()
      if (closed === 'gate') gate.close()
      else await robots.close()
      expect(await errorOf(tab.goto(sites.withPort(`${HOME}/1`)))).toMatchObject({ code })
    }
    expect(sites.asked).toEqual([])
  })
})
