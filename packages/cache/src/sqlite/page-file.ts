// The tables of pages and visits in an open SQLite file. Nothing here waits: if another process has
// locked the file, SQLite throws, and the caller may try again.
//
// A short body is a row of `bodies`. A longer body is a file (body-folder.ts), which is cheaper to
// write. How such a response becomes visible:
//
// 1. The first block of its body creates a row of `pages` without a URL. Such a page is loose: no query
//    finds it. Its row reserves space for the file, and more as the body grows.
// 2. The blocks are appended to the file.
// 3. The last transaction gives the page its URL, its record and the checksums of its blocks, and
//    deletes the page that it replaces. So a response is whole or absent, whenever the process ends.
//
// A page with a file is deleted in two steps: it becomes loose, and the next transaction deletes its
// file and then its row. An unfinished page is deleted when its process has died, or when it was given
// up.
import { closeSync, openSync } from 'node:fs'
import { hostname } from 'node:os'
import zlib from 'node:zlib' // crc32 is missing in an old Node, which could not load this module then
import { DamageError, DatabaseFile, type FileFormat, sizeLimits } from '@politely/sqlite/internal'
import { MAX_VARIANTS, type PageRecord, type StoredPage, type VisitLog } from '../page-store.ts'
import { type BodyFile, BodyFolder } from './body-folder.ts'

/**
 * Texts are blobs, because Node 22 ends a TEXT value at a NUL. They are JSON, which escapes lone
 * surrogates. SQLite does not notice damage inside a blob, so each has a checksum. IDs begin at a
 * random number, so that no page of a new file has the ID of a page in a file that it replaced.
 */
const FORMAT: FileFormat = {
  applicationId: 0x506c7470, // "Pltp"
  version: 2,
  packageName: '@politely/cache',
  // Of a file of version 1, the visits are kept, and the pages are deleted: it has stored cut bodies,
  // challenges, and pages of API keys that it would return to others.
  schema: `
    CREATE TABLE IF NOT EXISTS urls (
      id INTEGER PRIMARY KEY,
      url BLOB NOT NULL UNIQUE,
      used INTEGER NOT NULL,
      visits BLOB,
      checksum INTEGER,
      due_at REAL
    );
    CREATE INDEX IF NOT EXISTS urls_by_use ON urls (used);
    CREATE INDEX IF NOT EXISTS urls_by_due ON urls (due_at) WHERE due_at IS NOT NULL;
    CREATE TABLE IF NOT EXISTS pages (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      url INTEGER,
      varied BLOB,
      record BLOB,
      received_at REAL,
      body_bytes INTEGER,
      blocks BLOB,
      checksum INTEGER,
      file_bytes INTEGER NOT NULL DEFAULT 0,
      keep_until REAL,
      writer TEXT,
      UNIQUE (url, varied)
    );
    CREATE INDEX IF NOT EXISTS loose_pages ON pages (keep_until) WHERE url IS NULL;
    CREATE TABLE IF NOT EXISTS bodies (
      page INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    );
    CREATE TABLE IF NOT EXISTS usage (file_bytes INTEGER NOT NULL);
    INSERT INTO usage SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM usage);
    CREATE TRIGGER IF NOT EXISTS reserved AFTER UPDATE OF file_bytes ON pages BEGIN
      UPDATE usage SET file_bytes = file_bytes + new.file_bytes - old.file_bytes;
    END;
    CREATE TRIGGER IF NOT EXISTS deleted AFTER DELETE ON pages WHEN old.file_bytes > 0 BEGIN
      UPDATE usage SET file_bytes = file_bytes - old.file_bytes;
    END;
    INSERT INTO sqlite_sequence (name, seq)
      SELECT 'pages', abs(random()) >> 12 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pages');
    UPDATE pages SET url = NULL, varied = NULL, record = NULL, file_bytes = 0, keep_until = 0, writer = NULL;
    DELETE FROM bodies;
    DELETE FROM urls WHERE visits IS NULL;
  `,
}

/**
 * A longer body is a file. Microseconds to write a body as rows of 128 KiB or as a file: 10 KB 190 and
 * 230, 20 KB 270 and 210, 50 KB 470 and 190, 100 KB 870 and 190, 1 MB 7,500 and 520, 10 MB 80,000 and
 * 7,000 (Node 24, two cores). SQLite writes each of its pages of 4 KiB to the log with a checksum, and
 * later again. Larger rows and larger pages gain a sixth at most.
 */
