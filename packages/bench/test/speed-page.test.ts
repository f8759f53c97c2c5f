import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { newestRecord } from '../src/record.ts'
import { SPEED_PAGE, speedPage } from '../src/speed-page.ts'

it('docs/speed.md contains the tables of the newest record', async () => {
  await expect(speedPage(readFileSync(SPEED_PAGE, 'utf8'), newestRecord())).toMatchFileSnapshot(SPEED_PAGE)
})
