// The errors of the store, and how SQLite's errors map to them.
import { PolitelyError } from '@politely/core/internal'

/**
 * The reason for a {@link StoreError}.
 *
 * - `BUSY`: other processes kept the file locked for longer than `busyTimeoutMs`. Remedy: try
 *   again, or raise `busyTimeoutMs`.
 * - `FOREIGN`: the file is not an SQLite file, or is the SQLite database of another application.
 *   Remedy: choose another `path`.
 * - `NEWER`: a newer version of this package wrote the file. Remedy: install that version, or
 *   choose another `path`.
 * - `FAILED`: SQLite failed, for example because the disk is full. Remedy: read `cause`, and check
 *   permissions and free disk space.
 * @inline
 */
type StoreErrorCode = `ERR_POLITELY_STORE_${'BUSY' | 'FOREIGN' | 'NEWER' | 'FAILED'}`

/**
 * A `SqliteStore` could not open, read or write its file; `code` says why.
 */
export class StoreError extends PolitelyError {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** The absolute path of the file. */
  readonly path: string

  constructor(code: StoreErrorCode, path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }
}

// Primary result codes: the lowest byte of `errcode`. https://sqlite.org/rescode.html
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const SQL_ERROR = 1
const CONSTRAINT = 19 // our writes keep all constraints, so an index differs from its table
const PROTOCOL = 15 // SQLite lost the race for the lock too often
const NOT_A_DATABASE = 26

/** Returns whether another connection has locked the file. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED, PROTOCOL].includes(sqliteCodeOf(error))
}

/** SQLite did not notice the damage, but the file has not what was written. */
export class DamageError extends Error {}

/** Returns whether the file is damaged or not a database. */
export function isDamage(error: unknown): error is Error {
  return [CORRUPT, CONSTRAINT].includes(sqliteCodeOf(error)) || isNotADatabase(error) || error instanceof DamageError
}

/**
 * Returns whether the file does not begin like a SQLite database: its start is damaged, or the file
 * is of another kind.
 */
export function isNotADatabase(error: unknown): boolean {
  return sqliteCodeOf(error) === NOT_A_DATABASE
}

/** Returns whether SQLite did not accept a statement. */
export function isSqlError(error: unknown): error is Error {
  return sqliteCodeOf(error) === SQL_ERROR
}

/** Returns the primary result code; 0 if SQLite did not throw the error. */
function sqliteCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0
}
