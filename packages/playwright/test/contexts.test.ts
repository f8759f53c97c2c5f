// Contexts of Playwright's: which of them can be polite, and how that ends.
import { CRAWLER, errorOf, HOME, OTHER, RULES } from '@politely/testkit/browser-fixture'
import type { Reply } from '@politely/testkit/sites'
import { htmlPage } from '@politely/testkit/small-pages'
import { type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { withRobots } from '../src/index.ts'
import { type PlaywrightUnderTest, launch, launchOptions, noChromium, openTestFixture } from './playwright-under-test.ts'

describe.skipIf(noChromium)('a context', () => {
  let browser: PlaywrightUnderTest

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it('is neither a page nor one that is polite already', async () => {
    const { context, tab } = await openTestFixture(browser)
    expect(await errorOf(withRobots(tab as unknown as BrowserContext, CRAWLER))).toMatchObject({
      message: expect.stringContaining('of a page it is page.context()'),
    })
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject({
      message: expect.stringContaining('is polite already'),
    })
  })

  it('may be a persistent one', async () => {
    const { at } = await openTestFixture(browser, { '/robots.txt': RULES })
    const context = await chromium.launchPersistentContext('', launchOptions())
    onTestFinished(() => context.close())
    await withRobots(context, CRAWLER)
    const [tab] = context.pages()
    expect(await errorOf(tab?.goto(at('/private')) as Promise<unknown>)).toMatchObject({
      code: 'ERR_POLITELY_DISALLOWED',
    })
  })

  it('that is closed ends what was made for it', async () => {
    const { context, robots, at } = await openTestFixture(browser, { '/1': htmlPage() })
    await context.close()
    const closed = { code: 'ERR_POLITELY_GATE_CLOSED' }
    await expect.poll(() => errorOf(robots.gate.when(at('/1')))).toMatchObject(closed)
  })

  it('that is no longer polite lets nothing go that still waits for an answer about robots.txt', async () => {
    const images = Array.from({ length: 20 }, (_, i) => `<img src="${OTHER}/${i}">`).join('')
    const { sites, tab, robots, at } = await openTestFixture(browser, { '/1': htmlPage(images) })
    const held = Promise.withResolvers<Reply>()
    onTestFinished(() => held.resolve({ status: 404 }))
    sites.answer(`${OTHER}/robots.txt`, held.promise)
    const checks = vi.spyOn(robots.gate, 'check')
    let failed = 0
    const allFailed = new Promise<void>((resolve) => tab.on('requestfailed', () => ++failed === 20 && resolve()))
    await tab.goto(at('/1'), { waitUntil: 'commit' })
    await sites.requested(3)
    await expect.poll(() => checks.mock.calls.length).toBe(20)
    await robots.close()
    await allFailed
    expect(sites.askedPages).toEqual([`${HOME}/1`])
  })
})
