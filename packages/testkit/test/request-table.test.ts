// The table of a browser's requests, in the pages about Playwright and Puppeteer.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestTable } from '@politely/testkit/browser/browser-request-cases'
import { withTables } from '@politely/testkit/doc-table'
import { expect, test } from 'vitest'

test.each(['playwright.md', 'puppeteer.md'])('docs/%s lists the requests of a browser', async (name) => {
  const path = join(import.meta.dirname, '../../../docs', name)
  await expect(withTables(readFileSync(path, 'utf8'), [requestTable])).toMatchFileSnapshot(path)
})
