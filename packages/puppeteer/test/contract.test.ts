// Runs the common cases for browsers and for adapters with Puppeteer. Only in the full run: the short run has the same cases for Playwright,
// with the same guard.

import { browserTestsFor } from '@politely/testkit/browser-cases'
import { isFullRun } from '@politely/testkit/scope'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type PuppeteerUnderTest, launch, noChromium } from './puppeteer-under-test.ts'

describe.skipIf(noChromium || !isFullRun)('Puppeteer', () => {
  let browser: PuppeteerUnderTest

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  for (const { name, play } of browserTestsFor('Puppeteer')) test(name, () => play(browser))
})
