// The tables of docs/speed.md, made from a record. Without one they are empty.
import { join } from 'node:path'
import { type DocTable, withTables } from '@politely/testkit/doc-table'
import { type BenchRecord, dayOf } from './record.ts'
import { cellText, type Finding, figureText, isMet, type Sheet, targetText } from './sheet.ts'

export const SPEED_PAGE: string = join(import.meta.dirname, '../../../docs/speed.md')

type RecordedSheet = Omit<Sheet, 'asides'>

/** For each library and each of these, its first column with that name. */
const SIDE_BY_SIDE: readonly {
  readonly head: string
  readonly workload: string
  readonly over: string
  readonly column: number
}[] = [
  { head: 'visit, 10 questions', workload: 'site visit', over: 'generated', column: 3 },
  { head: 'ask', workload: 'ask', over: 'generated', column: 0 },
  { head: '12,000 rules', workload: '12,000 rules, literal', over: 'own', column: 0 },
  { head: 'with wildcards', workload: '12,000 rules, 30 % with wildcards', over: 'own', column: 0 },
  { head: 'worst file, ms', workload: 'hostile', over: 'own', column: 0 },
  { head: 'memory', workload: 'memory', over: 'generated', column: 0 },
  { head: 'other answers, %', workload: 'agreement', over: 'generated', column: 0 },
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
    { head: ['library', ...SIDE_BY_SIDE.map(({ head }) => head)], rows: libraryRows(record) },
  ]
}

function machineRow(record: BenchRecord): string[] {
  const { processor, cores, node, system } = record.machine
  return [`${dayOf(record)}${record.isQuick ? ', a quick run' : ''}`, processor, `${cores}`, node, system]
}

/** A row for each kind of finding, with a column for generated files and one for real ones. */
function findingRows(sheets: readonly RecordedSheet[]): string[][] {
  const whats = new Set(sheets.flatMap(({ findings }) => findings.map(({ what }) => what)))
  return [...whats].map((what) => {
    const real = findingIn(
      sheets.filter(({ over }) => over === 'real'),
      what,
    )
    const made = findingIn(
      sheets.filter(({ over }) => over !== 'real'),
      what,
    )
    const target = real?.target ?? made?.target
    const unit = real?.unit ?? made?.unit ?? ''
    return [
      what,
      findingText(made),
      findingText(real),
      target === null || target === undefined ? '' : targetText(target, unit),
    ]
  })
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
  const columns = SIDE_BY_SIDE.map(({ workload, over, column }) => {
    const sheet = sheets.find((one) => one.workload === workload && one.over === over)
    return new Map(sheet?.rows.map(({ name, cells }) => [name, cells[column]]))
  })
  const names = new Set(
    sheets.filter(({ workload }) => workload === 'ask').flatMap(({ rows }) => rows.map(({ name }) => name)),
  )
  return [...names].map((name) => {
    const version = versions[name === 'politely' ? '@politely/core' : name]
    return [version === undefined ? name : `${name} ${version}`, ...columns.map((of) => cellText(of.get(name) ?? null))]
  })
}
