// The table of what a browser can request, in the pages about its drivers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestTable } from '@politely/testkit/browser-request-cases'
import { withTables } from '@politely/testkit/doc-table'
import { expect, test } from 'vitest'

test.each(['playwright.md', 'puppeteer.md'])('docs/%s lists what a browser can request', async (name) => {
  const path = join(import.meta.dirname, '../../../docs', name)
  await expect(withTables(readFileSync(path, 'utf8'), [requestTable])).toMatchFileSnapshot(path)
})
