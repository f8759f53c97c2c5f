// One open SQLite file: its schema, what is read from it, and what is written in one transaction. Nothing here waits: a file that
// another process has locked is an error of SQLite, which the caller may try again after.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { fileIdOf } from './file-id.ts'
import { roomIn } from './room.ts'
import { DamagedTextError, StoreError } from './store-error.ts'

/** What is to be written. Without a text: forgotten. */
export interface Write {
  readonly origin: string
  /** The origin, and the text, as UTF-8. */
  readonly key: Buffer
  readonly text: Buffer | undefined
  /** Milliseconds since 1970. */
  readonly keepUntil: number
}

/** Says whose file it is, where other programs look for that. https://sqlite.org/fileformat.html#application_id */
const APPLICATION_ID = 0x506c7473 // "Plts"
const SCHEMA_VERSION = 1
/**
 * Rows are numbered in the order in which they were set, so the lowest is the oldest. Origins and texts are UTF-8 as blobs: as TEXT they
 * end at a NUL in Node 22. `crc` is of both: SQLite notices a damaged page where it has to follow it, not in the middle of a text.
 */
const SCHEMA = `
  CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    origin BLOB NOT NULL UNIQUE,
    keep_until REAL NOT NULL,
    crc INTEGER NOT NULL,
    text BLOB NOT NULL
  );
  CREATE INDEX texts_by_time ON texts (keep_until);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`
/** Rows that are looked at together when something has to go. */
const CANDIDATES = 64
/** A transaction forgets no more: where the bound was made much smaller, the writes that follow come to it step by step. */
const MOST_FORGOTTEN = 8_192

export class StoreFile {
  readonly #path: string
  readonly #db: DatabaseSync
  /** Which file this is, whatever it is called by now. */
  readonly id: string | undefined
  readonly #mostTextBytes: number
  readonly #mostPages: number
  readonly #pageBytes: number
  readonly #select: StatementSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync
  readonly #expired: StatementSync
  readonly #oldest: StatementSync
  readonly #forget: StatementSync
  readonly #countPages: StatementSync
  readonly #countFree: StatementSync

