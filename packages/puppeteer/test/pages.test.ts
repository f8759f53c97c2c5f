// Requests for pages: the browser makes them itself, and each hop of a redirect is checked.

import { RobotsDisallowedError } from '@politely/gate'
import { htmlPage, redirectTo } from '@politely/testkit'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, failing, HOME, kit, OTHER, openContext, RULES, startWeb, told } from './kits.ts'

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
    expect(tab.url()).toBe(sites.withPort(`${OTHER}/there/#part`))
    const chain = response?.request().redirectChain() ?? []
    expect(chain.map((request) => request.url())).toEqual(
      [`${HOME}/hop#part`, `${HOME}/step#part`].map((url) => sites.withPort(url)),
    )
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['hop'])
    await Promise.all([tab.waitForNavigation(), tab.click('#next')])
    expect(sites.requests.at(-1)).toMatchObject({ url: `${OTHER}/there/next`, headers: { referer: expect.anything() } })
  })

  it('that is refused rejects goto with what Puppeteer said as the cause; another page is a new chance', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage(),
      [`${HOME}/hop`]: redirectTo('/private'),
    })
    const tab = await context.newPage()
    for (const path of ['/private', '/hop', '/private']) {
      const error = await errorOf(tab.goto(sites.withPort(`${HOME}${path}`)))
      expect(error).toBeInstanceOf(RobotsDisallowedError)
      expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('net::ERR_BLOCKED_BY_CLIENT') })
      expect((await tab.goto(sites.withPort(`${HOME}/open`)))?.status()).toBe(200)
    }
    // Not that of the page before.
    expect(await errorOf(tab.goto('no URL'))).toMatchObject({ message: expect.stringContaining('invalid URL') })
  })

  it('that was allowed and no longer is rejects reload and goBack with the verdict', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage('<script>history.replaceState(0, "", "/private"); onunload = () => 0</script>', {
        'cache-control': 'no-store',
      }),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    expect(await errorOf(tab.reload())).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    await tab.goto('about:blank')
    expect(await errorOf(tab.goBack())).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
    expect(sites.askedPages).toEqual([`${HOME}/open`])
  })

  it('that a click leads to is checked too: refusalOf says why the request failed', async () => {
    const { sites, context, robots } = await kit(browser, {
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage('<a href="/hop#y">away</a>'),
      [`${HOME}/hop`]: redirectTo('/private#x'),
    })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    const failed = failing(tab)
    const [response] = await Promise.all([tab.waitForNavigation(), tab.click('a')])
    expect(response ?? null).toBeNull() // an error page, and no answer
    expect(robots.refusalOf(await failed)?.verdict).toMatchObject({
      because: 'rule',
      url: sites.withPort(`${HOME}/private`),
    })
    expect(sites.askedPages).toEqual([`${HOME}/hop`, `${HOME}/open`])
  })

  it.each(['_blank', 'noopener'])(
    'that opens as a popup (%s) is checked from its first request on, each hop',
    async (how) => {
      const { sites, context } = await kit(browser, {
        [`${HOME}/robots.txt`]: RULES,
        [`${HOME}/open`]: htmlPage(),
        [`${HOME}/hop`]: redirectTo('/step'),
        [`${HOME}/step`]: redirectTo('/private'),
        [`${HOME}/private`]: htmlPage(),
        [`${HOME}/other`]: htmlPage('<img src="/private/image">'),
      })
      const tab = await context.newPage()
      await tab.goto(sites.withPort(`${HOME}/open`))
      const open = (path: string) => tab.evaluate(`void window.open('${path}', '_blank', '${how}')`)
      for (const path of ['/private', '/hop']) {
        const refused = told('refuse', sites.withPort(`${HOME}/private`))
        await open(path)
        await refused
      }
      const url = sites.withPort(`${HOME}/other`)
      const done = told('done', url)
      await open('/other')
      await done
      const popup = await context.waitForTarget((target) => target.url() === url)
      await (await popup.page())?.waitForFunction('document.readyState === "complete"')
      expect(sites.askedPages).toEqual([`${HOME}/hop`, `${HOME}/open`, `${HOME}/other`, `${HOME}/step`])
    },
  )

  it('one of a dozen popups that come at once is not overlooked', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/robots.txt`]: RULES, [`${HOME}/open`]: htmlPage() })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/open`))
    const paths = Array.from({ length: 12 }, (_, i) => `/private/${i}`)
    const refused = paths.map((path) => told('refuse', sites.withPort(`${HOME}${path}`)))
    await tab.evaluate((all: string[]) => {
      for (const path of all) (globalThis as unknown as { open(url: string): void }).open(path)
    }, paths)
    await Promise.all(refused)
    expect(sites.askedPages).toEqual([`${HOME}/open`])
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
    await tab.goto(sites.withPort(`${HOME}/open`), { waitUntil: 'networkidle0' })
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

  it('that no network is needed for is asked of nobody', async () => {
    const { sites, context, robots } = await kit(browser, {})
    const tab = await context.newPage()
    for (const url of ['about:blank', 'data:text/html,here', import.meta.url]) await tab.goto(url)
    await tab.evaluate('location = URL.createObjectURL(new Blob(["x"]))')
    expect(sites.asked).toEqual([])
    expect(robots.gate.counters.left).toBe(0)
  })

  it('that was open before is polite as well, with what it loads from now on', async () => {
    const sites = await startWeb({ [`${HOME}/robots.txt`]: RULES })
    const context = await openContext(browser)
    const tab = await context.newPage()
    await using robots = await withRobots(context, CRAWLER)
    const failed = failing(tab)
    await tab.setContent(`<img src="${sites.withPort(`${HOME}/private/image`)}">`)
    expect(robots.refusalOf(await failed)?.code).toBe('ERR_ROBOTS_DISALLOWED')
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toBeInstanceOf(RobotsDisallowedError)
    expect(sites.askedPages).toEqual([])
  })

  it('has the User-Agent of its browser, unless it is given another; robots.txt is asked for under the crawler’s', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage() })
    const tab = await context.newPage()
    await tab.goto(sites.withPort(`${HOME}/1`))
    await tab.setUserAgent({ userAgent: CRAWLER.userAgent })
    await tab.goto(sites.withPort(`${HOME}/2`))
    const names = Object.fromEntries(sites.requests.map(({ url, headers }) => [url, headers['user-agent']]))
    expect(names).toEqual({
      [`${HOME}/robots.txt`]: CRAWLER.userAgent,
      [`${HOME}/1`]: await browser.userAgent(),
      [`${HOME}/2`]: CRAWLER.userAgent,
    })
  })

  it('that is in the browser’s cache comes from there', async () => {
    const { sites, context } = await kit(browser, {
      [`${HOME}/open`]: htmlPage('<img src="/image">'),
      [`${HOME}/image`]: {
        status: 200,
        headers: { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=600' },
        body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      },
    })
    for (const _ of ['first', 'second']) {
      const tab = await context.newPage()
      await tab.goto(sites.withPort(`${HOME}/open`))
      await tab.close()
    }
    expect(sites.asked.toSorted()).toEqual([`${HOME}/image`, `${HOME}/open`, `${HOME}/open`, `${HOME}/robots.txt`])
  })
})

