// @module-tag browser
// The guard of a browser with a minimal driver, which implements the driver interface and nothing
// more.
import { type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type BrowserGuard,
  type BrowserGuardOptions,
  type BrowserScope,
  type DriverBrowser,
  guardBrowser,
} from '../src/index.ts'
import type { FailedRequest } from '../src/internal.ts'
import { Chromium, noChromium, type Page } from './driver.ts'

const HOME = 'http://localhost:PORT'
const OTHER = 'http://127.0.0.1:PORT'
const CRAWLER = { userAgent: 'TestBot/1.0 (+https://test.example/bot)', minDelayMs: 0, retries: 0 }

describe.skipIf(noChromium)('browser guard', () => {
  let chromium: Chromium
  let sites: Sites

  beforeAll(async () => {
    chromium = new Chromium()
    sites = await startSites()
    sites.respond(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
    for (const path of ['/', '/private/page']) sites.respond(`${HOME}${path}`, html('a page'))
    sites.respond(`${HOME}/open`, html('<img src="/private/image"><img src="/image">'))
    sites.respond(`${HOME}/hop`, { status: 302, headers: { location: '/private/page' } })
  })

  afterAll(async () => {
    await chromium.close()
    await sites.close()
  })

  async function guarded(
    options: Partial<BrowserScope> = {},
  ): Promise<{ page: Page; robots: BrowserGuard<FailedRequest> }> {
    const page = await chromium.newPage()
    const scope: BrowserScope = {
      browser: chromium,
      driverObject: page,
      name: 'page',
      overlapping: [page],
      refusedPage: 'Aborted',
      pages: async () => [page],
      listen: () => () => undefined,
      ...options,
    }
    const robots = await guardBrowser(scope, CRAWLER)
    onTestFinished(() => robots.close())
    return { page, robots }
  }

  it.each([
    ['Aborted', /net::ERR_ABORTED/, /\/open$/],
    ['BlockedByClient', /net::ERR_BLOCKED_BY_CLIENT/, /^chrome-error:/],
  ] as const)(
    'a refused page fails with the reason %s, after a redirect too',
    async (refusedPage, message, address) => {
      const { page } = await guarded({ refusedPage })
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
      expect(sites.requestedUrls).not.toContain(`${HOME}/private/page`)
    },
  )

  it('a waiting goto leaves the queue when another goto replaces it, even if the driver reports no failed request', async () => {
    sites.respond(`${OTHER}/robots.txt`, { status: 200, body: 'User-agent: *\nCrawl-delay: 60\n' })
    for (const path of ['/1', '/2']) sites.respond(`${OTHER}${path}`, html('a page'))
    const { page, robots } = await guarded()
    await page.goto(sites.withPort(`${OTHER}/1`))
    const waiting = page.goto(sites.withPort(`${OTHER}/2`)).catch((error: unknown) => error)
    await expect.poll(() => robots.gate.queues()).toMatchObject([{ waiting: 1 }])
    await page.goto('data:text/html,elsewhere')
    expect(await waiting).toMatchObject({ message: 'net::ERR_ABORTED' })
    expect(robots.gate.queues()).toEqual([])
  })

  it('counts a refused page request as a refusal, and takes no turn for page requests', async () => {
    const { page, robots } = await guarded()
    await page.goto(sites.withPort(`${HOME}/open`))
    expect(robots.gate.counters).toMatchObject({ started: 1, refusals: { rule: 1 } })
    expect(sites.requestedUrls).not.toContain(`${HOME}/private/image`)
  })

  it('refusalOf finds a failed request by its URL without the fragment, and returns undefined for one that has not failed', async () => {
    const { page, robots } = await guarded()
    await page.goto(sites.withPort(`${HOME}/open`))
    const url = () => sites.withPort(`${HOME}/private/image#part`)
    expect(robots.refusalOf({ url, failure: () => 'net::ERR_BLOCKED_BY_CLIENT' })?.verdict.because).toBe('rule')
    expect(robots.refusalOf({ url, failure: () => null })).toBeUndefined()
    expect(
      robots.refusalOf({ url: () => `${url()}2`.replace('#', '/'), failure: () => 'net::ERR_ABORTED' }),
    ).toBeUndefined()
  })

  it('each context of a browser can have a guard and a gate of its own', async () => {
    const [one, two] = [await guarded(), await guarded()]
    await one.page.goto(sites.withPort(`${HOME}/`))
    await two.page.goto(sites.withPort(`${HOME}/`))
    await one.robots.close()
    await one.page.goto(sites.withPort(`${HOME}/private/page`))
    await expect(two.page.goto(sites.withPort(`${HOME}/private/page`))).rejects.toBeInstanceOf(RobotsDisallowedError)
    expect([one, two].map(({ robots }) => robots.gate.counters.started)).toEqual([1, 1])
  })

  it('a driver that never lists its pages does not block requests', { tags: 'full' }, async () => {
    sites.respond(`${HOME}/outer`, html('<iframe src="/inner"></iframe>'))
    sites.respond(`${HOME}/inner`, html('<img src="/private/inner"><img src="/shown">'))
    await chromium.newPage() // in another context, so that the guard must look up a frame's context
    const browser: DriverBrowser = {
      driverObject: {},
      newSession: () => chromium.newSession(),
      pages: () => new Promise(() => undefined),
      isConnected: () => true,
    }
    const { page } = await guarded({ browser })
    await page.goto(sites.withPort(`${HOME}/outer`))
    expect(sites.requestedUrls).toContain(`${HOME}/shown`)
    expect(sites.requestedUrls).not.toContain(`${HOME}/private/inner`)
  })

  it('rejects a scope that is guarded or overlaps with a guarded one, until that guard is closed', async () => {
    const { page, robots } = await guarded()
    const again = () => guarded({ driverObject: page, overlapping: [page], name: 'target' })
    await expect(again()).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'target' })
    await robots.close()
    await (await again()).robots.close()
  })

  it('reverts everything when the guard cannot start', async () => {
    const page = await chromium.newPage()
    const prepare = () => Promise.reject(new Error('not here'))
    const removeListeners = vi.fn()
    const scope = { driverObject: page, overlapping: [page], pages: async () => [page], listen: () => removeListeners }
    await expect(guarded({ ...scope, prepare })).rejects.toThrow('not here')
    expect(removeListeners).toHaveBeenCalledOnce()
    expect(page.listenerCount('requestfailed')).toBe(0)
    expect(Object.hasOwn(page, 'goto')).toBe(false)
    await page.goto(sites.withPort(`${HOME}/private/page`))
    await (await guarded(scope)).robots.close()
  })

  it.each<readonly [string, unknown]>([
    ['options', undefined],
    ['userAgent', {}],
    ['pageRequests', { ...CRAWLER, pageRequests: true }],
    ['gate', { gate: {} as PoliteGate }],
  ])('names the invalid option: %s', async (option, options) => {
    const scope = { driverObject: chromium, overlapping: [], browser: chromium } as unknown as BrowserScope
    await expect(guardBrowser(scope, options as BrowserGuardOptions)).rejects.toMatchObject({
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
