// Requests for pages: the browser makes them itself, each hop of a redirect is checked, and nothing leads around.

import { statSync } from 'node:fs'
import { RobotsDisallowedError } from '@politely/gate'
import { htmlPage, redirectTo } from '@politely/testkit'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, HOME, kit, OTHER, openContext, RULES, startWeb } from './kits.ts'

describe.skipIf(noChromium)('a page', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('that was redirected is where it was led to, and the way there is known', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/hop`]: { ...redirectTo('/there/'), headers: { location: '/step', 'set-cookie': 'hop=1' } },
      [`${HOME}/step`]: redirectTo(`${OTHER}/there/`, 301),
      [`${OTHER}/there/`]: htmlPage('<a id="next" href="next">next</a>'),
      [`${OTHER}/there/next`]: htmlPage(),
    })
    const tab = await context.newPage()
    const response = await tab.goto(sites.withPort(`${HOME}/hop#part`))
    expect(response?.url()).toBe(sites.withPort(`${OTHER}/there/#part`).replace('#part', ''))
    expect(tab.url()).toBe(sites.withPort(`${OTHER}/there/#part`))
    expect(await tab.evaluate('location.href')).toBe(tab.url())
    expect(response?.request().redirectedFrom()?.redirectedFrom()?.url()).toBe(sites.withPort(`${HOME}/hop`))
    expect((await context.cookies(sites.withPort(HOME))).map(({ name }) => name)).toEqual(['hop'])
    await tab.click('#next')
    await tab.waitForURL('**/there/next')
    expect(sites.requests.at(-1)?.headers.referer).toBe(sites.withPort(`${OTHER}/there/`))
  })

  it.each([
    [303, 'GET', ''],
    [307, 'POST', 'a=1'],
  ])('that is sent by POST and answered by %i comes with %s', async (status, method, body) => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/form`]: htmlPage(
        '<form method="post" action="/send"><input name="a" value="1"><button>send</button></form>',
      ),
      [`${HOME}/send`]: redirectTo('/sent', status),
      [`${HOME}/sent`]: htmlPage('sent'),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/form`))
    const sent = tab.waitForRequest('**/sent')
    await tab.click('button')
    expect((await sent).postData() ?? '').toBe(body)
    await tab.waitForURL('**/sent')
    expect(sites.requests.at(-1)?.method).toBe(method)
  })

  it('that is refused rejects goto with what Playwright said as the cause; another page is a new chance', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/robots.txt`]: RULES, [`${HOME}/open`]: htmlPage() })
    const tab = await context.newPage()
    const error = await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))
    expect(error).toBeInstanceOf(RobotsDisallowedError)
    expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('net::ERR_ABORTED') })
    // Not that of the page before.
    expect(await errorOf(tab.goto('no URL'))).toMatchObject({ message: expect.stringContaining('invalid URL') })
    expect((await tab.goto(sites.withPort(`${HOME}/open`)))?.status()).toBe(200)
  })

  it('that was allowed and no longer is rejects reload with the verdict', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage('<script>history.replaceState(0, "", "/private")</script>'),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    expect(await errorOf(tab.reload())).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    expect(sites.askedPages).toEqual([`${HOME}/open`])
  })

  it('that a click leads to is checked too: refusalOf says why the request failed', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage('<a href="/hop#y">away</a><a id="direct" href="/private#z">away</a>'),
      [`${HOME}/hop`]: redirectTo('/private#x'),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    const failing = tab.waitForEvent('requestfailed')
    await tab.click('a')
    const refusal = robots.refusalOf(await failing)
    expect(refusal?.verdict).toMatchObject({ because: 'rule', url: sites.withPort(`${HOME}/private`) })
    const failingToo = tab.waitForEvent('requestfailed')
    await tab.click('#direct') // the page is still there
    expect(robots.refusalOf(await failingToo)?.verdict.because).toBe('rule')
    expect(sites.askedPages).toEqual([`${HOME}/hop`, `${HOME}/open`])
  })

  it('that opens as a popup is checked from its first request on, each hop', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(),
      [`${HOME}/hop`]: redirectTo('/step'),
      [`${HOME}/step`]: redirectTo('/private'),
      [`${HOME}/private`]: htmlPage(),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    for (const path of ['/private', '/hop']) {
      const failing = context.waitForEvent('requestfailed')
      await tab.evaluate((url) => void (globalThis as unknown as { open(url: string): void }).open(url), path)
      expect(robots.refusalOf(await failing)?.verdict.url).toBe(sites.withPort(`${HOME}/private`))
    }
    expect(sites.askedPages).toEqual([`${HOME}/hop`, `${HOME}/open`, `${HOME}/step`])
  })

  it('cannot be let through by a route; what a route answers itself is asked of nobody', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/robots.txt`]: RULES, [`${HOME}/private`]: htmlPage() })
    const tab = await context.newPage()
    await tab.route('**/*', (route) => route.continue())
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toBeInstanceOf(RobotsDisallowedError)
    await tab.route('**/*', (route) => route.fulfill({ body: 'made here' }))
    expect(await (await tab.goto(sites.withPort(`${OTHER}/private`)))?.text()).toBe('made here')
    expect(sites.asked).toEqual([`${HOME}/robots.txt`])
  })

  const rules = (path: string) => JSON.stringify({ prefetch: [{ urls: [path], eagerness: 'immediate' }] })

  it('whose rules of speculation name others has them fetched by nobody', async () => {
    const added = `const s = document.createElement('script'); s.type = 'SpeculationRules'; s.textContent = '${rules('/private/3')}'
      const around = document.createElement('div'); around.append(s); document.body.append(around)`
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(
        `<script type="speculationrules">${rules('/private/1')}</script><script>${added}; fetch('/last')</script>`,
        { 'speculation-rules': '"/rules.json"' },
      ),
      [`${HOME}/rules.json`]: {
        status: 200,
        headers: { 'content-type': 'application/speculationrules+json' },
        body: rules('/private/2'),
      },
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`), { waitUntil: 'networkidle' })
    expect(sites.askedPages).toEqual([`${HOME}/last`, `${HOME}/open`])
  })

  it('that is the first one of a popup keeps its rules of speculation: Chromium runs no script of ours in it', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(),
      [`${HOME}/popup`]: htmlPage(`<script type="speculationrules">${rules('/private')}</script>`),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    await tab.evaluate("void window.open('/popup')")
    await sites.requested(4)
    expect(sites.askedPages).toEqual([`${HOME}/open`, `${HOME}/popup`, `${HOME}/private`])
  })

  it('is read while it comes, and downloads are saved', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/file`]: { status: 200, headers: { 'content-disposition': 'attachment' }, body: 'x'.repeat(100_000) },
    })
    const more = Promise.withResolvers<void>()
    sites.answer(`${HOME}/slow`, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>early</title>first')
      more.promise.then(() => socket.end('last'))
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/slow`), { waitUntil: 'commit' })
    await tab.waitForFunction('document.title === "early"')
    more.resolve()
    await tab.waitForLoadState()
    expect(await tab.textContent('body')).toBe('firstlast')
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      errorOf(tab.goto(sites.withPort(`${HOME}/file`))),
    ])
    expect(statSync(await download.path()).size).toBe(100_000)
  })

  it('that asks for a name and a password has them from Playwright', async () => {
    const sites = await startWeb({})
    sites.answer(
      `${HOME}/in`,
      { status: 401, headers: { 'www-authenticate': 'Basic realm="here"' } },
      htmlPage('you are in'),
    )
    const context = await openContext(browser, { httpCredentials: { username: 'somebody', password: 'secret' } })
    await withRobots(context, CRAWLER)
    const tab = await context.newPage()
    expect((await tab.goto(sites.withPort(`${HOME}/in`)))?.status()).toBe(200)
    expect(sites.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
  })

  it('that no network is needed for is asked of nobody', async () => {
    const { sites, context, robots } = await kit(browser, {})
    const tab = await context.newPage()
    for (const url of ['about:blank', 'data:text/html,here']) await tab.goto(url)
    expect(sites.asked).toEqual([])
    expect(robots.gate.counters.left).toBe(0)
  })

  it('that was open before is polite as well, with what it loads from now on', async () => {
    const sites = await startWeb({ [`${HOME}/robots.txt`]: RULES })
    const context = await openContext(browser)
    const tab = await context.newPage()
    const robots = await withRobots(context, CRAWLER)
    const failing = tab.waitForEvent('requestfailed')
    await tab.setContent(`<img src="${sites.withPort(`${HOME}/private/image`)}">`)
    expect(robots.refusalOf(await failing)?.code).toBe('ERR_ROBOTS_DISALLOWED')
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toBeInstanceOf(RobotsDisallowedError)
    expect(sites.askedPages).toEqual([])
  })

  it('context.request is no page: it goes past the browser, and past this', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/robots.txt`]: RULES, [`${HOME}/private`]: htmlPage() })
    expect((await context.request.get(sites.withPort(`${HOME}/private`))).status()).toBe(200)
    expect(sites.asked).toEqual([`${HOME}/private`])
  })
})
