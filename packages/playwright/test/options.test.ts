// What withRobots is given, and the state of robots.txt that it cannot do without.

import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { htmlPage } from '@politely/testkit'
import type { Browser, BrowserContext } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type WithRobotsOptions, withRobots } from '../src/index.ts'
import { launch, launchOptions, noChromium } from './chromium.ts'
import { CRAWLER, errorOf, HOME, kit, openContext, RULES, startWeb } from './kits.ts'

describe.skipIf(noChromium)('withRobots', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  it.each<readonly [string, unknown, RegExp]>([
    ['none', undefined, /options: is missing; write/],
    ['no name', {}, /userAgent/],
    [
      'an unknown word',
      { ...CRAWLER, subresources: true },
      /subresources: true is not known; write one of check, pass/,
    ],
    ['a pause that is none', { ...CRAWLER, minDelayMs: -1 }, /minDelayMs/],
    ['a gate and more', { gate: 'none' }, /gate: must be a PoliteGate/],
  ])('options: %s', async (_, options, message) => {
    const context = await openContext(browser)
    const wrong = errorOf(withRobots(context, options as WithRobotsOptions))
    expect(await wrong).toMatchObject({ code: 'ERR_POLITELY_OPTION', message: expect.stringMatching(message) })
    // Nothing has been begun.
    await (await withRobots(context, CRAWLER)).close()
  })

  it('context: neither a page nor one that is polite already', async () => {
    const context = await openContext(browser)
    const tab = await context.newPage()
    expect(await errorOf(withRobots(tab as unknown as BrowserContext, CRAWLER))).toMatchObject({
      message: expect.stringContaining('of a page it is page.context()'),
    })
    await withRobots(context, CRAWLER)
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject({
      message: expect.stringContaining('is polite already'),
    })
  })

  it('takes a persistent context, too', async () => {
    const sites = await startWeb({ [`${HOME}/robots.txt`]: RULES })
    const context = await chromium.launchPersistentContext('', launchOptions())
    onTestFinished(() => context.close())
    await withRobots(context, CRAWLER)
    const [tab] = context.pages()
    expect(await errorOf(tab?.goto(sites.withPort(`${HOME}/private`)) as Promise<unknown>)).toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    })
  })

  it('network: public-only keeps pages off private addresses as well, since their robots.txt cannot be had', async () => {
    const { sites, context } = await kit(browser, { [`${HOME}/1`]: htmlPage() }, { ...CRAWLER, network: 'public-only' })
    const tab = await context.newPage()
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/1`)))).toMatchObject({ verdict: { because: 'unreachable' } })
    expect(sites.asked).toEqual([])
  })

  it('several contexts share a pace by sharing a gate', async () => {
    const sites = await startWeb({ [`${HOME}/1`]: htmlPage(), [`${HOME}/2`]: htmlPage() })
    await using robots = new RobotsClient({ userAgent: CRAWLER.userAgent })
    await using gate = new PoliteGate({ robots, minDelayMs: 0 })
    for (const path of ['1', '2']) {
      const context = await openContext(browser)
      await withRobots(context, { gate })
      await (await context.newPage()).goto(sites.withPort(`${HOME}/${path}`))
    }
    expect(gate.counters.left).toBe(2)
    expect(sites.asked.filter((url) => url.endsWith('/robots.txt'))).toHaveLength(1)
  })

  it('a store that throws costs no page', async () => {
    const broken = () => Promise.reject(new Error('the disk is full'))
    const { sites, context } = await kit(
      browser,
      { [`${HOME}/robots.txt`]: RULES, [`${HOME}/1`]: htmlPage() },
      { ...CRAWLER, store: { get: broken, set: broken, delete: broken } },
    )
    const tab = await context.newPage()
    expect((await tab.goto(sites.withPort(`${HOME}/1`)))?.status()).toBe(200)
    expect(await errorOf(tab.goto(sites.withPort(`${HOME}/private`)))).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' })
  })
})
