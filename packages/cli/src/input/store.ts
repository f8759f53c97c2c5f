// Opens the SQLite file that `--store` names. page-file.ts opens the file of `--cache`.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DialectName, isPolitelyError, parseRobots } from '@politely/core'
import { entryFrom } from '@politely/core/engine'
import { defaultAccessPolicy, describeState } from '@politely/core/internal'
import type { SqliteStore } from '@politely/sqlite'
import type { SetAside } from '@politely/sqlite/internal'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { errorLine } from '../output/style.ts'
import { isFile } from './is-file.ts'
import { isMissing, isRobots, type NamedRobots } from './robots-file.ts'

/** The flags that name an SQLite file. */
export type FileFlag = 'store' | 'cache'

/**
 * Returns the value of `--store`, or of the environment variable POLITELY_STORE. @throws {UsageError}
 * for a URL.
 */
export function storeFileOf(args: Arguments): string | undefined {
  return fileOf('store', args.get('store') ?? (process.env.POLITELY_STORE || undefined))
}

/** @throws {UsageError} for a URL. */
export function fileOf(flag: FileFlag, path: string | undefined): string | undefined {
  if (path === undefined || !/^(https?|ftp):/i.test(path)) return path
  const example = flag === 'store' ? 'robots.sqlite' : 'pages.sqlite'
  throw new UsageError(
    `--${flag}: ${JSON.stringify(path)} is a URL; write the name of a file, such as ${example}`,
    path,
  )
}

/**
 * What a damaged file means: it is `replaced`, with a line on stderr; or it is an `error`, since a new
 * file has nothing to read.
 */
export type Damage = 'replaced' | 'error'

/**
 * Opens the store, and closes it when `use` is done.
 * @throws {UsageError} if the file cannot be opened, read or written.
 */
export async function withStoreFile<T>(
  path: string,
  use: (store: SqliteStore) => Promise<T>,
  damage: Damage = 'replaced',
): Promise<T> {
  const open = async (onSetAside: (event: SetAside) => void) => {
    const { SqliteStore } = await withoutSqliteWarning(() => import('@politely/sqlite'))
    return new SqliteStore({ path, onSetAside })
  }
  return withFile({ flag: 'store', path, damage }, open, use)
}

/**
 * Opens a file, and closes it when `use` is done.
 * @throws {UsageError} if the file cannot be opened, read or written.
 */
export async function withFile<S extends AsyncDisposable, T>(
  { flag, path, damage }: { readonly flag: FileFlag; readonly path: string; readonly damage: Damage },
  open: (onSetAside: (event: SetAside) => void) => Promise<S>,
  use: (file: S) => Promise<T>,
): Promise<T> {
  if (!existsSync(dirname(path)))
    throw new UsageError(`--${flag}: ${JSON.stringify(path)}: its folder does not exist; create it first`, path)
  let problem: string | undefined
  const throwIfDamaged = () => {
    if (problem !== undefined && damage === 'error') throw new UsageError(problem)
  }
  try {
    await using file = await open(({ setAsideAs, error }) => {
      problem = `--${flag}: ${path} is damaged (${error.message}); it was renamed to ${setAsideAs}, and a new file was created`
      if (damage === 'replaced') process.stderr.write(errorLine(problem))
    })
    throwIfDamaged()
    const result = await use(file)
    throwIfDamaged() // the store may notice the damage late
    return result
  } catch (error) {
    if (!isPolitelyError(error)) throw error
    if (error.name === 'StoreError')
      throw new UsageError(`--${flag}: ${error.message.replace(', or raise busyTimeoutMs', '')}`, path)
    if ('option' in error && (error.option === 'path' || error.option === 'file'))
      throw new UsageError(`--${flag}: ${error.message.slice(`${error.option}: `.length)}`, path)
    throw error
  }
}

/** Calls `use` with the store of the command line, or with undefined if it names none. */
export async function withOptionalStore<T>(
  args: Arguments,
  use: (store: SqliteStore | undefined) => Promise<T>,
): Promise<T> {
  const path = storeFileOf(args)
  return path === undefined ? use(undefined) : withStoreFile(path, use)
}

/**
 * Calls `use` with the store of the command line.
 * @throws {UsageError} if it names none, or a file that does not exist.
 */
export async function withExistingStore<T>(args: Arguments, use: (store: SqliteStore) => Promise<T>): Promise<T> {
  const path = requiredStoreFile(args)
  assertExists('store', path)
  return withStoreFile(path, use, 'error')
}

/** @throws {UsageError} for a file that does not exist. */
export function assertExists(flag: FileFlag, path: string): void {
  if (existsSync(path)) return
  throw new UsageError(
    `--${flag}: ${JSON.stringify(path)}: there is no such file; politely fetch URL --${flag} ${path} creates it`,
    path,
  )
}

/** Whether there is an SQLite file with this name. */
export function isStoreFile(path: string): boolean {
  if (!isFile(path)) return false
  const start = Buffer.alloc(16)
  const file = openSync(path, 'r')
  readSync(file, start)
  closeSync(file)
  return start.toString('latin1') === 'SQLite format 3\0'
}

/**
 * Returns the copy of a robots.txt that a store keeps. A site without one allows everything. Returns
 * undefined, after a line on stderr, if the site did not send a robots.txt.
 * @throws {UsageError} if the store does not have the origin.
 */
export async function loadFromStore(
  path: string,
  origin: string,
  dialect: DialectName,
): Promise<NamedRobots | undefined> {
  const text = await withStoreFile(path, (store) => store.get(origin), 'error')
  const entry = text === undefined ? undefined : entryFrom(text, origin)
  if (entry === undefined)
    throw new UsageError(
      `${JSON.stringify(path)} has no robots.txt of ${origin}; politely cache ls lists what is there`,
    )
  const name = `${origin}/robots.txt in ${path}`
  const { kind, status } = entry.held?.attempt ?? entry.latest
  if (entry.copy === undefined && !(kind === 'unavailable' && isMissing(status))) {
    process.stderr.write(errorLine(`${name}: ${describeState(entry, Date.now(), defaultAccessPolicy)}`))
    return undefined
  }
  const bytes = Buffer.from(entry.copy?.bytes ?? '', 'latin1')
  return isRobots(bytes, name) ? { name, robots: parseRobots(bytes, { dialect }), bytes: bytes.length } : undefined
}

/** @throws {UsageError} if the command line names no store. */
export function requiredStoreFile(args: Arguments): string {
  const path = storeFileOf(args)
  if (path !== undefined) return path
  throw new UsageError(
    '--store: is missing; write --store robots.sqlite, or set the environment variable POLITELY_STORE',
  )
}

/** Loads a module, and `node:sqlite` without the warning of Node 22 that it is experimental. */
export async function withoutSqliteWarning<M>(load: () => Promise<M>): Promise<M> {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    process.getBuiltinModule('node:sqlite')
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}
