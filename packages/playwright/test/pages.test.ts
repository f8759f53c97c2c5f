// @module-tag full
// @module-tag browser
// Navigations: behaviour that is specific to Playwright.
import { statSync } from 'node:fs'
import { CRAWLER, errorOf, HOME, OTHER, RULES } from '@politely/testkit/browser/browser-fixture'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { htmlPage, redirectTo } from '@politely/testkit/servers/small-pages'
import { describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium, openTestFixture } from './playwright-under-test.ts'

const REFUSED = { code: 'ERR_POLITELY_DISALLOWED' }

describe.skipIf(noChromium)('a page', () => {
  const browser = useOneBrowser(launch)

  it('stays as it was when a click leads to a refused page', async () => {
    const open = htmlPage('<a href="/hop">away</a><a id="direct" href="/private#z">away</a>')
    const web = { '/robots.txt': RULES, '/open': open, '/hop': redirectTo('/private') }
    const { sites, tab, robots, at } = await openTestFixture(browser(), web)
    await tab.goto(at('/open'))
    for (const link of ['a', '#direct']) {
      const failed = tab.waitForEvent('requestfailed')
      await tab.click(link)
      expect(robots.refusalOf(await failed)?.verdict.because).toBe('rule')
    }
    expect(sites.requestedPages).toEqual([`${HOME}/hop`, `${HOME}/open`])
  })

  it('that opens as a popup and is refused has a refusal, at each hop', async () => {
    const web = { '/robots.txt': RULES, '/open': htmlPage(), '/hop': redirectTo('/private') }
    const { context, tab, robots, at } = await openTestFixture(browser(), web)
    await tab.goto(at('/open'))
    for (const path of ['/private', '/hop']) {
      const failed = context.waitForEvent('requestfailed')
      await tab.evaluate(`void window.open('${path}')`)
      expect(robots.refusalOf(await failed)?.verdict.url).toBe(at('/private'))
    }
  })

  it('is checked after all routes; a request that a route fulfills is not sent', async () => {
    const { sites, tab, at } = await openTestFixture(browser(), { '/robots.txt': RULES, '/private': htmlPage() })
    await tab.route('**/*', (route) => route.continue())
    expect(await errorOf(tab.goto(at('/private')))).toMatchObject(REFUSED)
    await tab.route('**/*', (route) => route.fulfill({ body: 'made by a route' }))
    expect(await (await tab.goto(at(`${OTHER}/private`)))?.text()).toBe('made by a route')
    expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`])
  })

  it('is streamed, and downloads are saved', async () => {
    const { sites, tab, at } = await openTestFixture(browser(), {
      '/file': { status: 200, headers: { 'content-disposition': 'attachment' }, body: 'x'.repeat(100_000) },
    })
    const restOfBody = Promise.withResolvers<void>()
    sites.respond(`${HOME}/slow`, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>early</title>first')
      restOfBody.promise.then(() => socket.end('last'))
    })
    await tab.goto(at('/slow'), { waitUntil: 'commit' })
    await tab.waitForFunction('document.title === "early"')
    restOfBody.resolve()
    await tab.waitForLoadState()
    expect(await tab.textContent('body')).toBe('firstlast')
    const [download] = await Promise.all([tab.waitForEvent('download'), errorOf(tab.goto(at('/file')))])
    expect(statSync(await download.path()).size).toBe(100_000)
  })

  it('that needs HTTP authentication gets the credentials of its context', async () => {
    const { sites, at, defer } = await openTestFixture(browser())
    const locked = { status: 401, headers: { 'www-authenticate': 'Basic realm="here"' } }
    sites.respond(`${HOME}/in`, locked, htmlPage('authenticated'))
    const httpCredentials = { username: 'user', password: 'secret' }
    const context = await browser().driverBrowser.newContext({ httpCredentials })
    defer(() => context.close())
    await withRobots(context, CRAWLER)
    const tab = await context.newPage()
    expect((await tab.goto(at('/in')))?.status()).toBe(200)
    expect(sites.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
  })

  it('context.request does not use the browser, so its requests are not checked', async () => {
    const { sites, context, at } = await openTestFixture(browser(), { '/robots.txt': RULES, '/private': htmlPage() })
    expect((await context.request.get(at('/private'))).status()).toBe(200)
    expect(sites.requestedUrls).toEqual([`${HOME}/private`])
  })
})
