// @module-tag full
// @module-tag browser
// Request handlers of pages: whatever they do, cooperative or not, added before or after
// withRobots, no disallowed request is sent.

import { CRAWLER, errorOf, HOME, RULES, SLOW } from '@politely/testkit/browser/browser-fixture'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { htmlPage } from '@politely/testkit/servers/small-pages'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { describe, expect, it } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium, openTestFixture } from './puppeteer-under-test.ts'

const WEB = {
  '/robots.txt': RULES,
  '/open': htmlPage('<img src="/image"><img src="/private/image">'),
  '/private': htmlPage(),
}
const REFUSED = { code: 'ERR_POLITELY_DISALLOWED' }

describe.skipIf(noChromium)('a request handler of a page', () => {
  const browser = useOneBrowser(launch)

  const handlers: readonly (readonly [string, (request: HTTPRequest) => Promise<void>])[] = [
    ['continues every request with the highest priority', (request) => request.continue({}, Number.MAX_SAFE_INTEGER)],
    ['continues every request without a priority', (request) => request.continue()],
    ['has no opinion', (request) => request.continue(request.continueRequestOverrides(), 0)],
  ]

  it.each(handlers.flatMap(([name, handle]) => [[name, 'before', handle] as const, [name, 'after', handle] as const]))(
    'that %s, added %s withRobots, does not bypass the checks',
    async (_, when, handle) => {
      const { sites, openContext, at } = await openTestFixture(browser(), WEB)
      const context = await openContext()
      const tab = await context.newPage()
      const intercept = async () => {
        await tab.setRequestInterception(true)
        tab.on('request', handle)
      }
      if (when === 'before') await intercept()
      await using _robots = await withRobots(context, CRAWLER)
      if (when === 'after') await intercept()
      expect((await tab.goto(at('/open')))?.status()).toBe(200)
      expect(await errorOf(tab.goto(at('/private')))).toMatchObject(REFUSED)
      expect(sites.requestedPages).toEqual([`${HOME}/image`, `${HOME}/open`])
    },
  )

  it('that changes the URL of a request: the new URL is checked', async () => {
    const { sites, tab, at } = await openTestFixture(browser(), WEB)
    await intercepted(tab, (request) => request.continue({ url: request.url().replace('/secret', '/private') }))
    expect(await errorOf(tab.goto(at('/secret')))).toMatchObject(REFUSED)
    expect(sites.requestedPages).toEqual([])
  })

  it('that responds itself sends no request and takes no turn', async () => {
    const { sites, tab, robots, at } = await openTestFixture(browser(), { ...WEB, '/robots.txt': SLOW })
    await intercepted(tab, (request) => request.respond({ body: 'made by a handler' }, 0))
    for (const path of ['/open', '/private']) {
      expect(await (await tab.goto(at(path)))?.text()).toBe('made by a handler')
    }
    expect(sites.requestedUrls).toEqual([])
    expect(robots.gate.counters.started).toBe(0)
  })

  it('that aborts a request makes goto reject with Puppeteer’s own error', async () => {
    const { tab, robots, at } = await openTestFixture(browser(), WEB)
    await intercepted(tab, (request) => request.abort('accessdenied', 0))
    expect(await errorOf(tab.goto(at('/open')))).toMatchObject({
      message: expect.stringContaining('net::ERR_ACCESS_DENIED'),
    })
    expect(robots.gate.counters.started).toBe(0)
  })

  it('can be removed before the guard is closed, or added after that', async () => {
    const { tab, robots, at } = await openTestFixture(browser(), WEB)
    const seen: string[] = []
    const handle = (request: HTTPRequest) => {
      if (request.url().startsWith('http')) seen.push(request.url()) // an error page loads images with other schemes
      return request.continue({}, 0)
    }
    await intercepted(tab, handle)
    tab.off('request', handle)
    await tab.setRequestInterception(false)
    expect(await errorOf(tab.goto(at('/private')))).toMatchObject(REFUSED)
    await robots.close()
    await intercepted(tab, handle)
    expect((await tab.goto(at('/private')))?.status()).toBe(200)
    expect(seen).toEqual([at('/private')])
  })

  it('is not needed: a page without one does not intercept requests, and emits its events as usual', async () => {
    const { tab, at } = await openTestFixture(browser(), WEB)
    const states: string[] = []
    tab.on('request', (request) => void states.push(request.interceptResolutionState().action))
    await tab.goto(at('/open'))
    expect(new Set(states)).toEqual(new Set(['disabled']))
  })

  it('does not affect HTTP authentication', async () => {
    const { sites, tab, at } = await openTestFixture(browser(), WEB)
    const locked = { status: 401, headers: { 'www-authenticate': 'Basic realm="here"' } }
    sites.respond(`${HOME}/locked`, locked, htmlPage('unlocked'))
    await tab.authenticate({ username: 'me', password: 'secret' })
    expect((await tab.goto(at('/locked')))?.status()).toBe(200)
  })
})

async function intercepted(tab: Page, handle: (request: HTTPRequest) => Promise<void>): Promise<void> {
  await tab.setRequestInterception(true)
  tab.on('request', handle)
}
