// @module-tag full
// @module-tag browser
// Runs the common cases for browsers and for adapters with Puppeteer. Only in the full run: the
// short run has the same cases for Playwright, with the same guard.

import { browserTestsFor } from '@politely/testkit/browser/browser-cases'
import { afterAll, beforeEach, describe, test } from 'vitest'
import { launch, noChromium, type PuppeteerUnderTest } from './puppeteer-under-test.ts'

describe.skipIf(noChromium)('Puppeteer', { tags: 'full' }, () => {
  let browser: PuppeteerUnderTest

  beforeEach(async () => {
    if (!browser?.isConnected()) browser = await launch() // Chromium may have crashed
  })

  afterAll(() => browser.close())

  for (const { name, run } of browserTestsFor('Puppeteer')) test(name, () => run(browser))
})
