// @module-tag full
// @module-tag browser
// Which contexts of Playwright withRobots accepts, and how a guard ends.
import { CRAWLER, errorOf, HOME, OTHER, RULES } from '@politely/testkit/browser/browser-fixture'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import type { Reply } from '@politely/testkit/servers/sites'
import { htmlPage } from '@politely/testkit/servers/small-pages'
import { type BrowserContext, chromium } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, launchOptions, noChromium, openTestFixture } from './playwright-under-test.ts'

describe.skipIf(noChromium)('withRobots of a context', () => {
  const browser = useOneBrowser(launch)

  it('rejects a page, and a context that is polite already', async () => {
    const { context, tab } = await openTestFixture(browser())
    expect(await errorOf(withRobots(tab as unknown as BrowserContext, CRAWLER))).toMatchObject({
      message: expect.stringContaining('for a page withRobots(page.context(), { userAgent })'),
    })
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject({
      message: expect.stringContaining('is polite already'),
    })
  })

  it('accepts a persistent context', async () => {
    const { at } = await openTestFixture(browser(), { '/robots.txt': RULES })
    const context = await chromium.launchPersistentContext('', launchOptions())
    onTestFinished(() => context.close())
    await withRobots(context, CRAWLER)
    const [tab] = context.pages()
    expect(await errorOf(tab?.goto(at('/private')) as Promise<unknown>)).toMatchObject({
      code: 'ERR_POLITELY_DISALLOWED',
    })
  })

  it('closes its gate when the context is closed', async () => {
    const { context, robots, at } = await openTestFixture(browser(), { '/1': htmlPage() })
    await context.close()
    const closed = { code: 'ERR_POLITELY_GATE_CLOSED' }
    await expect.poll(() => errorOf(robots.gate.when(at('/1')))).toMatchObject(closed)
  })

  it('fails the requests that still wait for a robots.txt when the guard is closed', async () => {
    const images = Array.from({ length: 20 }, (_, i) => `<img src="${OTHER}/${i}">`).join('')
    const { sites, tab, robots, at } = await openTestFixture(browser(), { '/1': htmlPage(images) })
    const heldResponse = Promise.withResolvers<Reply>()
    onTestFinished(() => heldResponse.resolve({ status: 404 }))
    sites.respond(`${OTHER}/robots.txt`, heldResponse.promise)
    const checks = vi.spyOn(robots.gate, 'check')
    let failed = 0
    const allFailed = new Promise<void>((resolve) => tab.on('requestfailed', () => ++failed === 20 && resolve()))
    await tab.goto(at('/1'), { waitUntil: 'commit' })
    await sites.requested(3)
    const checked = () => new Set(checks.mock.calls.map(([url]) => `${url}`).filter((url) => url.startsWith(at(OTHER))))
    await expect.poll(() => checked().size).toBe(20)
    await robots.close()
    await allFailed
    expect(sites.requestedPages).toEqual([`${HOME}/1`])
  })
})
