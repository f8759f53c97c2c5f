// Tells a damaged SQLite file from a file of another kind, which the store must not touch.
import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** The first bytes of each SQLite file. https://sqlite.org/fileformat.html#magic_header_string */
const HEADER = Buffer.from('SQLite format 3\0')

/** Returns whether the file has one byte. SQLite treats such a file as empty and overwrites it. */
export function isOneByte(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 1
}

/**
 * Returns whether the file is empty or begins with SQLite's header. Call it only after SQLite has
 * rejected the file: closing a file drops all locks that the process has on it, also the locks of
 * open SQLite connections. https://sqlite.org/howtocorrupt.html#posix_close_bug
 */
export function isSqliteFile(path: string): boolean {
  const start = Buffer.alloc(HEADER.length)
  const file = openSync(path, 'r')
  try {
    const length = readSync(file, start)
    return length === 0 || start.equals(HEADER)
  } finally {
    closeSync(file)
  }
}
