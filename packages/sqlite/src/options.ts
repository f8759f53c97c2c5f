// The options of SqliteStore. The constructor validates them.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { OptionError } from '@politely/core'
import { assertOptions, callable, integer, MAX_TIMEOUT_MS, number } from '@politely/fetcher/internal'

/** Options of a `SqliteStore`. Only `path` is required. */
export interface SqliteStoreOptions {
  /**
   * The database file. The store creates it if necessary, but not its folder. SQLite adds two files
   * beside it, `…-wal` and `…-shm`.
   */
  readonly path: string
  /**
   * The most bytes that the three files take together, from 16 MiB. When it is reached, the store
   * deletes expired texts first, then the texts that were set longest ago. It does not keep a text
   * longer than an eighth of this, or than 4 MiB.
   * @default 1 GiB
   */
  readonly maxBytes?: number | undefined
  /**
   * How long to retry while other processes keep the file locked, in milliseconds. Methods do not
   * block the event loop meanwhile; the constructor does.
   * @default 5000
   */
  readonly busyTimeoutMs?: number | undefined
  /**
   * Called after the store has renamed a damaged file.
   * @default a process warning with the code `POLITELY_STORE_SET_ASIDE`
   */
  readonly onSetAside?: ((event: SetAside) => void) | undefined
  /**
   * The clock, in milliseconds since 1970. For tests and simulations.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/**
 * Describes a damaged file that the store has renamed.
 * @inline
 */
export type SetAside = {
  /** The old path, where the new file will be. */
  readonly path: string
  /** The new path of the damaged file. The store never deletes it. */
  readonly setAsideAs: string
  /** The error that showed the damage. */
  readonly error: Error
}

export type StoreSettings = { readonly [O in keyof SqliteStoreOptions]-?: NonNullable<SqliteStoreOptions[O]> }

const DEFAULT_BYTES = 1024 * 1024 * 1024
const MIN_BYTES = 16 * 1024 * 1024
const DEFAULT_BUSY_TIMEOUT_MS = 5_000
const KNOWN: Readonly<Record<keyof SqliteStoreOptions, true>> = {
  path: true,
  maxBytes: true,
  busyTimeoutMs: true,
  onSetAside: true,
  now: true,
}

/** Fills in defaults. @throws {OptionError} for an invalid option. */
export function storeSettingsOf(options: SqliteStoreOptions): StoreSettings {
  assertFileOptions(options, KNOWN, FILE_WORDS)
  return { path: absolutePath(options.path, FILE_WORDS), ...fileSettings(options) }
}

/** What error messages say about the option that names the file. */
export interface FileWords {
  readonly option: string
  /** A file name, such as `robots.sqlite`. */
  readonly example: string
  /** The store to use instead of a file in memory. */
  readonly inMemory: string
}

const FILE_WORDS: FileWords = { option: 'path', example: 'robots.sqlite', inMemory: 'MemoryStore of @politely/fetcher' }

/** @throws {OptionError} if `options` is not an object, or has an unknown option. */
export function assertFileOptions(
  options: object,
  known: Readonly<Record<string, true>>,
  { option, example }: FileWords,
): void {
  if (typeof options === 'string')
    throw new OptionError('options', `a string was given; write { ${option}: ${JSON.stringify(options)} }`)
  assertOptions(options, `{ ${option}: "${example}" }`, known)
}

/** Fills in the defaults of the options that all stores in files have. @throws {OptionError} for an invalid option. */
export function fileSettings(options: Omit<SqliteStoreOptions, 'path'>): Omit<StoreSettings, 'path'> {
  const {
    maxBytes = DEFAULT_BYTES,
    busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS,
    onSetAside = emitSetAsideWarning,
    now = Date.now,
  } = options
  return {
    maxBytes: integer('maxBytes', maxBytes, { min: MIN_BYTES }),
    busyTimeoutMs: number('busyTimeoutMs', busyTimeoutMs, { min: 0, max: MAX_TIMEOUT_MS }),
    onSetAside: callable('onSetAside', onSetAside, 'a function'),
    now: callable('now', now, 'a function that returns milliseconds'),
  }
}

/**
 * Makes the path absolute, so that it leads to the same file after a change of the working
 * directory.
 */
export function absolutePath(path: unknown, { option, example, inMemory }: FileWords): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    const given = typeof path === 'string' ? JSON.stringify(path) : String(path)
    throw new OptionError(option, `${given} is not a file name; write one, such as "${example}"`)
  }
  if (path === ':memory:')
    throw new OptionError(option, `":memory:" is not a file; write a file name, or use ${inMemory}`)
  const absolute = resolve(path)
  const folder = dirname(absolute)
  if (!existsSync(folder)) throw new OptionError(option, `the folder ${folder} does not exist; create it first`)
  return absolute
}

function emitSetAsideWarning({ path, setAsideAs, error }: SetAside): void {
  process.emitWarning(
    `${path} is damaged (${error.message}); the store renamed it to ${setAsideAs} and creates a new file`,
    {
      type: 'PolitelyWarning',
      code: 'POLITELY_STORE_SET_ASIDE',
    },
  )
}
