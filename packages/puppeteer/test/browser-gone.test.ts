// @module-tag full
// @module-tag browser
// What happens to waiting navigations when the browser is killed, for each way in which Puppeteer
// opens a browser.
import { browserGoneTests } from '@politely/testkit/browser/browser-cases'
import { describe, test } from 'vitest'
import { connect, launch, noChromium } from './puppeteer-under-test.ts'

describe.skipIf(noChromium).each([
  ['launch', launch],
  ['connect', connect],
] as const)('Puppeteer’s %s', (_, open) => {
  for (const { name, run } of browserGoneTests) test(name, () => run(() => open()))
})
