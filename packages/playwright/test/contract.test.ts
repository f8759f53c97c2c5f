// What Playwright's pages do as those of every polite browser do, and what every adapter has to do.
import { browserTestsFor } from '@politely/testkit/browser-cases'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Driven, launch, noChromium } from './driven.ts'

describe.skipIf(noChromium)('Playwright', () => {
  let browser: Driven

  beforeAll(async () => {
    browser = await launch()
  })

  afterAll(() => browser.close())

  for (const { name, play } of browserTestsFor('Playwright')) test(name, () => play(browser))
})
