// Opens the SQLite file of pages that `--cache` names. Its package, @politely/cache, is loaded only
// then. It is an optional peer of `politely`, so that installs stay small.
import type { CacheReport, PageCache } from '@politely/cache'
import { loadOptional } from '@politely/core/flags'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'
import { assertExists, type Damage, fileOf, withFile, withoutSqliteWarning } from './store.ts'

const MISSING =
  '--cache: its package is not installed; write npm install @politely/cache (and --global if politely is installed globally)'

const load = () => withoutSqliteWarning(() => import('@politely/cache'))

/** The cache of the command line. */
export interface Pages {
  readonly cache: PageCache
  readonly cacheOf: (response: object) => CacheReport | undefined
}

/** Calls `use` with the cache of `--cache`, or with undefined if it is not given. */
export async function withOptionalPageFile<T>(
  args: Arguments,
  use: (pages: Pages | undefined) => Promise<T>,
): Promise<T> {
  const path = fileOf('cache', args.get('cache'))
  return path === undefined ? use(undefined) : withPageFile(path, use, 'replaced')
}

/**
 * Calls `use` with the cache of `--cache`, which is given.
 * @throws {UsageError} for a file that does not exist.
 */
export async function withExistingPageFile<T>(args: Arguments, use: (cache: PageCache) => Promise<T>): Promise<T> {
  const path = fileOf('cache', args.get('cache')) ?? ''
  assertExists('cache', path)
  return withPageFile(path, ({ cache }) => use(cache), 'error')
}

/** @throws {UsageError} if the package is missing, or the file cannot be opened, read or written. */
async function withPageFile<T>(path: string, use: (pages: Pages) => Promise<T>, damage: Damage): Promise<T> {
  const { cacheOf, PageCache, SqlitePageStore } = await loadOptional(
    '@politely/cache',
    load,
    () => new UsageError(MISSING),
  )
  return withFile(
    { flag: 'cache', path, damage },
    async (onSetAside) => new PageCache({ store: new SqlitePageStore({ file: path, onSetAside }) }),
    (cache) => use({ cache, cacheOf }),
  )
}
