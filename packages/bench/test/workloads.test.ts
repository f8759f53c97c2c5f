// @module-tag full
// Runs every workload at a tiny size. Checks that it completes and that its table is well-formed,
// not its figures.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { noRedisServer } from '@politely/testkit/servers/redis'
import { expect, it } from 'vitest'
import { siteFiles } from '../src/files/site-file.ts'
import { libraries, ours, reference } from '../src/libraries/libraries.ts'
import { naiveMatcher } from '../src/libraries/naive-walk.ts'
import { siteOf } from '../src/libraries/prepared.ts'
import { optionsFrom } from '../src/options.ts'
import { newestRecord, recordOf, writeRecord } from '../src/record.ts'
import type { Sheet } from '../src/sheet.ts'
import { tablesOf } from '../src/speed-page.ts'
import { sheetText } from '../src/terminal.ts'
import { agreement } from '../src/workloads/agreement.ts'
import { coldFetch } from '../src/workloads/cold-fetch.ts'
import { crawl } from '../src/workloads/crawl/crawl.ts'
import { growth } from '../src/workloads/crawl/growth.ts'
import { hostile } from '../src/workloads/hostile.ts'
import { languages } from '../src/workloads/languages/languages.ts'
import { longFiles } from '../src/workloads/long-files.ts'
import { match } from '../src/workloads/match.ts'
import { memory } from '../src/workloads/memory.ts'
import { type Plan, quick } from '../src/workloads/plan.ts'
import { siteVisit } from '../src/workloads/site-visit.ts'
import { storeMemory } from '../src/workloads/store-memory.ts'
import { storeRedis } from '../src/workloads/store-redis.ts'
import { warmClient } from '../src/workloads/warm-client.ts'

const plan: Plan = {
  ...quick,
  libraries: [ours, reference, naiveMatcher],
  rounds: 1,
  turns: 1,
  origins: 50,
  minNs: 1_000,
  timeoutMs: 2_000,
  hostileSteps: { ours: 20, others: 60 },
  turnNs: 1e6,
  coldFetches: 20,
  crawlPages: 100,
  crawlWarmUpPages: 100,
  crawlRounds: 2,
  warmOrigins: 5,
  copies: 1,
}
const sites = Array.from(siteFiles(6), (file, i) => siteOf(file, i))

type Workload = [string, () => Promise<Sheet | Sheet[]>]
const workloads: Workload[] = [
  ['match', () => match({ ...plan, libraries }, sites, 'generated')],
  ['site visit', () => siteVisit({ ...plan, libraries }, sites, 'generated')],
  ['languages', () => languages(plan, sites, 'generated', { google: '/none' })],
  ['long files', () => longFiles(plan)],
  ['hostile', () => hostile(plan)],
  ['memory', () => memory({ ...plan, libraries: [ours] }, undefined)],
  ['cold fetch', () => coldFetch(plan)],
  ['crawl', () => crawl(plan)],
  ['growth', () => growth({ ...plan, growthHosts: [3], growthAtOnce: [2] })],
  ['warm client', () => warmClient(plan)],
  ['store memory', () => storeMemory(plan)],
  ...(noRedisServer() ? [] : [['store redis', () => storeRedis(plan, undefined)] as Workload]),
  ['agreement', () => agreement({ ...plan, libraries }, sites, 'generated')],
]

it.each(workloads)('the workload %s completes', async (_, run) => {
  for (const sheet of [await run()].flat()) {
    expect(sheet.rows.length).toBeGreaterThan(0)
    for (const { name, cells } of sheet.rows) {
      expect(cells, name).toHaveLength(sheet.columns.length)
      for (const cell of cells) if (typeof cell === 'number') expect(cell, name).not.toBeNaN()
    }
    for (const line of sheetText(sheet).split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
    for (const { what, value } of sheet.findings) expect(value, what).toBeTypeOf('number')
  }
})

it('a record contains figures but no names of files', async () => {
  const sheet = await match(plan, sites, 'real')
  const machine = { processor: 'Some Processor', cores: 2, node: '24.0.0', system: 'linux x64' }
  const record = recordOf([sheet], { date: '2026-01-02', machine, isQuick: true, libraries: plan.libraries })
  expect(sheet.notes.join()).toContain('seed')
  expect(JSON.stringify(record)).not.toContain('seed')
  const [machineTable, findings, comparison] = tablesOf(record)
  expect(machineTable?.rows).toEqual([['2026-01-02, a quick run', 'Some Processor', '2', '24.0.0', 'linux x64']])
  expect(findings?.rows.map(([first]) => first)).toEqual(
    sheet.findings.filter(({ target }) => target !== null).map(({ what }) => what),
  )
  expect(comparison?.rows.map(([name]) => name)).toEqual(['politely 0.1.0', 'robots-parser 3.0.1', 'naive walk'])
})

it('newestRecord returns the latest record of any machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-records-'))
  try {
    expect(newestRecord(folder)).toBeUndefined()
    const runs = [
      ['2026-01-02T10:00', 'A Processor'],
      ['2026-01-02T09:30', 'Some Processor'],
      ['2026-01-01T23:59', 'Third Processor'],
    ] as const
    for (const [date, processor] of runs) {
      const machine = { processor, cores: 2, node: '24.0.0', system: 'linux x64' }
      const file = writeRecord(recordOf([], { date, machine, isQuick: false, libraries: [] }), folder)
      expect(basename(file)).toContain(date.slice(0, 10))
    }
    expect(newestRecord(folder)?.date).toBe('2026-01-02T10:00')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('parses the command line, or throws an error that says what is wrong', () => {
  expect(optionsFrom(['hostile', 'match', '--quick', '--peers', 'robots-parser'])).toMatchObject({
    workloads: ['match', 'hostile'],
    libraries: [ours, reference],
    isQuick: true,
  })
  expect(optionsFrom(['languages', '--google=/checkout']).checkouts).toMatchObject({ google: '/checkout' })
  expect(() => optionsFrom(['matches'])).toThrow('there is no workload called matches')
  expect(() => optionsFrom(['--peers', 'nobody'])).toThrow('there is no library called nobody')
  expect(() => optionsFrom(['--record', '--quick'])).toThrow('--into')
})
