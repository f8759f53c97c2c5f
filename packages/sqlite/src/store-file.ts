// One open SQLite file: its schema, reads, and transactions. Nothing here waits: if another process
// has locked the file, SQLite throws, and the caller may try again.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { fileIdOf } from './file-id.ts'
import { sizeLimits } from './size-limits.ts'
import { StoreError } from './store-error.ts'

/** Sets or deletes the text of an origin. */
export interface Write {
  readonly origin: string
  /** The origin as UTF-8. */
  readonly key: Buffer
  /** The text as UTF-8; undefined to delete it. */
  readonly text: Buffer | undefined
  /** Milliseconds since 1970. */
  readonly keepUntil: number
}

/**
 * Marks the file as ours in SQLite's own header field.
 * https://sqlite.org/fileformat.html#application_id
 */
const APPLICATION_ID = 0x506c7473 // "Plts"
const SCHEMA_VERSION = 2
/**
 * `number` grows with each set, so the lowest is the oldest. Origins and texts are UTF-8 blobs,
 * because Node 22 ends a TEXT value at a NUL. SQLite detects damage in the structure of a page, but
 * not inside a text; the client's entries have a checksum.
 */
const SCHEMA = `
  DROP TABLE IF EXISTS texts;
  CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    origin BLOB NOT NULL UNIQUE,
    keep_until REAL NOT NULL,
    text BLOB NOT NULL
  );
  CREATE INDEX texts_by_time ON texts (keep_until);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`
/** The number of rows that one eviction query selects. */
const EVICTION_BATCH = 64
/**
 * The most rows that one transaction evicts. After `maxBytes` was lowered a lot, several writes
 * share the work.
 */
const MAX_EVICTIONS = 8_192
/** The number of rows that `page` returns at most. A row may have 4 MiB. */
const ROWS_PER_PAGE = 32

/** A text of the store. */
export interface StoredText {
  readonly origin: string
  readonly text: string
  /** When the text expires. Milliseconds since 1970. */
  readonly keepUntil: number
}

export class StoreFile {
  readonly #path: string
  readonly #db: DatabaseSync
  /** Device and inode. They stay the same when another process renames the file. */
  readonly id: string | undefined
  readonly #maxTextBytes: number
  readonly #maxPages: number
  readonly #pageBytes: number
  readonly #select: StatementSync
  readonly #selectPage: StatementSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync
  readonly #selectExpired: StatementSync
  readonly #selectOldest: StatementSync
  readonly #deleteRow: StatementSync
  readonly #countPages: StatementSync
  readonly #countFree: StatementSync

