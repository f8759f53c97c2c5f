// Runs the common cases for browsers and for adapters with Playwright.
import { browserTestsFor } from '@politely/testkit/browser-cases'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type PlaywrightUnderTest, launch, noChromium } from './playwright-under-test.ts'

describe.skipIf(noChromium)('Playwright', () => {
  let browser: PlaywrightUnderTest

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  for (const { name, play } of browserTestsFor('Playwright')) test(name, () => play(browser))
})
