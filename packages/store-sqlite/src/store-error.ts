// The errors of the store, and how SQLite's errors map to them.

/**
 * The reason for a {@link StoreError}.
 *
 * - `ERR_POLITELY_STORE_CLOSED`: a method was called after `close`.
 * - `ERR_POLITELY_STORE_BUSY`: other processes kept the file locked for longer than `busyTimeoutMs`.
 * - `ERR_POLITELY_STORE_FOREIGN`: the file is the SQLite database of another application.
 * - `ERR_POLITELY_STORE_NEWER`: a newer version of this package wrote the file.
 * - `ERR_POLITELY_STORE_FAILED`: any other failure, such as a full disk or a file that may not be written.
 */
export type StoreErrorCode = `ERR_POLITELY_STORE_${'CLOSED' | 'BUSY' | 'FOREIGN' | 'NEWER' | 'FAILED'}`

/**
 * A `SqliteStore` could not open, read or write its file. `code` says why: the store is closed (`…_CLOSED`), other processes keep
 * the file locked (`…_BUSY`), another application (`…_FOREIGN`) or a newer version (`…_NEWER`) owns it, or SQLite failed
 * (`…_FAILED`).
 *
 * Remedy: for `…_CLOSED` make a new store; for `…_BUSY` try again or raise `busyTimeoutMs`; for `…_FOREIGN` and `…_NEWER` choose another `path`; for `…_FAILED` read `cause`, and check permissions and free disk space.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** Stable; messages may change. */
  readonly code: StoreErrorCode
  /** The absolute path of the file. */
  readonly path: string

  constructor(code: StoreErrorCode, path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }
}

/** A text does not match its checksum, so the file is damaged. Internal: the store replaces the file. */
export class ChecksumError extends Error {
  override readonly name = 'ChecksumError'
}

// Primary result codes: the lowest byte of `errcode`. https://sqlite.org/rescode.html
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const PROTOCOL = 15 // SQLite lost the race for the lock too often
const NOT_A_DATABASE = 26

/** Returns whether another connection has locked the file. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED, PROTOCOL].includes(sqliteCodeOf(error))
}

/** Returns whether the file is damaged or not a database. */
export function isDamage(error: unknown): error is Error {
  return error instanceof ChecksumError || [CORRUPT, NOT_A_DATABASE].includes(sqliteCodeOf(error))
}

/** Returns the primary result code; 0 if SQLite did not throw the error. */
function sqliteCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0
}
