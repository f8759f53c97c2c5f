// Renames a damaged file. It is not deleted, because it may help to find out what happened to the
// disk.
import { existsSync, renameSync } from 'node:fs'
import { fileIdOf } from './file-id.ts'

/**
 * The write-ahead log and the shared-memory file are renamed too: a new database must not read
 * the log or the shared memory of another database. `-bodies` is the folder of a page store.
 */
const COMPANION_SUFFIXES = ['-wal', '-shm', '-bodies']

/**
 * @returns the new path; undefined if the path no longer leads to that file, because another
 * process has renamed it.
 */
export function renameDamagedFile(path: string, id: string | undefined): string | undefined {
  if (id === undefined || fileIdOf(path) !== id) return undefined
  const name = unusedName(`${path}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`)
  for (const suffix of [...COMPANION_SUFFIXES, ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, name + suffix)
  return name
}

/** Adds a number when two files are renamed within one millisecond. */
function unusedName(preferred: string): string {
  let name = preferred
  for (let n = 2; existsSync(name); n++) name = `${preferred}-${n}`
  return name
}
