// One open SQLite file with tables of ours. Nothing here waits: if another process has locked the
// file, SQLite throws, and the caller may try again.
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { fileIdOf } from './file-id.ts'
import { sizeLimits } from './size-limits.ts'
import { DamageError, isSqlError, StoreError } from './store-error.ts'

/** What a kind of file contains, and how to recognize it. */
export interface FileFormat {
  /**
   * Marks the file as ours in SQLite's own header field.
   * https://sqlite.org/fileformat.html#application_id
   */
  readonly applicationId: number
  /** The version of the tables, from 1. */
  readonly version: number
  /** Creates the tables. Drops the tables of older versions, since a cache may lose its content. */
  readonly schema: string
  /** The package that writes such files. */
  readonly packageName: string
}

/** What has to be closed and opened again as one: a file, and what reads and writes its tables. */
export interface OpenFile {
  readonly database: DatabaseFile
}

/** What a file of our other kind is, by its application id. */
const OUR_FILES: Readonly<Record<number, string>> = {
  1349284979: 'this file has robots.txt files, not pages: it is for SqliteStore, or --store of the command',
  1349284976: 'this file has pages, not robots.txt files: it is for SqlitePageStore, or --cache of the command',
}

/** How long to wait for other processes, to empty the log. This blocks the event loop, but it is rare. */
const MAX_CHECKPOINT_WAIT_MS = 50

export class DatabaseFile {
  readonly #path: string
  readonly #format: FileFormat
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #walBytes: number
  readonly #maxPages: number
  readonly #pageBytes: number
  /** Device and inode. They stay the same when another process renames the file. */
  readonly id: string | undefined

  /**
   * Opens the file, or creates it.
   * @param maxBytes The most bytes that the file and its companions take together.
   * @throws {StoreError} if the file belongs to another application or a newer version.
   * @throws errors of SQLite.
   */
  constructor(path: string, maxBytes: number, format: FileFormat) {
    this.#path = path
    this.#format = format
    this.#db = openDatabase(path)
    try {
      const { walBytes, databaseBytes } = sizeLimits(maxBytes)
      this.#walBytes = walBytes
      this.#prepareSchema()
      this.#pageBytes = this.#number('PRAGMA page_size')
      this.#maxPages = Math.floor(databaseBytes / this.#pageBytes)
      this.#db.exec(`
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = ${Math.floor(walBytes / this.#pageBytes)};
        PRAGMA journal_size_limit = ${walBytes};
        PRAGMA cell_size_check = ON;
      `)
      this.id = fileIdOf(path)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Whether the path still leads to this file. Another process may have renamed or deleted it. */
  get isAtPath(): boolean {
    return fileIdOf(this.#path) === this.id
  }

  /** Returns the prepared statement of an SQL text. @throws {DamageError} if the tables do not fit it. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    try {
      const prepared = this.#db.prepare(sql)
      this.#statements.set(sql, prepared)
      return prepared
    } catch (error) {
      // The statement is ours and fits our tables, so the text of their schema has changed.
      throw isSqlError(error) ? new DamageError(`the schema is damaged: ${error.message}`) : error
    }
  }

  /** Commits everything that `work` writes, or nothing. */
  inTransaction<T>(work: () => T): T {
    // Takes the write lock before the first read, so that no other process changes what the
    // transaction has read.
    this.statement('BEGIN IMMEDIATE').run()
    try {
      const result = work()
      this.statement('COMMIT').run()
      this.#shortenLog()
      return result
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  /**
   * Empties a log that has grown too long. SQLite begins it anew only if no process reads it at that
   * moment, which is rare while several processes are busy. So this waits for them a little.
   */
  #shortenLog(): void {
    const size = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (size <= 1.5 * this.#walBytes) return
    try {
      this.#db.exec(`PRAGMA busy_timeout = ${MAX_CHECKPOINT_WAIT_MS}; PRAGMA wal_checkpoint(TRUNCATE)`)
    } catch {
      // The transaction is committed, so it must not fail. The next one finds what is wrong.
    } finally {
      this.#db.exec('PRAGMA busy_timeout = 0')
    }
  }

  /**
   * Returns how many bytes must become free before `bytes` more fit within the limit. Files of the
   * caller next to the database count like more bytes.
   */
  missingBytes(bytes: number): number {
    const usedPages = this.#number('PRAGMA page_count') - this.#number('PRAGMA freelist_count')
    return (usedPages + Math.ceil(bytes / this.#pageBytes) - this.#maxPages) * this.#pageBytes
  }

  /** Like `missingBytes`, but free pages of the file count too. */
  excessBytes(bytes: number): number {
    return (this.#number('PRAGMA page_count') + Math.ceil(bytes / this.#pageBytes) - this.#maxPages) * this.#pageBytes
  }

  /**
   * Returns pages to the file system if the file is over the limit. Otherwise SQLite reuses free
   * pages.
   * @param otherBytes What the files of the caller take next to the database.
   */
  shrink(otherBytes = 0): void {
    const excess = this.excessBytes(otherBytes) / this.#pageBytes
    if (excess > 0) this.#db.exec(`PRAGMA incremental_vacuum(${excess})`)
  }

  /** Returns all free pages to the file system, and shortens the log. */
  compact(): void {
    this.#db.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)')
  }

  close(): void {
    this.#db.close()
  }

  /**
   * Creates the tables in an empty database. Replaces the tables of an older version. Does not change
   * the database of another application.
   */
  #prepareSchema(): void {
    this.#db.exec('PRAGMA trusted_schema = OFF')
    if (this.#schemaVersion() === 'none') this.#db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
    const { applicationId, version: ours, schema, packageName } = this.#format
    if (this.#isOlder()) {
      this.inTransaction(() => {
        if (!this.#isOlder()) return // another process created the tables first
        this.#db.exec(`${schema}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${ours}`)
      })
    }
    const version = this.#schemaVersion()
    if (version === ours) return
    if (version !== 'foreign')
      throw new StoreError(
        'ERR_POLITELY_STORE_NEWER',
        this.#path,
        `a newer version of ${packageName} wrote this file (schema ${version}, this version supports ${ours}); update the package, or write another path`,
      )
    throw new StoreError(
      'ERR_POLITELY_STORE_FOREIGN',
      this.#path,
      `${OUR_FILES[this.#number('PRAGMA application_id')] ?? 'this is the SQLite file of another application'}; write another path`,
    )
  }

  /** Returns whether the database is empty or of an older version of this package. */
  #isOlder(): boolean {
    const version = this.#schemaVersion()
    return version === 'none' || (version !== 'foreign' && version < this.#format.version)
  }

  /**
   * Returns the version of our schema, `none` for an empty database, or `foreign` for the database
   * of another application.
   */
  #schemaVersion(): number | 'none' | 'foreign' {
    const application = this.#number('PRAGMA application_id')
    const version = this.#number('PRAGMA user_version')
    if (application === this.#format.applicationId && version > 0) return version
    const objects = this.#number('SELECT count(*) FROM sqlite_schema')
    return application === 0 && version === 0 && objects === 0 ? 'none' : 'foreign'
  }

  /** Runs a query that returns one row with one number. */
  #number(sql: string): number {
    const [value] = Object.values(this.statement(sql).get() ?? {})
    return Number(value)
  }
}

/**
 * Loads `node:sqlite` when the first file is opened, because Node 22 prints a warning when it is
 * loaded.
 */
function openDatabase(path: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  if (sqlite !== undefined) return new sqlite.DatabaseSync(path)
  throw new StoreError('ERR_POLITELY_STORE_FAILED', path, 'this runtime has no node:sqlite; use Node or Deno')
}
