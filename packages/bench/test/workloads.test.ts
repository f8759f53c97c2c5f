// Every workload, once and tiny: it runs to its end, and what it says has the shape that a table needs. No figure is judged.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isFullRun } from '@politely/testkit/scope'
import { expect, it } from 'vitest'
import { siteFiles } from '../src/files/site-file.ts'
import { libraries, ours, reference } from '../src/libraries/libraries.ts'
import { naiveWalk } from '../src/libraries/naive-walk.ts'
import { siteOf } from '../src/libraries/prepared.ts'
import { optionsFrom } from '../src/options.ts'
import { newestRecord, recordOf, writeRecord } from '../src/record.ts'
import type { Sheet } from '../src/sheet.ts'
import { tablesOf } from '../src/speed-page.ts'
import { sheetText } from '../src/terminal.ts'
import { agreement } from '../src/workloads/agreement.ts'
import { ask } from '../src/workloads/ask.ts'
import { coldFetch } from '../src/workloads/cold-fetch.ts'
import { hostile } from '../src/workloads/hostile.ts'
import { longFiles } from '../src/workloads/long-files.ts'
import { memory } from '../src/workloads/memory.ts'
import { type Plan, quick } from '../src/workloads/plan.ts'
import { siteVisit } from '../src/workloads/site-visit.ts'
import { storeMemory } from '../src/workloads/store-memory.ts'
import { warmClient } from '../src/workloads/warm-client.ts'

const plan: Plan = {
  ...quick,
  libraries: [ours, reference, naiveWalk],
  rounds: 1,
  turns: 1,
  origins: 50,
  leastNs: 1_000,
  patienceMs: 2_000,
  hostileSteps: { ours: 20, others: 60 },
  turnNs: 1e6,
  coldFetches: 20,
  warmOrigins: 5,
  copies: 1,
}
const sites = Array.from(siteFiles(6), (file, i) => siteOf(file, i))

/** These start processes, and take seconds. */
const slow = ['hostile', 'memory', 'cold fetch', 'store memory']
const workloads: [string, () => Promise<Sheet | Sheet[]>][] = [
  ['ask', () => ask({ ...plan, libraries }, sites, 'generated')],
  ['site visit', () => siteVisit({ ...plan, libraries }, sites, 'generated')],
  ['long files', () => longFiles(plan)],
  ['hostile', () => hostile(plan)],
  ['memory', () => memory({ ...plan, libraries: [ours] }, undefined)],
  ['cold fetch', () => coldFetch(plan)],
  ['warm client', () => warmClient(plan)],
  ['store memory', () => storeMemory(plan)],
  ['agreement', () => agreement({ ...plan, libraries }, sites, 'generated')],
]

it.each(workloads.filter(([name]) => isFullRun || !slow.includes(name)))('%s', async (_, run) => {
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

it('keeps figures in a record, and no names of files', async () => {
  const sheet = await ask(plan, sites, 'real')
  const machine = { processor: 'Some Processor', cores: 2, node: '24.0.0', system: 'linux x64' }
  const record = recordOf([sheet], { date: '2026-01-02', machine, isQuick: true, libraries: plan.libraries })
  expect(sheet.asides.join()).toContain('seed')
  expect(JSON.stringify(record)).not.toContain('seed')
  const [on, what, sideBySide] = tablesOf(record)
  expect(on?.rows).toEqual([['2026-01-02, a quick run', 'Some Processor', '2', '24.0.0', 'linux x64']])
  expect(what?.rows.map(([first]) => first)).toEqual(sheet.findings.map((finding) => finding.what))
  expect(sideBySide?.rows.map(([name]) => name)).toEqual(['politely 0.1.0', 'robots-parser 3.0.1', 'naive walk'])
})

it('takes the record that was made last for the newest, whatever the machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'politely-records-'))
  try {
    expect(newestRecord(folder)).toBeUndefined()
    const made = [
      ['2026-01-02T10:00', 'A Processor'],
      ['2026-01-02T09:30', 'Some Processor'],
      ['2026-01-01T23:59', 'Third Processor'],
    ] as const
    for (const [date, processor] of made) {
      const machine = { processor, cores: 2, node: '24.0.0', system: 'linux x64' }
      const file = writeRecord(recordOf([], { date, machine, isQuick: false, libraries: [] }), folder)
      expect(basename(file)).toContain(date.slice(0, 10))
    }
    expect(newestRecord(folder)?.date).toBe('2026-01-02T10:00')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('follows the command line or says why not', () => {
  expect(optionsFrom(['hostile', 'ask', '--quick', '--peers', 'robots-parser'])).toMatchObject({
    workloads: ['ask', 'hostile'],
    libraries: [ours, reference],
    isQuick: true,
  })
  expect(() => optionsFrom(['asks'])).toThrow('no workload is called asks')
  expect(() => optionsFrom(['--peers', 'nobody'])).toThrow('no library is called nobody')
  expect(() => optionsFrom(['--record', '--quick'])).toThrow('--into')
})
