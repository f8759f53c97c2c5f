// @module-tag full
// @module-tag browser
// Runs the common cases for browsers and for adapters with Puppeteer.

import { browserTestsFor } from '@politely/testkit/browser/browser-cases'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { describe, test } from 'vitest'
import { launch, noChromium, type PuppeteerUnderTest } from './puppeteer-under-test.ts'

describe.skipIf(noChromium)('Puppeteer', { tags: 'full' }, () => {
  let browser: PuppeteerUnderTest
  useOneBrowser(launch, (one) => {
    browser = one
  })

  for (const { name, run } of browserTestsFor('Puppeteer')) test(name, () => run(browser))
})
