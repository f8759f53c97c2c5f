// The table of texts in an open SQLite file: reads, and transactions that write.
import { DatabaseFile, type FileFormat } from './database-file.ts'
import { sizeLimits } from './size-limits.ts'

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
 * `number` grows with each set, so the lowest is the oldest. Origins and texts are UTF-8 blobs,
 * because Node 22 ends a TEXT value at a NUL. SQLite detects damage in the structure of a page, but
 * not inside a text; the client's entries have a checksum.
 */
const FORMAT: FileFormat = {
  applicationId: 0x506c7473, // "Plts"
  version: 2,
  packageName: '@politely/sqlite',
  schema: `
    DROP TABLE IF EXISTS texts;
    CREATE TABLE texts (
      number INTEGER PRIMARY KEY,
      origin BLOB NOT NULL UNIQUE,
      keep_until REAL NOT NULL,
      text BLOB NOT NULL
    );
    CREATE INDEX texts_by_time ON texts (keep_until);
  `,
}
/** The number of rows that one eviction query selects. */
const EVICTION_BATCH = 64
/**
 * The most rows that one transaction evicts. After `maxBytes` was lowered a lot, several writes
 * share the work.
 */
const MAX_EVICTIONS = 8_192
/** The number of rows that `page` returns at most. A row may have 4 MiB. */
const ROWS_PER_PAGE = 32

const SELECT = 'SELECT text FROM texts WHERE origin = ? AND keep_until > ?'
const SELECT_PAGE = `SELECT number, origin, keep_until, text FROM texts WHERE number > ? ORDER BY number LIMIT ${ROWS_PER_PAGE}`
const INSERT = 'INSERT INTO texts (origin, keep_until, text) VALUES (?, ?, ?)'
const DELETE = 'DELETE FROM texts WHERE origin = ?'
const DELETE_ROW = 'DELETE FROM texts WHERE number = ?'
const CANDIDATES = 'SELECT number, length(text) AS bytes FROM texts'
const SELECT_EXPIRED = `${CANDIDATES} WHERE keep_until <= ? ORDER BY keep_until LIMIT ${EVICTION_BATCH}`
const SELECT_OLDEST = `${CANDIDATES} ORDER BY number LIMIT ${EVICTION_BATCH}`

/** Some texts of the store, and the number of the last one. */
interface TextPage {
  readonly texts: readonly {
    readonly origin: string
    readonly text: string
    /** When the text expires. Milliseconds since 1970. */
    readonly keepUntil: number
  }[]
  readonly last: number | undefined
}

/**
 * A text of the store.
 * @inline
 */
export type StoredText = TextPage['texts'][number]

export class StoreFile {
  readonly database: DatabaseFile
  readonly #maxTextBytes: number

  /**
   * Opens the file, or creates it.
   * @throws {StoreError} if the file belongs to another application or a newer version.
   * @throws errors of SQLite.
   */
  constructor(path: string, maxBytes: number) {
    this.#maxTextBytes = sizeLimits(maxBytes).maxTextBytes
    this.database = new DatabaseFile(path, maxBytes, FORMAT)
  }

  get(origin: string, now: number): string | undefined {
    const text = this.database.statement(SELECT).get(Buffer.from(origin), now)?.text
    return text instanceof Uint8Array ? textOf(text) : undefined
  }

  /**
   * Returns the rows after the row `after`, in the order in which they were set, and the number of
   * the last one.
   */
  page(after: number): TextPage {
    const rows = this.database.statement(SELECT_PAGE).all(after)
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
    const { database } = this
    database.inTransaction(() => {
      for (const { key } of writes) database.statement(DELETE).run(key)
      const kept = writes.flatMap(({ key, text, keepUntil }) => {
        // A `keepUntil` of NaN counts as expired.
        const isKept = text !== undefined && text.length <= this.#maxTextBytes && keepUntil > now
        return isKept ? [{ key, text, keepUntil }] : []
      })
      this.#evictUntilFree(
        kept.reduce((bytes, { key, text }) => bytes + estimatedBytes(key, text), 0),
        now,
      )
      for (const { key, keepUntil, text } of kept) database.statement(INSERT).run(key, keepUntil, text)
      this.#evictUntilFree(0, now)
      database.shrink()
    })
  }

  /**
   * Evicts rows until `bytes` more fit within the limit: first expired rows, then the rows
   * that were set longest ago.
   */
  #evictUntilFree(bytes: number, now: number): void {
    const { database } = this
    for (let evicted = 0; evicted < MAX_EVICTIONS; ) {
      let missingBytes = database.missingBytes(bytes)
      if (missingBytes <= 0) return
      const expired = database.statement(SELECT_EXPIRED).all(now)
      const rows = expired.length > 0 ? expired : database.statement(SELECT_OLDEST).all()
      if (rows.length === 0) return
      for (const { number = null, bytes: freed } of rows) {
        database.statement(DELETE_ROW).run(number)
        evicted++
        missingBytes -= Number(freed) // a lower bound; the next iteration counts the pages that became free
        if (missingBytes <= 0) break
      }
    }
  }
}

/** `commit` evicts again after the writes, which corrects the error of this estimate. */
function estimatedBytes(key: Buffer, text: Buffer): number {
  return 1.1 * (2 * key.length + text.length + 64)
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}