  /**
   * Opens the file, or creates it.
   * @throws {StoreError} if the file belongs to another application or a newer version.
   * @throws errors of SQLite.
   */
  constructor(path: string, maxBytes: number) {
    this.#path = path
    this.#db = new DatabaseSync(path)
    try {
      const { walBytes, databaseBytes, maxTextBytes } = sizeLimits(maxBytes)
      this.#prepareSchema()
      this.#pageBytes = queryNumber(this.#db.prepare('PRAGMA page_size'))
      this.#maxPages = Math.floor(databaseBytes / this.#pageBytes)
      this.#maxTextBytes = maxTextBytes
      this.#db.exec(`
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = ${Math.floor(walBytes / this.#pageBytes)};
        PRAGMA journal_size_limit = ${walBytes};
        PRAGMA cell_size_check = ON;
      `)
      this.#select = this.#db.prepare('SELECT text FROM texts WHERE origin = ? AND keep_until > ?')
      this.#selectPage = this.#db.prepare(
        `SELECT number, origin, keep_until, text FROM texts WHERE number > ? ORDER BY number LIMIT ${ROWS_PER_PAGE}`,
      )
      this.#insert = this.#db.prepare('INSERT INTO texts (origin, keep_until, text) VALUES (?, ?, ?)')
      this.#delete = this.#db.prepare('DELETE FROM texts WHERE origin = ?')
      const candidates = 'SELECT number, length(text) AS bytes FROM texts'
      this.#selectExpired = this.#db.prepare(
        `${candidates} WHERE keep_until <= ? ORDER BY keep_until LIMIT ${EVICTION_BATCH}`,
      )
      this.#selectOldest = this.#db.prepare(`${candidates} ORDER BY number LIMIT ${EVICTION_BATCH}`)
      this.#deleteRow = this.#db.prepare('DELETE FROM texts WHERE number = ?')
      this.#countPages = this.#db.prepare('PRAGMA page_count')
      this.#countFree = this.#db.prepare('PRAGMA freelist_count')
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

  get(origin: string, now: number): string | undefined {
    const text = this.#select.get(Buffer.from(origin), now)?.text
    return text instanceof Uint8Array ? textOf(text) : undefined
  }

  /**
   * Returns the rows after the row `after`, in the order in which they were set, and the number of
   * the last one.
   */
  page(after: number): { readonly texts: readonly StoredText[]; readonly last: number | undefined } {
    const rows = this.#selectPage.all(after)
    const texts = rows.flatMap(({ origin, keep_until: keepUntil, text }) =>
      origin instanceof Uint8Array && text instanceof Uint8Array
        ? [{ origin: textOf(origin), text: textOf(text), keepUntil: Number(keepUntil) }]
        : [],
    )
    const last = rows.at(-1)?.number
    return { texts, last: last === undefined ? undefined : Number(last) }
  }

  /** Writes everything in one transaction, or nothing. Each origin occurs at most once. */
  commit(writes: readonly Write[], now: number): void {
    this.#inTransaction(() => {
      for (const { key } of writes) this.#delete.run(key)
      const kept = writes.flatMap(({ key, text, keepUntil }) => {
        // A `keepUntil` of NaN counts as expired.
        const isKept = text !== undefined && text.length <= this.#maxTextBytes && keepUntil > now
        return isKept ? [{ key, text, keepUntil }] : []
      })
      this.#evictUntilFree(
        Math.ceil(kept.reduce((pages, { key, text }) => pages + this.#estimatedPages(key, text), 1)),
        now,
      )
      for (const { key, keepUntil, text } of kept) this.#insert.run(key, keepUntil, text)
      this.#evictUntilFree(0, now)
      this.#shrink()
    })
  }

  close(): void {
    this.#db.close()
  }

  /**
   * Creates the tables in an empty database. Replaces the tables of an older version, since a cache
   * may drop its texts. Does not change the database of another application.
   */
  #prepareSchema(): void {
    this.#db.exec('PRAGMA trusted_schema = OFF')
    if (this.#schemaVersion() === 'none') this.#db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
    if (this.#isOlder()) {
      this.#inTransaction(() => {
        if (this.#isOlder()) this.#db.exec(SCHEMA) // otherwise another process created the tables first
      })
    }
    const version = this.#schemaVersion()
    if (version === SCHEMA_VERSION) return
    if (version !== 'foreign')
      throw new StoreError(
        'ERR_POLITELY_STORE_NEWER',
        this.#path,
        `a newer version of @politely/sqlite wrote this file (schema ${version}, this version supports ${SCHEMA_VERSION}); update the package, or write another path`,
      )
    throw new StoreError(
      'ERR_POLITELY_STORE_FOREIGN',
      this.#path,
      'this is the SQLite file of another application; write another path',
    )
  }

  /** Returns whether the database is empty or of an older version of this package. */
  #isOlder(): boolean {
    const version = this.#schemaVersion()
    return version === 'none' || (version !== 'foreign' && version < SCHEMA_VERSION)
  }

  /**
   * Returns the version of our schema, `none` for an empty database, or `foreign` for the database
   * of another application.
   */
  #schemaVersion(): number | 'none' | 'foreign' {
    const application = queryNumber(this.#db.prepare('PRAGMA application_id'))
    const version = queryNumber(this.#db.prepare('PRAGMA user_version'))
    if (application === APPLICATION_ID && version > 0) return version
    const objects = queryNumber(this.#db.prepare('SELECT count(*) FROM sqlite_schema'))
    return application === 0 && version === 0 && objects === 0 ? 'none' : 'foreign'
  }

  #inTransaction(work: () => void): void {
    // Takes the write lock before the first read, so that no other process changes what the
    // transaction has read.
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#db.exec('COMMIT')
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  /**
   * Evicts rows until `pages` pages are free within the limit: first expired rows, then the rows
   * that were set longest ago.
   */
  #evictUntilFree(pages: number, now: number): void {
    for (let evicted = 0; evicted < MAX_EVICTIONS; ) {
      let missingBytes = (this.#usedPages() + pages - this.#maxPages) * this.#pageBytes
      if (missingBytes <= 0) return
      const expired = this.#selectExpired.all(now)
      const rows = expired.length > 0 ? expired : this.#selectOldest.all()
      if (rows.length === 0) return
      for (const { number = null, bytes } of rows) {
        this.#deleteRow.run(number)
        evicted++
        missingBytes -= Number(bytes) // a lower bound; the next iteration counts the pages that became free
        if (missingBytes <= 0) break
      }
    }
  }

  /**
   * Returns pages to the file system if the file is over the limit. Otherwise SQLite reuses free
   * pages.
   */
  #shrink(): void {
    const excess = queryNumber(this.#countPages) - this.#maxPages
    if (excess > 0) this.#db.exec(`PRAGMA incremental_vacuum(${excess})`)
  }

  #usedPages(): number {
    return queryNumber(this.#countPages) - queryNumber(this.#countFree)
  }

  /** An estimate. `commit` evicts again after the writes, which corrects its error. */
  #estimatedPages(key: Buffer, text: Buffer): number {
    return (1.1 * (2 * key.length + text.length + 64)) / this.#pageBytes
  }
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}

/** Runs a query that returns one row with one number. */
function queryNumber(statement: StatementSync): number {
  const [value] = Object.values(statement.get() ?? {})
  return Number(value)
}
