// What withRobots is given, and the state of robots.txt that it cannot do without.

import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { htmlPage } from '@politely/testkit'
import type { Browser, BrowserContext } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type WithRobotsOptions, withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'
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

  it('target: neither a page nor nothing', async () => {
    const tab = await (await openContext(browser)).newPage()
    for (const target of [tab, undefined, null, {}]) {
      expect(await errorOf(withRobots(target as unknown as BrowserContext, CRAWLER))).toMatchObject({
        code: 'ERR_POLITELY_OPTION',
        message: expect.stringContaining('of a page it is page.browserContext()'),
      })
    }
  })

  it('target: nothing that is polite already, on its own or as part of the other', async () => {
    const context = await openContext(browser)
    const twice = { message: expect.stringContaining('target: is polite already') }
    const one = await withRobots(context, CRAWLER)
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject(twice)
    expect(await errorOf(withRobots(browser, CRAWLER))).toMatchObject(twice)
    await one.close()
    await using _ = await withRobots(browser, CRAWLER)
    expect(await errorOf(withRobots(browser, CRAWLER))).toMatchObject(twice)
    expect(await errorOf(withRobots(context, CRAWLER))).toMatchObject(twice)
  })

  it('target: a browser that has gone', async () => {
    const gone = await launch()
    await gone.close()
    expect(await errorOf(withRobots(gone, CRAWLER))).toBeInstanceOf(Error)
  })

  it('target: no browser that is spoken to by WebDriver BiDi', async () => {
    const other = await launch({ protocol: 'webDriverBiDi' })
    try {
      expect(await errorOf(withRobots(other, CRAWLER))).toMatchObject({
        code: 'ERR_POLITELY_OPTION',
        message: expect.stringContaining('does not speak the DevTools protocol'),
      })
    } finally {
      await other.close()
    }
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
