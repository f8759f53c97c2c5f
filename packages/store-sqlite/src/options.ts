// What a caller may choose, checked at construction.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { OptionError } from '@politely/core'
import {
  assertKnown,
  assertOptions,
  callable,
  integer,
  LONGEST_TIMER_MS,
  number,
} from '@politely/fetcher/option-checks'

export interface SqliteStoreOptions {
  /** The file; made if it is not there. Its folder must be. SQLite keeps two more beside it, `…-wal` and `…-shm`. */
  readonly path: string
  /**
   * Bytes of disk for the three of them. Default 1 GiB, least 16 MiB. What has expired goes first, then what was set longest ago. A
   * text that takes more than an eighth of it is not kept.
   */
  readonly maxBytes?: number
  /** How long to try while other processes keep the file locked. Default 5 seconds. The event loop is not held up meanwhile. */
  readonly busyTimeoutMs?: number
  /** Told when a damaged file was set aside and a new one begun. Default: a process warning. */
  readonly onSetAside?: (event: SetAside) => void
  /** The clock: milliseconds since 1970. Default `Date.now`. For tests and simulations. */
  readonly now?: () => number
}

/** A damaged file was renamed. */
export interface SetAside {
  readonly path: string
  /** What it is called now. Nothing deletes it. */
  readonly setAsideAs: string
  /** What was wrong with it. */
  readonly error: Error
}

export type Settings = Required<SqliteStoreOptions>

const DEFAULT_BYTES = 1024 * 1024 * 1024
const LEAST_BYTES = 16 * 1024 * 1024
const DEFAULT_BUSY_TIMEOUT_MS = 5_000
const KNOWN: Readonly<Record<keyof SqliteStoreOptions, true>> = {
  path: true,
  maxBytes: true,
  busyTimeoutMs: true,
  onSetAside: true,
  now: true,
}

/** @throws {OptionError} naming the option, what is wrong with it, and what to write instead. */
export function settingsOf(options: SqliteStoreOptions): Settings {
  assertOptions(options, '{ path: "robots.sqlite" }')
  assertKnown(options, KNOWN)
  const {
    maxBytes = DEFAULT_BYTES,
    busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS,
    onSetAside = warn,
    now = Date.now,
  } = options
  return {
    path: checkedPath(options.path),
    maxBytes: integer('maxBytes', maxBytes, { min: LEAST_BYTES }),
    busyTimeoutMs: number('busyTimeoutMs', busyTimeoutMs, { min: 0, max: LONGEST_TIMER_MS }),
    onSetAside: callable('onSetAside', onSetAside, 'a function'),
    now: callable('now', now, 'a function that returns milliseconds'),
  }
}

/** Absolute, so that it stays the same file wherever the process goes. */
function checkedPath(path: unknown): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw new OptionError('path', 'is no file name; write one, such as "robots.sqlite"')
  if (path === ':memory:') throw new OptionError('path', 'is no file; use MemoryStore of @politely/fetcher instead')
  const absolute = resolve(path)
  const folder = dirname(absolute)
  if (!existsSync(folder)) throw new OptionError('path', `there is no folder ${folder}; make it first`)
  return absolute
}

function warn({ path, setAsideAs, error }: SetAside): void {
  process.emitWarning(`${path} was damaged (${error.message}); it is now ${setAsideAs}, and a new one was begun`, {
    type: 'PolitelyWarning',
    code: 'POLITELY_STORE_SET_ASIDE',
  })
}
