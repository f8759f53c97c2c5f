// Runs the common cases for browsers and for adapters with Playwright.
import { browserTestsFor } from '@politely/testkit/browser-cases'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { launch, noChromium, type PlaywrightUnderTest } from './playwright-under-test.ts'

describe.skipIf(noChromium)('Playwright', () => {
  let browser: PlaywrightUnderTest

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  for (const { name, run } of browserTestsFor('Playwright')) test(name, () => run(browser))
})
