// What failing disks do to a file of SQLite.
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { seededRandom } from './random-robots.ts'

/** How a file can be damaged so that most of its rows are lost. */
export const fileDamages: readonly (readonly [name: string, damage: (path: string) => void])[] = [
  ['truncated in the middle', (path) => truncateSync(path, sizeOf(path) / 2)],
  ['truncated inside the header', (path) => truncateSync(path, 50)],
  ['overwritten with garbage after the header', (path) => overwrite(path, 16, sizeOf(path) - 16)],
  ['first page overwritten after the header', (path) => overwrite(path, 100, 3_996)],
]

export function sizeOf(path: string): number {
  return statSync(path).size
}

/**
 * Overwrites bytes of a file.
 * @param nextByte Returns the next byte, as a part of 256. Default: garbage.
 */
export function overwrite(path: string, at: number, length: number, nextByte: () => number = seededRandom(at)): void {
  const file = openSync(path, 'r+')
  writeSync(
    file,
    Uint8Array.from({ length }, () => nextByte() * 256),
    0,
    length,
    at,
  )
  closeSync(file)
}
