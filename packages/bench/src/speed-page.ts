// Generates the tables of docs/speed.md from a record. Without a record they are empty.
import { join } from 'node:path'
import { type DocTable, withTables } from '@politely/testkit/doc-table'
import { type BenchRecord, dayOf } from './record.ts'
import { cellText, type Finding, figureText, isMet, type Sheet, targetText } from './sheet.ts'

export const SPEED_PAGE: string = join(import.meta.dirname, '../../../docs/speed.md')

type RecordedSheet = Omit<Sheet, 'notes'>

const MATCH = ['match', 'ask']

/** The columns of the comparison of libraries: a workload, and a column of its table. */
const COMPARISON: readonly {
  readonly head: string
  /** The name in new records, then other names in old ones. */
  readonly workloads: readonly string[]
  readonly over: string
  readonly column: number
}[] = [
  { head: 'visit, 10 URLs', workloads: ['site visit'], over: 'generated', column: 3 },
  { head: 'match', workloads: MATCH, over: 'generated', column: 0 },
  { head: '12,000 rules', workloads: ['12,000 rules, literal'], over: 'own', column: 0 },
  { head: 'with wildcards', workloads: ['12,000 rules, 30 % with wildcards'], over: 'own', column: 0 },
  { head: 'worst file, ms', workloads: ['hostile'], over: 'own', column: 0 },
  { head: 'memory', workloads: ['memory'], over: 'generated', column: 0 },
  { head: 'different verdicts, %', workloads: ['agreement'], over: 'generated', column: 0 },
]

export function speedPage(page: string, record: BenchRecord | undefined): string {
  return withTables(page, tablesOf(record))
}

export function tablesOf(record: BenchRecord | undefined): DocTable[] {
  const sheets = record?.sheets ?? []
  return [
    {
      head: ['measured on', 'processor', 'cores', 'Node', 'system'],
      rows: record === undefined ? [] : [machineRow(record)],
    },
    { head: ['what', 'generated files', 'real files', 'target'], rows: findingRows(sheets) },
    { head: ['library', ...COMPARISON.map(({ head }) => head)], rows: libraryRows(record) },
  ]
}

function machineRow(record: BenchRecord): string[] {
  const { processor, cores, node, system } = record.machine
  return [`${dayOf(record)}${record.isQuick ? ', a quick run' : ''}`, processor, `${cores}`, node, system]
}

/**
 * Returns one row for each kind of finding with a target, with a column for generated files and one
 * for real files.
 */
function findingRows(sheets: readonly RecordedSheet[]): string[][] {
  const withTarget = sheets.flatMap(({ findings }) => findings.filter(({ target }) => target !== null))
  const whats = new Set(withTarget.map(({ what }) => what))
  return [...whats].map((what) => {
    const real = findingIn(
      sheets.filter(({ over }) => over === 'real'),
      what,
    )
    const generated = findingIn(
      sheets.filter(({ over }) => over !== 'real'),
      what,
    )
    return [what, findingText(generated), findingText(real), targetCell(generated, real)]
  })
}

/**
 * If only one kind of file has a target, the cell names it: the other figure is not compared with
 * the target.
 */
function targetCell(generated: Finding | undefined, real: Finding | undefined): string {
  const kinds = [
    { finding: generated, name: 'generated files' },
    { finding: real, name: 'real files' },
  ].filter(({ finding }) => finding !== undefined)
  const [first, ...others] = kinds.filter(({ finding }) => finding?.target)
  if (!first?.finding?.target) return ''
  const text = targetText(first.finding.target, first.finding.unit)
  return others.length + 1 === kinds.length ? text : `${text} (${first.name})`
}

function findingIn(sheets: readonly RecordedSheet[], what: string): Finding | undefined {
  return sheets.flatMap(({ findings }) => findings).find((one) => one.what === what)
}

function findingText(finding: Finding | undefined): string {
  if (finding === undefined) return ''
  const { value, unit, target } = finding
  return `${figureText(value, unit)}${target !== null && !isMet(value, target) ? ', missed' : ''}`
}

function libraryRows(record: BenchRecord | undefined): string[][] {
  if (record === undefined) return []
  const { sheets, versions } = record
  const columns = COMPARISON.map(({ workloads, over, column }) => {
    const sheet = sheets.find((one) => workloads.includes(one.workload) && one.over === over)
    return new Map(sheet?.rows.map(({ name, cells }) => [name, cells[column]]))
  })
  const names = new Set(
    sheets.filter(({ workload }) => MATCH.includes(workload)).flatMap(({ rows }) => rows.map(({ name }) => name)),
  )
  return [...names].map((name) => {
    const version = versions[name === 'politely' ? '@politely/core' : name]
    return [version === undefined ? name : `${name} ${version}`, ...columns.map((of) => cellText(of.get(name) ?? null))]
  })
}
