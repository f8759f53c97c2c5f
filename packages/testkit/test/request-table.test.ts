// The table of a browser's requests, in the pages about Playwright and Puppeteer.
import { requestTable } from '@politely/testkit/browser/browser-request-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { test } from 'vitest'

test.each(['playwright.md', 'puppeteer.md'])(
  'docs/%s lists the requests of a browser',
  { tags: 'page' },
  async (name) => {
    await expectTables(`docs/${name}`, requestTable)
  },
)
