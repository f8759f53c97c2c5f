import { expectPage, readPage } from '@politely/testkit/doc-page'
import { it } from 'vitest'
import { newestRecord } from '../src/record.ts'
import { speedPage } from '../src/speed-page.ts'

it('docs/speed.md contains the tables of the newest record', { tags: 'page' }, async () => {
  await expectPage('docs/speed.md', speedPage(readPage('docs/speed.md'), newestRecord()))
})
