// @module-tag full
// @module-tag browser
// Runs the common cases for browsers and for adapters with Puppeteer.

import { browserTestsFor } from '@politely/testkit/browser/browser-cases'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { describe, test } from 'vitest'
import { launch, noChromium } from './puppeteer-under-test.ts'

describe.skipIf(noChromium)('Puppeteer', () => {
  const browser = useOneBrowser(launch)

  for (const { name, run } of browserTestsFor('Puppeteer')) test(name, () => run(browser()))
})
