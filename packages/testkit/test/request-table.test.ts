// The table of a browser's requests, in the page about browsers.
import { requestTable } from '@politely/testkit/browser/browser-request-cases'
import { expectTables } from '@politely/testkit/doc-page'
import { test } from 'vitest'

test('docs/browsers.md lists the requests of a browser', { tags: 'page' }, async () => {
  await expectTables('docs/browsers.md', requestTable)
})
