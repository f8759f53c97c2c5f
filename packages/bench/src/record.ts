// Records: JSON files with the figures of one run, its date and its machine. About real files they
// contain figures only.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Library } from './libraries/library.ts'
import { fileNamePartOf, type Machine } from './machine.ts'
import type { Sheet } from './sheet.ts'

export const RECORDS: string = join(import.meta.dirname, '../record')

export interface BenchRecord {
  /** The start of the run in UTC: YYYY-MM-DDTHH:MM, in old records YYYY-MM-DD. */
  readonly date: string
  readonly machine: Machine
  /** The version of each measured package. */
  readonly versions: Readonly<Record<string, string>>
  readonly isQuick: boolean
  readonly sheets: readonly Omit<Sheet, 'notes'>[]
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
  return { date, machine, versions, isQuick, sheets: sheets.map(({ notes: _, ...sheet }) => sheet) }
}

/** Writes a record into a folder, and returns the path of its file. */
export function writeRecord(record: BenchRecord, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${dayOf(record)}-${fileNamePartOf(record.machine)}.json`)
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`)
  return file
}

/** Returns the day on which the run started. */
export function dayOf({ date }: BenchRecord): string {
  return date.slice(0, 10)
}

/**
 * Returns the latest record in a folder, from any machine; undefined if the folder has no record.
 */
export function newestRecord(folder: string = RECORDS): BenchRecord | undefined {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  const records = names.map((name): BenchRecord => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  return records.reduce<BenchRecord | undefined>(
    (newest, one) => (newest === undefined || one.date > newest.date ? one : newest),
    undefined,
  )
}

/** Returns the packages of a library: one with its name, two, or none. */
function packagesOf(library: string): string[] {
  const packages: Record<string, string[]> = {
    politely: ['@politely/core'],
    'robots-txt-guard': ['robots-txt-guard', 'robots-txt-parse'],
    'naive walk': [],
  }
  return packages[library] ?? [library]
}

function versionOf(name: string): string {
  const manifest = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