describe.skipIf(noChromium)('a whole browser', () => {
  it('is polite in all of its contexts, those that come later included', async () => {
    const browser = await launch()
    const sites = await startWeb({
      [`${HOME}/robots.txt`]: RULES,
      [`${HOME}/open`]: htmlPage('<iframe src="/private/frame">'),
    })
    try {
      await using robots = await withRobots(browser, CRAWLER)
      const contexts = [browser.defaultBrowserContext(), await browser.createBrowserContext()]
      for (const context of contexts) {
        const tab = await context.newPage()
        expect((await tab.goto(sites.withPort(`${HOME}/open`)))?.status()).toBe(200)
        expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toMatchObject({
          code: 'ERR_ROBOTS_DISALLOWED',
        })
      }
      expect(robots.gate.counters.left).toBe(2)
      expect(sites.askedPages).toEqual([`${HOME}/open`])
    } finally {
      await browser.close()
    }
  })

  it('has pages of the default context, which can be polite on its own', async () => {
    const browser = await launch()
    const sites = await startWeb({ [`${HOME}/robots.txt`]: RULES, [`${HOME}/private`]: htmlPage() })
    try {
      await using _ = await withRobots(browser.defaultBrowserContext(), CRAWLER)
      const other = await browser.createBrowserContext()
      const [tab] = await browser.pages()
      expect(await errorOf(tab?.goto(sites.withPort(`${HOME}/private`)) as Promise<unknown>)).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      })
      expect((await (await other.newPage()).goto(sites.withPort(`${HOME}/private`)))?.status()).toBe(200)
    } finally {
      await browser.close()
    }
  })
})
