// The watch over a browser whose driver the package has never heard of: what a driver has to be is all that this one is.
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/sites'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type BrowserGuard,
  type BrowserGuardOptions,
  type BrowserScope,
  type DriverBrowser,
  type FailedRequest,
  guardBrowser,
} from '../src/index.ts'
import { Chromium, noChromium, type Page } from './driver.ts'

const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const CRAWLER = { userAgent: 'TestBot/1.0 (+https://test.example/bot)', minDelayMs: 0, retries: 0 }

describe.skipIf(noChromium)('watch', () => {
  let chromium: Chromium
  let sites: Sites

  beforeAll(async () => {
    chromium = new Chromium()
    sites = await startSites()
    sites.answer(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
    for (const path of ['/', '/private/page']) sites.answer(`${HOME}${path}`, html('a page'))
    sites.answer(`${HOME}/open`, html('<img src="/private/image"><img src="/image">'))
    sites.answer(`${HOME}/hop`, { status: 302, headers: { location: '/private/page' } })
  })

  afterAll(async () => {
    await chromium.close()
    await sites.close()
  })

  async function watched(
    options: Partial<BrowserScope> = {},
  ): Promise<{ page: Page; it: BrowserGuard<FailedRequest> }> {
    const page = await chromium.newPage()
    const place: BrowserScope = {
      browser: chromium,
      own: page,
      name: 'page',
      parts: [page],
      refusedPage: 'Aborted',
      pages: async () => [page],
      listen: () => () => undefined,
      ...options,
    }
    const it = await guardBrowser(place, CRAWLER)
    onTestFinished(() => it.close())
    return { page, it }
  }

  it.each([
    ['Aborted', /net::ERR_ABORTED/, /\/open$/],
    ['BlockedByClient', /net::ERR_BLOCKED_BY_CLIENT/, /^chrome-error:/],
  ] as const)('a refused page fails as %s, whatever led there', async (refusedPage, message, address) => {
    const { page } = await watched({ refusedPage })
    await page.goto(sites.withPort(`${HOME}/open`))
    for (const path of ['/private/page', '/hop']) {
      const error = await page.goto(sites.withPort(`${HOME}${path}`)).catch((why: unknown) => why)
      expect(error).toBeInstanceOf(RobotsDisallowedError)
      expect(error).toMatchObject({
        verdict: { url: sites.withPort(`${HOME}/private/page`) },
        cause: { message: expect.stringMatching(message) },
      })
    }
    expect(await page.address()).toMatch(address)
    expect(sites.asked).not.toContain(`${HOME}/private/page`)
  })

  it('a page that waits for a goto leaves the queue with it, also where its driver tells of no request', async () => {
    sites.answer(`${OTHER}/robots.txt`, { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' })
    for (const path of ['/1', '/2']) sites.answer(`${OTHER}${path}`, html('a page'))
    const { page, it } = await watched()
    await page.goto(sites.withPort(`${OTHER}/1`))
    const waiting = page.goto(sites.withPort(`${OTHER}/2`)).catch((error: unknown) => error)
    await expect.poll(() => it.gate.queues()).toMatchObject([{ waiting: 1 }])
    await page.goto('data:text/html,elsewhere')
    expect(await waiting).toMatchObject({ message: 'net::ERR_ABORTED' })
    expect(it.gate.queues()).toEqual([])
  })

  it('what a page loads is counted where it is refused, and takes no turn', async () => {
    const { page, it } = await watched()
    await page.goto(sites.withPort(`${HOME}/open`))
    expect(it.gate.counters).toMatchObject({ started: 1, refusals: { rule: 1 } })
    expect(sites.asked).not.toContain(`${HOME}/private/image`)
  })

  it('refusalOf knows a request by its URL, without the fragment, and none that has not failed', async () => {
    const { page, it } = await watched()
    await page.goto(sites.withPort(`${HOME}/open`))
    const url = () => sites.withPort(`${HOME}/private/image#part`)
    expect(it.refusalOf({ url, failure: () => 'net::ERR_BLOCKED_BY_CLIENT' })?.verdict.because).toBe('rule')
    expect(it.refusalOf({ url, failure: () => null })).toBeUndefined()
    expect(
      it.refusalOf({ url: () => `${url()}2`.replace('#', '/'), failure: () => 'net::ERR_ABORTED' }),
    ).toBeUndefined()
  })

  it('contexts of one browser are watched each by a gate of its own', async () => {
    const [one, two] = [await watched(), await watched()]
    await one.page.goto(sites.withPort(`${HOME}/`))
    await two.page.goto(sites.withPort(`${HOME}/`))
    await one.it.close()
    await one.page.goto(sites.withPort(`${HOME}/private/page`))
    await expect(two.page.goto(sites.withPort(`${HOME}/private/page`))).rejects.toBeInstanceOf(RobotsDisallowedError)
    expect([one, two].map(({ it }) => it.gate.counters.started)).toEqual([1, 1])
  })

  it('a driver that never says which pages there are holds up none of them', async () => {
    sites.answer(`${HOME}/outer`, html('<iframe src="/inner"></iframe>'))
    sites.answer(`${HOME}/inner`, html('<img src="/private/inner"><img src="/shown">'))
    await chromium.newPage() // of another context, so that a frame's has to be asked for
    const browser: DriverBrowser = {
      own: {},
      newSession: () => chromium.newSession(),
      pages: () => new Promise(() => undefined),
      isConnected: () => true,
    }
    const { page } = await watched({ browser })
    await page.goto(sites.withPort(`${HOME}/outer`))
    expect(sites.asked).toContain(`${HOME}/shown`)
    expect(sites.asked).not.toContain(`${HOME}/private/inner`)
  })

  it('a place that is watched, or a part of which is, cannot be watched again; after close it can', async () => {
    const { page, it } = await watched()
    const again = () => watched({ own: page, parts: [page], name: 'target' })
    await expect(again()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'target' })
    await it.close()
    await (await again()).it.close()
  })

  it('a place where something fails is left as it was', async () => {
    const page = await chromium.newPage()
    const prepare = () => Promise.reject(new Error('not here'))
    const deafen = vi.fn()
    const place = { own: page, parts: [page], pages: async () => [page], listen: () => deafen }
    await expect(watched({ ...place, prepare })).rejects.toThrow('not here')
    expect(deafen).toHaveBeenCalledOnce()
    expect(page.listenerCount('requestfailed')).toBe(0)
    expect(Object.hasOwn(page, 'goto')).toBe(false)
    await page.goto(sites.withPort(`${HOME}/private/page`))
    await (await watched(place)).it.close()
  })

  it.each<readonly [string, unknown]>([
    ['options', undefined],
    ['userAgent', {}],
    ['pageRequests', { ...CRAWLER, pageRequests: true }],
    ['gate', { gate: {} as PoliteGate }],
  ])('%s that cannot be used is said', async (option, options) => {
    const place = { own: chromium, parts: [], browser: chromium } as unknown as BrowserScope
    await expect(guardBrowser(place, options as BrowserGuardOptions)).rejects.toMatchObject({
      code: 'ERR_POLITELY_OPTION',
      option,
    })
  })
})

function html(body: string) {
  return {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: `<!doctype html><link rel="icon" href="data:,"><body>${body}`,
  }
}
