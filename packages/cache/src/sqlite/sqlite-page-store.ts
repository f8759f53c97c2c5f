// A store of pages in one SQLite file. It survives restarts, and processes may share it. All writes
// of one turn of the event loop form one transaction.

import { StoreError } from '@politely/sqlite'
import {
  absolutePath,
  assertFileOptions,
  DatabaseAccess,
  type FileWords,
  fileSettings,
  type SetAside,
  sizeLimits,
  WriteQueue,
} from '@politely/sqlite/internal'
import type { PageRecord, PageStore, PageWriter, StoredPage, VisitLog } from '../page-store.ts'
import { readStoredBody } from './body-reader.ts'
import { PageFile } from './page-file.ts'
import { SqlitePageWriter } from './sqlite-page-writer.ts'

/** Options of a `SqlitePageStore`. Only `file` is required. */
export interface SqlitePageStoreOptions {
  /**
   * The database file. The store creates it if necessary, but not its folder. SQLite adds two files
   * next to it, `…-wal` and `…-shm`. Bodies over 20 KiB are files in the folder `…-bodies`.
   */
  readonly file: string
  /**
   * The most bytes that all of these files take together; at least 16 MiB. When it is reached, the store
   * deletes the URLs that were used longest ago. It keeps no body of over a third of this.
   * SQLite's log may exceed it for a moment while several processes write.
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

const KNOWN: Readonly<Record<keyof SqlitePageStoreOptions, true>> = {
  file: true,
  maxBytes: true,
  busyTimeoutMs: true,
  onSetAside: true,
  now: true,
}
/**
 * A body up to this is read at once: no file stays open for a response that is never read, and damage is
 * found before the first byte is returned. Bytes.
 */
const MAX_EAGER_BYTES = 1_048_576
/** The file of a body grows by so much at a time: by one block of 128 KiB in the smallest store. */
const MAX_RESERVED_BYTES = 1_048_576
const RESERVED_SHARE = 128
/** Uses are written together; at the latest when there are this many. */
const MAX_UNWRITTEN_USES = 256
const FILE_WORDS: FileWords = { option: 'file', example: 'pages.sqlite', inMemory: 'MemoryPageStore' }

/**
 * Keeps responses and visits in a file, for the next run and for other processes on the same machine.
 *
 * When `commit` has resolved, the response survives a kill of the process at any moment. A response is
 * whole or absent. After a power failure, the writes since SQLite's last sync may be missing, but the
 * file is consistent (WAL, `synchronous = NORMAL`), and a body that the disk has lost is not returned:
 * each has checksums.
 *
 * The store renames a damaged file to `….corrupt-TIME`, calls `onSetAside` and creates a new file. It
 * never touches a file that does not begin with SQLite's header. Methods reject with a `StoreError`;
 * its `code` says why.
 */
export class SqlitePageStore implements PageStore {
  readonly #path: string
  readonly #maxBytes: number
  readonly #now: () => number
  readonly #access: DatabaseAccess<PageFile>
  readonly #queue: WriteQueue<(file: PageFile, now: number) => void>
  readonly #writers: Set<PageWriter> = new Set()
  #closing: Promise<void> | undefined

