// What the store throws, and what SQLite's own errors mean to it.

/**
 * `CLOSED`: the store was closed. `BUSY`: another process kept the file locked for longer than `busyTimeoutMs`. `FOREIGN`: the file is
 * another application's. `NEWER`: a newer version of this package wrote it. `FAILED`: all else, such as a full disk or a file that must
 * not be written.
 */
export type StoreErrorCode = `ERR_POLITELY_STORE_${'CLOSED' | 'BUSY' | 'FOREIGN' | 'NEWER' | 'FAILED'}`

export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** Stable; messages may change. */
  readonly code: StoreErrorCode
  /** The file, absolute. */
  readonly path: string

  constructor(code: StoreErrorCode, path: string, what: string, cause?: unknown) {
    super(`${path}: ${what}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }
}

/** A text is not the one that was written. */
export class DamagedTextError extends Error {
  override readonly name = 'DamagedTextError'
}

// https://sqlite.org/rescode.html; what stands above the lowest byte says more than is needed here.
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const PROTOCOL = 15 // a race for the lock that was lost too often
const NOT_A_DATABASE = 26

export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED, PROTOCOL].includes(sqliteCodeOf(error))
}

export function isDamage(error: unknown): error is Error {
  return error instanceof DamagedTextError || [CORRUPT, NOT_A_DATABASE].includes(sqliteCodeOf(error))
}

/** 0 for what is no error of SQLite. */
function sqliteCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0
}
