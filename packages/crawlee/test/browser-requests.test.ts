// @module-tag full
// @module-tag browser
// Each way in which a page can start a request, in Crawlee's browser crawlers.
import { browserRequestTests } from '@politely/testkit/browser/browser-cases'
import { findBrowser, isMissing } from '@politely/testkit/parts'
import { describe, test } from 'vitest'
import { crawlerUnderTest } from './crawler-under-test.ts'

describe.skipIf(isMissing('chromium', findBrowser())).each(['PlaywrightCrawler', 'PuppeteerCrawler'] as const)(
  '%s',
  (kind) => {
    const browser = crawlerUnderTest(kind)
    for (const { name, run } of browserRequestTests) test(name, () => run(browser))
  },
)
