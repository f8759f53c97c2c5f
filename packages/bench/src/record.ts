// Figures that are kept: of one run on one machine, in a file that says when and on what. Of real files nothing is in it but
// figures.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Library } from './libraries/library.ts'
import { type Machine, slugOf } from './machine.ts'
import type { Sheet } from './sheet.ts'

export const RECORDS: string = join(import.meta.dirname, '../record')

export interface BenchRecord {
  /** When the run began, in UTC, as YYYY-MM-DDTHH:MM; of old ones the day only. */
  readonly date: string
  readonly machine: Machine
  /** Of each library that was measured. */
  readonly versions: Readonly<Record<string, string>>
  readonly isQuick: boolean
  readonly sheets: readonly Omit<Sheet, 'asides'>[]
}

export function recordOf(
  sheets: readonly Sheet[],
  run: {
    readonly date: string
    readonly machine: Machine
    readonly isQuick: boolean
    readonly libraries: readonly Library[]
  },
): BenchRecord {
  const { date, machine, isQuick, libraries } = run
  const versions = Object.fromEntries(
    libraries.flatMap(({ name }) => packagesOf(name).map((id) => [id, versionOf(id)])),
  )
  return { date, machine, versions, isQuick, sheets: sheets.map(({ asides: _, ...sheet }) => sheet) }
}

/** Writes it into a folder, and says under what name. */
export function writeRecord(record: BenchRecord, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${dayOf(record)}-${slugOf(record.machine)}.json`)
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`)
  return file
}

/** The day on which the run began. */
export function dayOf({ date }: BenchRecord): string {
  return date.slice(0, 10)
}

/** The latest one of a folder, whatever the machine; undefined where none was ever made. */
export function newestRecord(folder: string = RECORDS): BenchRecord | undefined {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  const records = names.map((name): BenchRecord => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  return records.reduce<BenchRecord | undefined>(
    (newest, one) => (newest === undefined || one.date > newest.date ? one : newest),
    undefined,
  )
}

/** A library is a package of that name, or two, or none. */
function packagesOf(library: string): string[] {
  const packages: Record<string, string[]> = {
    politely: ['@politely/core'],
    'robots-txt-guard': ['robots-txt-guard', 'robots-txt-parse'],
    'naive walk': [],
    'bare walk': [],
  }
  return packages[library] ?? [library]
}

function versionOf(name: string): string {
  const manifest = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
