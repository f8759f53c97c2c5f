// @module-tag full
// @module-tag browser
// Which targets withRobots accepts: a browser, or one of its contexts.
import { CRAWLER, errorOf, HOME, RULES } from '@politely/testkit/browser/browser-fixture'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { htmlPage } from '@politely/testkit/servers/small-pages'
import type { BrowserContext } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium, openTestFixture } from './puppeteer-under-test.ts'

const REFUSED = { code: 'ERR_POLITELY_DISALLOWED' }

describe.skipIf(noChromium)('withRobots', () => {
  const browser = useOneBrowser(launch)

  it('rejects a page, and a value that is not an object of Puppeteer', async () => {
    const { tab } = await openTestFixture(browser())
    for (const target of [tab, undefined, null, {}]) {
      expect(await errorOf(withRobots(target as unknown as BrowserContext, CRAWLER))).toMatchObject({
        code: 'ERR_POLITELY_OPTION',
        message: expect.stringContaining('for a page withRobots(page.browserContext(), { userAgent })'),
      })
    }
  })

  it('rejects a target that is polite already, or whose browser or context is', async () => {
    const { context, robots } = await openTestFixture(browser())
    const twice = { message: expect.stringContaining('target: is polite already') }
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject(twice)
    expect(await errorOf(withRobots(browser().driverBrowser, CRAWLER))).toMatchObject(twice)
    await robots.close()
    await using _ = await withRobots(browser().driverBrowser, CRAWLER)
    expect(await errorOf(withRobots(browser().driverBrowser, CRAWLER))).toMatchObject(twice)
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject(twice)
  })

  it('rejects a closed browser', async () => {
    const gone = await launch()
    await gone.close()
    expect(await errorOf(withRobots(gone.driverBrowser, CRAWLER))).toBeInstanceOf(Error)
  })

  it('rejects a browser that uses WebDriver BiDi', async () => {
    const other = await launch({ protocol: 'webDriverBiDi' })
    try {
      expect(await errorOf(withRobots(other.driverBrowser, CRAWLER))).toMatchObject({
        code: 'ERR_POLITELY_OPTION',
        message: expect.stringContaining('does not support the DevTools protocol'),
      })
    } finally {
      await other.close()
    }
  })

  it('guards a page that Puppeteer has lost', async () => {
    const { sites, openContext, at } = await openTestFixture(browser(), { '/robots.txt': RULES, '/open': htmlPage() })
    const context = await openContext()
    const tab = await context.newPage()
    await tab.goto(at('/open'))
    const sessions = await Promise.all([tab.createCDPSession(), tab.createCDPSession()])
    for (const session of sessions) await session.detach()
    expect(await context.pages()).toEqual([])
    await using _ = await withRobots(context, CRAWLER)
    await tab.evaluate("location = '/private'")
    await expect.poll(() => sites.requestedUrls).toContain(`${HOME}/robots.txt`)
    await tab.evaluate("fetch('/private/data').catch(() => 0)").catch(() => undefined) // the page shows an error
    expect(sites.requestedPages).toEqual([`${HOME}/open`])
  })

  it('of a browser guards all of its contexts, also later ones', async () => {
    const another = await launch()
    const web = { '/robots.txt': RULES, '/open': htmlPage('<iframe src="/private/frame">') }
    const { sites, at } = await openTestFixture(browser(), web)
    try {
      await using robots = await withRobots(another.driverBrowser, CRAWLER)
      for (const context of [another.driverBrowser.defaultBrowserContext(), await another.newContext()]) {
        const tab = await context.newPage()
        expect((await tab.goto(at('/open')))?.status()).toBe(200)
        expect(await errorOf(tab.goto(at('/private')))).toMatchObject(REFUSED)
      }
      expect(robots.gate.counters.started).toBe(2)
      expect(sites.requestedPages).toEqual([`${HOME}/open`])
    } finally {
      await another.close()
    }
  })

  it('guards the default context alone, with the pages that it has from the start', async () => {
    const another = await launch()
    const { at } = await openTestFixture(browser(), { '/robots.txt': RULES, '/private': htmlPage() })
    try {
      await using _ = await withRobots(another.driverBrowser.defaultBrowserContext(), CRAWLER)
      const other = await another.newContext()
      const [tab] = await another.driverBrowser.pages()
      expect(await errorOf(tab?.goto(at('/private')) as Promise<unknown>)).toMatchObject(REFUSED)
      expect((await (await other.newPage()).goto(at('/private')))?.status()).toBe(200)
    } finally {
      await another.close()
    }
  })
})
