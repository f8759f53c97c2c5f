// @module-tag full
// @module-tag browser
// Runs the common cases for browsers and for adapters with Playwright. Some of them use the whole
// Chromium.
import { browserTestsFor } from '@politely/testkit/browser/browser-cases'
import { useOneBrowser } from '@politely/testkit/browser/one-browser'
import { describe, test } from 'vitest'
import { launch, noChromium, type ways } from './playwright-under-test.ts'

const tests = browserTestsFor('Playwright')
const isWhole = (testCase: (typeof tests)[number]) => testCase.wholeChromium

runIn(
  'launch',
  tests.filter((testCase) => !isWhole(testCase)),
)
runIn('launchWhole', tests.filter(isWhole))

function runIn(way: keyof typeof ways, cases: typeof tests): void {
  describe.skipIf(noChromium)(`Playwright’s ${way}`, () => {
    const browser = useOneBrowser(() => launch(way))

    for (const { name, run } of cases) test(name, () => run(browser()))
  })
}
