// @module-tag full
// @module-tag browser
// Navigations: behaviour that is specific to Puppeteer.
import { slowWeb, waitAtGate } from '@politely/testkit/browser/browser-end-cases'
import { CRAWLER, HOME, RULES } from '@politely/testkit/browser/browser-fixture'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { htmlPage, redirectTo } from '@politely/testkit/servers/small-pages'
import { describe, expect, it } from 'vitest'
import { launch, noChromium, openTestFixture } from './puppeteer-under-test.ts'

describe.skipIf(noChromium)('a page', () => {
  const browser = useOneBrowser(launch)

  it('shows an error when a click leads to a refused page, and waitForNavigation resolves without a response', async () => {
    const web = { '/robots.txt': RULES, '/open': htmlPage('<a href="/hop">away</a>'), '/hop': redirectTo('/private') }
    const { sites, tab, at } = await openTestFixture(browser(), web)
    await tab.goto(at('/open'))
    const [response] = await Promise.all([tab.waitForNavigation(), tab.click('a')])
    expect(response ?? null).toBeNull()
    expect(sites.requestedPages).toEqual([`${HOME}/hop`, `${HOME}/open`])
  })

  it('is requested with the browser’s User-Agent or the one of setUserAgent, and robots.txt with the crawler’s', async () => {
    const { sites, tab, at } = await openTestFixture(browser(), { '/1': htmlPage(), '/2': htmlPage() })
    await tab.goto(at('/1'))
    await tab.setUserAgent({ userAgent: CRAWLER.userAgent })
    await tab.goto(at('/2'))
    const userAgents = Object.fromEntries(sites.requests.map(({ url, headers }) => [url, headers['user-agent']]))
    expect(userAgents).toEqual({
      [`${HOME}/robots.txt`]: CRAWLER.userAgent,
      [`${HOME}/1`]: await browser().driverBrowser.userAgent(),
      [`${HOME}/2`]: CRAWLER.userAgent,
    })
  })

  it('that waits leaves the queue when the browser is disconnected', async () => {
    const another = await launch()
    try {
      const opened = await openTestFixture(another, slowWeb)
      const { visit, abandoned } = await waitAtGate(opened)
      await another.driverBrowser.disconnect()
      await abandoned
      expect(await visit).toBeInstanceOf(Error)
      await opened.robots.close()
      expect(opened.robots.gate.queues()).toEqual([])
    } finally {
      another.driverBrowser.process()?.kill('SIGKILL')
    }
  })
})
