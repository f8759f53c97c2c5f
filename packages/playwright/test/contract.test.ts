// @module-tag full
// @module-tag browser
// Runs the common cases for browsers and for adapters with Playwright. In the full run, some of
// them use the whole Chromium.
import { browserTestsFor } from '@politely/testkit/browser/browser-cases'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { isFullRun } from '@politely/testkit/scope'
import { describe, test } from 'vitest'
import { launch, noChromium, type PlaywrightUnderTest, type ways } from './playwright-under-test.ts'

const tests = browserTestsFor('Playwright')
const isWhole = (testCase: (typeof tests)[number]) => isFullRun && testCase.wholeChromium

runIn(
  'launch',
  tests.filter((testCase) => !isWhole(testCase)),
)
if (isFullRun) runIn('launchWhole', tests.filter(isWhole))

function runIn(way: keyof typeof ways, cases: typeof tests): void {
  describe.skipIf(noChromium)(`Playwright’s ${way}`, () => {
    let browser: PlaywrightUnderTest
    useOneBrowser(
      () => launch(way),
      (one) => {
        browser = one
      },
    )

    for (const { name, run } of cases) test(name, () => run(browser))
  })
}