  /**
   * Opens the file, or creates it. Blocks for up to `busyTimeoutMs` while other processes keep it
   * locked.
   * @throws {OptionError} for an invalid option, such as a file in a folder that does not exist.
   * @throws {StoreError} if the file cannot be opened, is not an SQLite file, or belongs to another
   * application or a newer version.
   */
  constructor(options: SqlitePageStoreOptions) {
    assertFileOptions(options, KNOWN, FILE_WORDS)
    const { maxBytes, busyTimeoutMs, onSetAside, now } = fileSettings(options)
    this.#path = absolutePath(options.file, FILE_WORDS)
    this.#maxBytes = maxBytes
    this.#now = now
    this.#access = new DatabaseAccess(
      { path: this.#path, example: FILE_WORDS.example, busyTimeoutMs, onSetAside },
      () => new PageFile(this.#path, maxBytes),
    )
    this.#queue = new WriteQueue(sizeLimits(maxBytes).walBytes, (writes) =>
      this.#access.run((file) => {
        const at = now()
        file.inTransaction(at, () => {
          for (const write of writes) write(file, at)
        })
      }),
    )
  }

  async find(url: string): Promise<readonly StoredPage[]> {
    const { pages, uses } = await this.#access.read((file) => {
      return { pages: file.find(url), uses: file.unwrittenUses }
    })
    if (uses >= MAX_UNWRITTEN_USES) await orFailed(this.#write(0, () => undefined))
    return pages
  }

  begin(): PageWriter {
    const writer = new SqlitePageWriter({
      write: (bytes, work) => this.#write(bytes, work),
      maxBodyBytes: Math.floor(this.#maxBytes / 3),
      reservedBytes: Math.min(MAX_RESERVED_BYTES, this.#maxBytes / RESERVED_SHARE),
      onEnd: () => this.#writers.delete(writer),
    })
    this.#writers.add(writer)
    return writer
  }

  update(id: number, record: PageRecord): Promise<void> {
    return this.#write(0, (file) => file.update(id, record))
  }

  async body(id: number): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined> {
    const { body, folder } = await this.#access.read((file) => ({ body: file.body(id), folder: file.folder }))
    if (body?.bytes !== undefined) return body.bodyBytes === 0 ? [] : [body.bytes]
    if (body === undefined) return undefined
    // If that fails, the next reader finds the damage again.
    const deletePage = () => orFailed(this.#write(0, (file) => file.deletePage(id)))
    const blocks = readStoredBody({ body, path: this.#path, open: () => folder.open(id), onDamage: deletePage })
    if (blocks === undefined) await deletePage() // its file is gone
    if (blocks === undefined || body.bodyBytes > MAX_EAGER_BYTES) return blocks
    return this.#readAtOnce(blocks)
  }

  delete(url: string): Promise<number> {
    return this.#write(0, (file) => file.delete(url))
  }

  forget(url: string): Promise<number> {
    return this.#write(0, (file) => file.forget(url))
  }

  async *pages(): AsyncIterable<StoredPage> {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const last: number = after
      const pages: readonly StoredPage[] = await this.#access.read((file) => file.pagesAfter(last))
      yield* pages
      after = pages.at(-1)?.id
    }
  }

  visits(url: string): Promise<VisitLog | undefined> {
    return this.#access.read((file) => file.visits(url))
  }

  setVisits(log: VisitLog): Promise<void> {
    return this.#write(0, (file) => file.setVisits(log))
  }

  due(now: number, limit: number): Promise<readonly VisitLog[]> {
    return this.#access.read((file) => file.due(now, limit))
  }

  async compact(): Promise<void> {
    await this.#access.run((file) => file.compact(this.#now()))
  }

  /** Forgets unfinished responses, and closes the file. Later calls of other methods reject. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.allSettled([...this.#writers].map((writer) => writer.abort()))
      await orFailed(this.#writeUses())
      await this.#queue.idle()
      this.#access.close()
    })()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Changes the file in the next transaction. If other processes lock it, `work` may run several times.
   * @param bytes How many bytes it writes; small ones needn't be counted.
   */
  async #write<T>(bytes: number, work: (file: PageFile, now: number) => T): Promise<T> {
    let result!: T
    await this.#queue.add((file, now) => {
      result = work(file, now)
    }, bytes)
    return result
  }

  /** Returns undefined if the body is damaged. */
  async #readAtOnce(blocks: AsyncIterable<Uint8Array>): Promise<Iterable<Uint8Array> | undefined> {
    const read: Uint8Array[] = []
    try {
      for await (const block of blocks) read.push(block)
      return read
    } catch (error) {
      if (error instanceof StoreError && error.cause === undefined) return undefined
      throw error
    }
  }

  /** Which URLs were used only decides which are evicted first. */
  async #writeUses(): Promise<void> {
    if ((await this.#access.read((file) => file.unwrittenUses)) > 0) await this.#write(0, () => undefined)
  }
}

/** Waits for what may fail without harm. */
async function orFailed(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error
  })
}
