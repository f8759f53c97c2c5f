// A damaged file is renamed, not deleted: somebody may want to know what happened to the disk.
import { existsSync, renameSync } from 'node:fs'
import { fileIdOf } from './file-id.ts'

/** The log, and the memory that processes share, go with the file: a new file must not find another's. */
const COMPANIONS = ['-wal', '-shm']

/** @returns What it is called now; undefined if another process was faster, and the path leads elsewhere or nowhere. */
export function setAside(path: string, id: string | undefined): string | undefined {
  if (id === undefined || fileIdOf(path) !== id) return undefined
  const name = freeName(`${path}.corrupt-${new Date().toISOString().replaceAll(':', '-')}`)
  for (const suffix of [...COMPANIONS, '']) if (existsSync(path + suffix)) renameSync(path + suffix, name + suffix)
  return name
}

/** Two in one millisecond are two. */
function freeName(wanted: string): string {
  let name = wanted
  for (let n = 2; existsSync(name); n++) name = `${wanted}-${n}`
  return name
}
