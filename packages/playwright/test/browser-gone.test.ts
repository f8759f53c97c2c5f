// @module-tag full
// @module-tag browser
// What happens to waiting navigations when the browser is killed, for each way in which Playwright
// opens a browser.
import { browserGoneTests } from '@politely/testkit/browser/browser-cases'
import { describe, test } from 'vitest'
import { launch, noChromium } from './playwright-under-test.ts'

// contract.test.ts runs these cases with `launch`.
const ways = ['connect', 'connectOverCDP'] as const

describe.skipIf(noChromium).each(ways)('Playwright’s %s', (way) => {
  for (const { name, run } of browserGoneTests) test(name, () => run(() => launch(way)))
})