  /**
   * Opens it, or makes it.
   * @throws {StoreError} for a file that is not ours.
   * @throws SQLite's own errors.
   */
  constructor(path: string, maxBytes: number) {
    this.#path = path
    this.#db = new DatabaseSync(path)
    try {
      const { walBytes, mainBytes, mostTextBytes } = roomIn(maxBytes)
      this.#prepareSchema()
      this.#pageBytes = numberIn(this.#db.prepare('PRAGMA page_size'))
      this.#mostPages = Math.floor(mainBytes / this.#pageBytes)
      this.#mostTextBytes = mostTextBytes
      this.#db.exec(`
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = ${Math.floor(walBytes / this.#pageBytes)};
        PRAGMA journal_size_limit = ${walBytes};
        PRAGMA cell_size_check = ON;
      `)
      this.#select = this.#db.prepare('SELECT text, crc FROM texts WHERE origin = ? AND keep_until > ?')
      this.#insert = this.#db.prepare('INSERT INTO texts (origin, keep_until, crc, text) VALUES (?, ?, ?, ?)')
      this.#delete = this.#db.prepare('DELETE FROM texts WHERE origin = ?')
      const candidates = 'SELECT number, length(text) AS bytes FROM texts'
      this.#expired = this.#db.prepare(`${candidates} WHERE keep_until <= ? ORDER BY keep_until LIMIT ${CANDIDATES}`)
      this.#oldest = this.#db.prepare(`${candidates} ORDER BY number LIMIT ${CANDIDATES}`)
      this.#forget = this.#db.prepare('DELETE FROM texts WHERE number = ?')
      this.#countPages = this.#db.prepare('PRAGMA page_count')
      this.#countFree = this.#db.prepare('PRAGMA freelist_count')
      this.id = fileIdOf(path)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Whether its path still leads to it: another process may have set it aside, or somebody deleted it. */
  get isInPlace(): boolean {
    return fileIdOf(this.#path) === this.id
  }

  get(origin: string, now: number): string | undefined {
    const key = Buffer.from(origin)
    const row = this.#select.get(key, now)
    if (row === undefined) return undefined
    const { text, crc } = row
    if (!(text instanceof Uint8Array) || checksumOf(key, text) !== crc)
      throw new DamagedTextError(`the text of ${origin} is not the one that was written`)
    return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()
  }

  /** All of it, or nothing. Each origin is written once at most. */
  commit(writes: readonly Write[], now: number): void {
    this.#inTransaction(() => {
      for (const { key } of writes) this.#delete.run(key)
      const kept = writes.flatMap(({ key, text, keepUntil }) => {
        // A time that is no number has passed.
        const isKept = text !== undefined && text.length <= this.#mostTextBytes && keepUntil > now
        return isKept ? [{ key, text, keepUntil }] : []
      })
      this.#makeRoom(Math.ceil(kept.reduce((pages, { key, text }) => pages + this.#pagesOf(key, text), 1)), now)
      for (const { key, keepUntil, text } of kept) this.#insert.run(key, keepUntil, checksumOf(key, text), text)
      this.#makeRoom(0, now)
      this.#shrink()
    })
  }

  close(): void {
    this.#db.close()
  }

  /** Only an empty database becomes ours. What another application keeps is left as it is. */
  #prepareSchema(): void {
    this.#db.exec('PRAGMA trusted_schema = OFF')
    const isEmpty = () => this.#version() === 'none'
    if (isEmpty()) {
      this.#db.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
      this.#inTransaction(() => {
        if (isEmpty()) this.#db.exec(SCHEMA) // else another process was faster
      })
    }
    const version = this.#version()
    if (version === SCHEMA_VERSION) return
    if (typeof version === 'number' && version > SCHEMA_VERSION)
      throw new StoreError(
        'ERR_POLITELY_STORE_NEWER',
        this.#path,
        `a newer version of @politely/store-sqlite wrote it (schema ${version}, this one knows ${SCHEMA_VERSION}); install that, or write another path`,
      )
    throw new StoreError(
      'ERR_POLITELY_STORE_FOREIGN',
      this.#path,
      'is the SQLite file of another application; write another path',
    )
  }

  /** Of the schema, in what is ours. */
  #version(): number | 'none' | 'foreign' {
    const application = numberIn(this.#db.prepare('PRAGMA application_id'))
    const version = numberIn(this.#db.prepare('PRAGMA user_version'))
    if (application === APPLICATION_ID && version > 0) return version
    const things = numberIn(this.#db.prepare('SELECT count(*) FROM sqlite_schema'))
    return application === 0 && version === 0 && things === 0 ? 'none' : 'foreign'
  }

  #inTransaction(work: () => void): void {
    // Taken at once and not at the first write: then nothing that was read before it can have changed.
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#db.exec('COMMIT')
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  /** Forgets until so many pages are free, of those that the file may have: what has expired, then what was set longest ago. */
  #makeRoom(pages: number, now: number): void {
    for (let forgotten = 0; forgotten < MOST_FORGOTTEN; ) {
      let missing = (this.#usedPages() + pages - this.#mostPages) * this.#pageBytes
      if (missing <= 0) return
      const expired = this.#expired.all(now)
      const rows = expired.length > 0 ? expired : this.#oldest.all()
      if (rows.length === 0) return
      for (const { number = null, bytes } of rows) {
        this.#forget.run(number)
        forgotten++
        missing -= Number(bytes) // at the least: how many pages it freed is seen in the next turn
        if (missing <= 0) break
      }
    }
  }

  /** Free pages are used again. They are given back to the disk only where there are more pages than there may be. */
  #shrink(): void {
    const excess = numberIn(this.#countPages) - this.#mostPages
    if (excess > 0) this.#db.exec(`PRAGMA incremental_vacuum(${excess})`)
  }

  #usedPages(): number {
    return numberIn(this.#countPages) - numberIn(this.#countFree)
  }

  /** About; what is wrong with it is put right when all is written. */
  #pagesOf(key: Buffer, text: Buffer): number {
    return (1.1 * (2 * key.length + text.length + 64)) / this.#pageBytes
  }
}

function checksumOf(key: Uint8Array, text: Uint8Array): number {
  // In Node 22 an empty text out of SQLite has another sum than an empty one of ours: it has no address, and zlib takes that for a start.
  return text.length === 0 ? crc32(key) : crc32(text, crc32(key))
}

/** The one number of the one row that it gives. */
function numberIn(statement: StatementSync): number {
  const [value] = Object.values(statement.get() ?? {})
  return Number(value)
}