const MAX_ROW_BYTES = 20_480
/** Long bodies have a checksum for each so many bytes. */
export const BLOCK_BYTES = 131_072
/** A writer that wrote nothing for so long has been given up, if its process cannot be asked. Milliseconds. */
const WRITING_MS = 3_600_000
/** The most loose pages that one transaction deletes. */
const SWEPT_PAGES = 64
/** The most URLs that one transaction evicts. After `maxBytes` was lowered, several share the work. */
const MAX_EVICTIONS = 1_024
/** What a page may add to the tables and indexes, without its body and record. Bytes. */
const OVERHEAD_BYTES = 4 * 4_096
/** File systems count in blocks of this size. */
const FILE_BLOCK_BYTES = 4_096
/** The number of rows that `pagesAfter` returns at most. */
const ROWS_PER_PAGE = 32
/** The number of pages whose short bodies are kept for the rest of a turn. */
const MAX_FOUND = 256
const NO_BLOCKS = new Uint8Array(0)
/** This process, for the pages that it has not finished. */
const WRITER = `${hostname()} ${process.pid}`

const USE = 'UPDATE urls SET used = (SELECT max(used) FROM urls) + 1 WHERE id = ?'
const INSERT_URL = 'INSERT INTO urls (url, used) VALUES (?, (SELECT ifnull(max(used), 0) + 1 FROM urls))'
const SELECT_LOOSE = `SELECT id FROM pages WHERE url IS NULL AND keep_until <= ? LIMIT ${SWEPT_PAGES}`
const SELECT_VARIANT = 'SELECT id, received_at FROM pages WHERE url = ? AND varied = ?'
const SELECT_SUPERFLUOUS = 'SELECT id FROM pages WHERE url = ? ORDER BY received_at DESC, id DESC LIMIT -1 OFFSET ?'

/** What a page needs to become visible. */
export interface Finished {
  readonly bodyBytes: number
  /** The page whose file has the body. Undefined if the body is not in a file yet. */
  readonly id: number | undefined
  /** The checksums of the blocks. */
  readonly blocks: readonly number[]
  /** A body of at most one block that is in no file yet. Otherwise empty. */
  readonly bytes: Uint8Array
}

/** A stored body. */
export interface StoredBody {
  readonly bodyBytes: number
  /** Undefined: it is in a file. */
  readonly bytes: Uint8Array | undefined
  /** The checksums of the blocks. */
  readonly blocks: Uint32Array
}

export class PageFile {
  readonly database: DatabaseFile
  readonly folder: BodyFolder
  readonly #maxTextBytes: number
  /** The IDs of URLs that were used since the last transaction. */
  readonly #used: Set<number> = new Set()
  /** The rows of the pages that were found in this turn of the event loop, by their IDs. */
  readonly #found: Map<number, Row> = new Map()
  /** How many bytes the transaction may still add before the file is full. Below 0: SQLite is asked. */
  #freeBytes = 0
  /** Whether the transaction made pages loose whose files must go. */
  #hasDoomedFiles = false

  /** @throws as `DatabaseFile`. */
  constructor(path: string, maxBytes: number) {
    this.#maxTextBytes = sizeLimits(maxBytes).maxTextBytes
    this.folder = new BodyFolder(path)
    createPrivately(path)
    this.database = new DatabaseFile(path, maxBytes, FORMAT)
  }

  /** How many URLs were used since the last transaction, which writes that. */
  get unwrittenUses(): number {
    return this.#used.size
  }

