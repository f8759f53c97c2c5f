// What every adapter has to do, done by a browser.
import { RobotsDisallowedError } from '@politely/gate'
import { adapterCasesFor, playAdapter, type Visit } from '@politely/testkit'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withRobots } from '../src/index.ts'
import { launch, noChromium } from './chromium.ts'

describe.skipIf(noChromium)('in Chromium', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  test.each(adapterCasesFor('Puppeteer'))('Puppeteer, $capability: $name', async (row) => {
    const outcome = await playAdapter(row, async (settings) => {
      const context = await browser.createBrowserContext()
      const robots = await withRobots(context, settings)
      return {
        visit: async (url, signal): Promise<Visit> => {
          const page = await context.newPage()
          try {
            const response = await page.goto(url, { signal })
            return { kind: 'answered', status: response?.status() ?? 0 }
          } catch (error) {
            if (error instanceof RobotsDisallowedError) return { kind: 'refused', verdict: error.verdict }
            throw error
          }
        },
        close: async () => {
          await robots.close()
          await context.close()
        },
      }
    })
    expect(outcome).toEqual(row.expected)
  })
})
