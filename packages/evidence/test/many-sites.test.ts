// @module-tag full
// A crawl of many sites that change their robots.txt comes out the same when it is decided once more.
import { expect, test } from 'vitest'
import { replayEvidence, reportEvidence, verifyEvidence } from '../src/audit/index.ts'
import { newFolder } from './evidence-folder.ts'
import { crawlManySites } from './many-sites.ts'

test('verify finds no error, and replay no difference', async () => {
  const dir = newFolder()
  const { decisions, requests } = await crawlManySites({ dir, sites: 200, decisions: 6_000 })
  expect(await verifyEvidence(dir)).toMatchObject({ errors: 0, chains: 1 })
  expect(await replayEvidence(dir)).toMatchObject({ decisions, same: decisions, different: 0, notReplayable: {} })
  const { facts } = await reportEvidence(dir)
  expect(facts).toMatchObject({ totals: { decisions, requests }, withoutResult: 0 })
})