  find(url: string): StoredPage[] {
    const rows = this.#all(
      `SELECT urls.id AS url, pages.id, record, body_bytes, blocks, pages.checksum, bytes
       FROM urls LEFT JOIN pages ON pages.url = urls.id LEFT JOIN bodies ON bodies.page = pages.id
       WHERE urls.url = ? ORDER BY received_at DESC, pages.id DESC`,
      textOf(url),
    )
    if (rows[0] === undefined) return []
    const used = Number(rows[0].url)
    this.#used.delete(used)
    this.#used.add(used)
    const found = rows.filter(({ id }) => id !== null)
    const pages = found.map(pageOf)
    for (const { record } of pages)
      if (record.url !== url) throw new DamageError(`the record of ${record.url} is at ${url}`)
    this.#keepFound(found)
    return pages
  }

  /** Returns the body of a page, or what is known of its file. Undefined if the page is gone. */
  body(id: number): StoredBody | undefined {
    // One statement, since another process may delete the page between two.
    const row =
      this.#found.get(id) ??
      this.#get(
        `SELECT id, record, body_bytes, blocks, checksum, bytes FROM pages LEFT JOIN bodies ON bodies.page = pages.id
         WHERE id = ? AND url IS NOT NULL`,
        id,
      )
    if (row === undefined) return undefined
    recordTextOf(row)
    const bodyBytes = Number(row.body_bytes)
    const blocks = new Uint32Array((row.blocks as Uint8Array).slice().buffer)
    if (bodyBytes > MAX_ROW_BYTES) return { bodyBytes, bytes: undefined, blocks }
    const { bytes } = row
    if (bytes instanceof Uint8Array && bytes.length === bodyBytes && zlib.crc32(bytes) === blocks[0])
      return { bodyBytes, bytes, blocks }
    throw new DamageError(`the body of page ${id} is damaged`)
  }

  /** Commits everything that `work` writes, or nothing. It calls the methods below that change something. */
  inTransaction(now: number, work: () => void): void {
    this.#transaction(now, work)
    // Only after the commit may the files of deleted pages go.
    if (this.#hasDoomedFiles) {
      try {
        this.#transaction(now, () => undefined)
      } catch {
        // `work` is committed and must not run again. The next transaction deletes the files.
      }
    }
  }

  /** Creates a page with a file. Within the transaction, so that no process deletes the page before. */
  createFile(fileBytes: number, now: number): { readonly id: number; readonly file: BodyFile } {
    const insert = 'INSERT INTO pages (keep_until, writer) VALUES (?, ?)'
    const id = Number(this.#run(insert, now + WRITING_MS, WRITER).lastInsertRowid)
    this.#reserve(id, fileBytes)
    return { id, file: this.folder.create(id) }
  }

  /**
   * Reserves more space for a file. Returns whether its page is still there. It may have been
   * given up, or the database may be a new one.
   */
  growFile(id: number, fileBytes: number, now: number): boolean {
    const update = 'UPDATE pages SET keep_until = ? WHERE id = ? AND writer IS NOT NULL'
    const isThere = this.#run(update, now + WRITING_MS, id).changes === 1
    if (isThere) this.#reserve(id, fileBytes)
    return isThere
  }

  /**
   * Makes a page visible. It replaces the page with the same URL and varied fields, which goes even if
   * the new page cannot be kept. A page that was received later stays: it was committed meanwhile.
   * @param finished Undefined: the page cannot be kept.
   */
  publish(record: PageRecord, finished: Finished | undefined): void {
    const varied = textOf(record.varied)
    const { id: url, isNew } = this.#useUrl(record.url)
    const known = isNew ? undefined : this.#get(SELECT_VARIANT, url, varied)
    const isLatest = known === undefined || Number(known.received_at) <= record.receivedAt
    if (known !== undefined && isLatest) this.#deletePage(Number(known.id))
    if (!isLatest || finished === undefined || !this.#insert(record, finished, url, varied)) {
      const draft = finished?.id
      if (draft !== undefined && this.#isDraft(draft)) this.#deletePage(draft)
      this.#deleteUnusedUrl(url)
    } else if (!isNew) {
      for (const { id } of this.#all(SELECT_SUPERFLUOUS, url, MAX_VARIANTS)) this.#deletePage(Number(id))
    }
  }

  /** Deletes a page whose file is damaged, or which was never finished. */
  deletePage(id: number): void {
    const row = this.#get('SELECT url FROM pages WHERE id = ?', id)
    if (row === undefined) return
    this.#deletePage(id)
    if (row.url !== null) this.#deleteUnusedUrl(Number(row.url))
  }

  update(id: number, record: PageRecord): void {
    const select = 'SELECT id, url, record, body_bytes, blocks, checksum FROM pages WHERE id = ? AND url IS NOT NULL'
    const row = this.#get(select, id)
    if (row === undefined) return
    const { url } = JSON.parse(recordTextOf(row)) as PageRecord
    const text = textOf({ ...record, url })
    const varied = textOf(record.varied)
    const other = this.#get(SELECT_VARIANT, Number(row.url), varied)
    if (other !== undefined && Number(other.id) !== id) this.#deletePage(Number(other.id))
    if (text.length > this.#maxTextBytes) {
      this.#deletePage(id)
      this.#deleteUnusedUrl(Number(row.url))
      return
    }
    this.#makeRoom(text.length, { url: Number(row.url) })
    this.#run(
      'UPDATE pages SET varied = ?, record = ?, received_at = ?, checksum = ? WHERE id = ?',
      varied,
      text,
      record.receivedAt,
      checksumOf(text, row.blocks as Uint8Array, id, Number(row.body_bytes)),
      id,
    )
  }

  /** Returns how many pages there were. */
  delete(url: string): number {
    const id = this.#idOfUrl(textOf(url))
    return id === undefined ? 0 : this.#deletePages(id)
  }

  /** Returns how many pages there were. */
  forget(url: string): number {
    const id = this.#idOfUrl(textOf(url))
    return id === undefined ? 0 : this.#forget(id)
  }

  /** Returns some pages whose IDs are above `after`, in their order. */
  pagesAfter(after: number): StoredPage[] {
    return this.#all(
      `SELECT id, record, body_bytes, blocks, checksum FROM pages
       WHERE id > ? AND url IS NOT NULL ORDER BY id LIMIT ${ROWS_PER_PAGE}`,
      after,
    ).map(pageOf)
  }

  visits(url: string): VisitLog | undefined {
    const row = this.#get('SELECT visits, checksum FROM urls WHERE url = ? AND visits IS NOT NULL', textOf(url))
    const log = row && logOf(row)
    if (log !== undefined && log.url !== url) throw new DamageError(`the visits of ${log.url} are at ${url}`)
    return log
  }

  setVisits(log: VisitLog): void {
    const text = textOf(log)
    const isKept = text.length <= this.#maxTextBytes
    const { id: url } = this.#useUrl(log.url)
    this.#makeRoom(isKept ? text.length + OVERHEAD_BYTES : 0, { url })
    this.#run(
      'UPDATE urls SET visits = ?, checksum = ?, due_at = ? WHERE id = ?',
      isKept ? text : null,
      checksumOf(text, NO_BLOCKS),
      isKept ? (log.dueAt ?? null) : null,
      url,
    )
    if (!isKept) this.#deleteUnusedUrl(url)
  }

  due(now: number, limit: number): VisitLog[] {
    return this.#all(
      'SELECT visits, checksum FROM urls WHERE due_at <= ? ORDER BY due_at, id LIMIT ?',
      now,
      Number.isSafeInteger(limit) ? limit : Number.MAX_SAFE_INTEGER,
    ).map(logOf)
  }

  /** Returns the space of deleted pages to the file system. */
  compact(now: number): void {
    const loose = 'SELECT count(*) AS n FROM pages WHERE url IS NULL AND keep_until <= ?'
    let left = Number.POSITIVE_INFINITY
    for (let n = Number(this.#get(loose, now)?.n); n > 0 && n < left; n = Number(this.#get(loose, now)?.n)) {
      left = n
      this.#transaction(now, () => undefined)
    }
    this.database.compact()
  }

  /** Keeps the rows until the end of this turn of the event loop, since the caller may want their bodies. */
  #keepFound(rows: readonly Row[]): void {
    if (this.#found.size === 0) setImmediate(() => this.#found.clear())
    if (this.#found.size >= MAX_FOUND) this.#found.clear()
    for (const row of rows) this.#found.set(Number(row.id), row)
  }

  #transaction(now: number, work: () => void): void {
    this.#hasDoomedFiles = false
    this.#found.clear()
    this.database.inTransaction(() => {
      this.#freeBytes = -this.database.excessBytes(this.#fileBytes())
      for (const id of this.#used) this.#run(USE, id)
      for (const { id } of this.#all(SELECT_LOOSE, now)) this.#deleteLoosePage(Number(id))
      work()
      if (this.#freeBytes >= 0) return
      this.#makeRoom(0, {})
      this.database.shrink(this.#fileBytes())
    })
    this.#used.clear()
  }

  #reserve(id: number, fileBytes: number): void {
    this.#run('UPDATE pages SET file_bytes = ? WHERE id = ?', onDisk(fileBytes), id)
    this.#freeBytes -= onDisk(fileBytes)
    this.#makeRoom(OVERHEAD_BYTES, { page: id })
  }

  /** Adds a page that is finished. Returns false if it is not kept: it is too long, or its draft is gone. */
  #insert(record: PageRecord, finished: Finished, url: number, varied: Uint8Array): boolean {
    const { bodyBytes, id, blocks, bytes } = finished
    const text = textOf(record)
    if (text.length > this.#maxTextBytes) return false
    this.#makeRoom(onDisk(bytes.length) + text.length + 2 * varied.length + OVERHEAD_BYTES, { url, page: id })
    if (id !== undefined && !this.#isDraft(id)) return false
    if (id !== undefined) this.#run('DELETE FROM pages WHERE id = ?', id)
    const page = id ?? Number(this.#get("SELECT seq + 1 AS next FROM sqlite_sequence WHERE name = 'pages'")?.next)
    const isFile = bodyBytes > MAX_ROW_BYTES
    if (isFile && id === undefined) this.#writeFile(page, bytes)
    const checksums = new Uint8Array(Uint32Array.from(blocks).buffer)
    this.#run(
      `INSERT INTO pages (id, url, varied, record, received_at, body_bytes, blocks, checksum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      page,
      url,
      varied,
      text,
      record.receivedAt,
      bodyBytes,
      checksums,
      checksumOf(text, checksums, page, bodyBytes),
    )
    if (isFile) this.#run('UPDATE pages SET file_bytes = ? WHERE id = ?', onDisk(bodyBytes), page)
    else {
      this.folder.delete(page) // of a process that was killed before it committed a page with this ID
      this.#run('INSERT INTO bodies (page, bytes) VALUES (?, ?)', page, bytes)
    }
    return true
  }

  /** Writes a body of one block to a file. */
  #writeFile(id: number, bytes: Uint8Array): void {
    const file = this.folder.create(id)
    try {
      file.append(bytes)
    } catch (error) {
      this.folder.delete(id)
      throw error
    } finally {
      file.close()
    }
  }

  #idOfUrl(key: Uint8Array): number | undefined {
    const found = this.#get('SELECT id FROM urls WHERE url = ?', key)
    return found && Number(found.id)
  }

  /** Marks a URL as used. Adds it if it is new. */
  #useUrl(url: string): { readonly id: number; readonly isNew: boolean } {
    const key = textOf(url)
    const known = this.#idOfUrl(key)
    if (known !== undefined) {
      this.#run(USE, known)
      return { id: known, isNew: false }
    }
    return { id: Number(this.#run(INSERT_URL, key).lastInsertRowid), isNew: true }
  }

  /** Whether a page is unfinished, and has not been given up. */
  #isDraft(id: number): boolean {
    return this.#get('SELECT 1 FROM pages WHERE id = ? AND writer IS NOT NULL', id) !== undefined
  }

  /** Deletes a page. If it has a file, that goes with the next transaction. */
  #deletePage(id: number): void {
    const { changes } = this.#run(
      `UPDATE pages SET url = NULL, varied = NULL, record = NULL, file_bytes = 0, keep_until = 0, writer = NULL
       WHERE id = ? AND file_bytes > 0`,
      id,
    )
    if (changes === 1) {
      this.#hasDoomedFiles = true
      return
    }
    this.#run('DELETE FROM bodies WHERE page = ?', id)
    this.#run('DELETE FROM pages WHERE id = ?', id)
  }

  /** Deletes a page that was loose before this transaction. If the transaction fails, the row stays. */
  #deleteLoosePage(id: number): void {
    this.folder.delete(id)
    this.#run('DELETE FROM pages WHERE id = ?', id)
  }

  /** Returns how many there were. */
  #deletePages(url: number): number {
    const pages = this.#all('SELECT id FROM pages WHERE url = ?', url)
    for (const { id } of pages) this.#deletePage(Number(id))
    this.#deleteUnusedUrl(url)
    return pages.length
  }

  /** Returns how many pages there were. */
  #forget(url: number): number {
    this.#run('UPDATE urls SET visits = NULL, due_at = NULL WHERE id = ?', url)
    return this.#deletePages(url)
  }

  #deleteUnusedUrl(url: number): void {
    this.#run(
      'DELETE FROM urls WHERE id = ? AND visits IS NULL AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.url = urls.id)',
      url,
    )
  }

  #deleteDeadDrafts(): void {
    for (const { id, writer } of this.#all('SELECT id, writer FROM pages WHERE url IS NULL AND writer IS NOT NULL'))
      if (hasDied(String(writer))) this.#deleteLoosePage(Number(id))
  }

  #fileBytes(): number {
    return Number(this.#get('SELECT file_bytes FROM usage')?.file_bytes)
  }

  /**
   * Deletes pages until `bytes` more fit. First unfinished ones of dead processes, then the URLs that
   * were used longest ago, then other unfinished ones, then other responses for the same URL.
   * @param kept What must stay, because the transaction works on it.
   */
  #makeRoom(bytes: number, kept: { readonly url?: number; readonly page?: number | undefined }): void {
    this.#freeBytes -= bytes
    if (this.#freeBytes >= 0) return
    const isFull = () => this.database.missingBytes(bytes + this.#fileBytes()) > 0
    if (!isFull()) return
    this.#deleteDeadDrafts()
    const { url = -1, page = -1 } = kept
    for (let n = 0; n < MAX_EVICTIONS && isFull(); n++) {
      const oldest = this.#get('SELECT id FROM urls WHERE id <> ? ORDER BY used LIMIT 1', url)
      if (oldest !== undefined) {
        this.#forget(Number(oldest.id))
        continue
      }
      const other = this.#get(
        `SELECT id FROM pages WHERE id <> ? AND (url IS NOT NULL OR writer IS NOT NULL)
         ORDER BY url IS NOT NULL, keep_until, received_at LIMIT 1`,
        page,
      )
      if (other === undefined) return
      this.#deletePage(Number(other.id))
    }
  }

  #run(sql: string, ...values: Value[]): ReturnType<ReturnType<DatabaseFile['statement']>['run']> {
    return this.database.statement(sql).run(...values)
  }

  #get(sql: string, ...values: Value[]): Row | undefined {
    return this.database.statement(sql).get(...values)
  }

  #all(sql: string, ...values: Value[]): Row[] {
    return this.database.statement(sql).all(...values)
  }
}

type Value = string | number | Uint8Array | null
type Row = Record<string, unknown>

/** JSON, because UTF-8 would replace lone surrogates. */
function textOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** @param others What else must be as it was written. */
function checksumOf(text: Uint8Array, blocks: Uint8Array, ...others: number[]): number {
  return zlib.crc32(text, zlib.crc32(blocks, zlib.crc32(others.join())))
}

/** @throws {DamageError} if this is not what was written. */
function checkedText(what: string, text: unknown, blocks: unknown, checksum: unknown, ...others: number[]): string {
  const isBytes = text instanceof Uint8Array && blocks instanceof Uint8Array
  if (!isBytes || checksum !== checksumOf(text, blocks, ...others)) throw new DamageError(`${what} is damaged`)
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()
}

function recordTextOf({ id, record, body_bytes: bodyBytes, blocks, checksum }: Row): string {
  return checkedText(`the record of page ${id}`, record, blocks, checksum, Number(id), Number(bodyBytes))
}

function pageOf(row: Row): StoredPage {
  const record = JSON.parse(recordTextOf(row)) as PageRecord
  return { id: Number(row.id), record, bodyBytes: Number(row.body_bytes) }
}

function logOf({ visits, checksum }: Row): VisitLog {
  const log = JSON.parse(checkedText('a row of visits', visits, NO_BLOCKS, checksum)) as VisitLog
  return { ...log, dueAt: log.dueAt ?? undefined }
}

/** What a file of so many bytes takes. */
function onDisk(bytes: number): number {
  return Math.ceil(bytes / FILE_BLOCK_BYTES) * FILE_BLOCK_BYTES
}

/** Whether a process of this machine has ended. Others cannot be asked. */
function hasDied(writer: string): boolean {
  const [host, pid] = writer.split(' ')
  if (host !== hostname()) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** Pages may be for the eyes of one user, so only the owner of the process may read the file. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or SQLite will say why it cannot be created.
  }
}
