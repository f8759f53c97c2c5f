// Charts of the newest record of `npm run bench`.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../docs/repository.ts'
import { type Bar, barChart } from './bars.ts'

interface Sheet {
  readonly workload: string
  readonly over: string
  readonly columns: readonly { readonly name: string; readonly unit: string }[]
  readonly rows: readonly { readonly name: string; readonly cells: readonly (number | string | null)[] }[]
}

interface BenchRecord {
  readonly date: string
  readonly machine: { readonly processor: string; readonly cores: number; readonly node: string }
  readonly sheets: readonly Sheet[]
}

/** The time of a site visit, for each number of URLs. */
export function siteVisitChart(counts: readonly number[]): string {
  const record = newestRecord()
  return barChart({
    title: 'One site visit: parse robots.txt, bind the rules, check the URLs.',
    note: `Mean of 2,000 generated files. The naive walk tries all rules, the longest first. ${sourceOf(record)}`,
    unit: 'µs',
    groups: counts.map((count) => ({
      heading: count === 1 ? '1 URL' : `${count} URLs`,
      bars: barsOf(sheetOf(record, 'site visit', 'generated'), `N = ${count}`, 'µs'),
    })),
  })
}

/** Returns how many times as fast as robots-parser a site visit is, with generated files and so many URLs. */
export function siteVisitRatio(urls: number): number {
  const bars = barsOf(sheetOf(newestRecord(), 'site visit', 'generated'), `N = ${urls}`, 'µs')
  const ours = bars.find(({ isOurs }) => isOurs)
  const theirs = bars.find(({ label }) => label === 'robots-parser')
  if (ours === undefined || theirs === undefined) throw new Error('the newest record has no site visit of both parsers')
  return theirs.value / ours.value
}

/** The memory of the rules of one origin. */
export function memoryChart(): string {
  const record = newestRecord()
  return barChart({
    title: 'Memory of the rules of one origin.',
    note: `Generated files with a mean of 1,019 bytes. ${sourceOf(record)}`,
    unit: 'bytes',
    groups: [{ heading: '', bars: barsOf(sheetOf(record, 'memory', 'generated'), 'used', 'bytes/origin') }],
  })
}

function newestRecord(): BenchRecord {
  const folder = join(ROOT, 'packages/bench/record')
  const records = globSync('*.json', { cwd: folder }).map(
    (name): BenchRecord => JSON.parse(readFileSync(join(folder, name), 'utf8')),
  )
  const [newest] = records.toSorted((one, other) => other.date.localeCompare(one.date))
  if (newest === undefined) throw new Error(`no record in ${folder}`)
  return newest
}

function sourceOf({ date, machine }: BenchRecord): string {
  return `Measured on ${date.slice(0, 10)}: ${machine.processor}, ${machine.cores} cores, Node ${machine.node}.`
}

function sheetOf({ sheets }: BenchRecord, workload: string, over: string): Sheet {
  const sheet = sheets.find((one) => one.workload === workload && one.over === over)
  if (sheet === undefined) throw new Error(`the newest record of the benchmark has no ${workload}, ${over}`)
  return sheet
}

/** Returns a bar for each library, the shortest first. Rows in parentheses are controls. */
function barsOf({ columns, rows, workload }: Sheet, name: string, unit: string): readonly Bar[] {
  const column = columns.findIndex((one) => one.name === name && one.unit === unit)
  if (column < 0) throw new Error(`the newest record of the benchmark has no column ${name} in ${workload}`)
  return rows
    .filter((row) => !row.name.startsWith('('))
    .map((row) => ({
      label: row.name === 'politely' ? 'Politely' : row.name,
      value: Number(row.cells[column]),
      isOurs: row.name === 'politely',
    }))
    .toSorted((one, other) => one.value - other.value)
}
