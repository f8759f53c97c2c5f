// A store in one SQLite file. All writes of one turn of the event loop form one transaction.
// Methods wait without blocking the event loop.
import { type Store, StoreClosedError } from '@politely/fetcher'
import { DatabaseAccess } from './database-access.ts'
import { type SqliteStoreOptions, type StoreSettings, storeSettingsOf } from './options.ts'
import { sizeLimits } from './size-limits.ts'
import { type StoredText, StoreFile, type Write } from './store-file.ts'
import { WriteQueue } from './write-queue.ts'

/**
 * Keeps texts in a file, for the next run and for other processes on the same machine.
 *
 * When `set` or `delete` has resolved, the write survives a kill of the process at any moment.
 * After a power failure, the writes since SQLite's last sync may be missing, but the file is
 * consistent (WAL, `synchronous = NORMAL`). `get` sees everything that this store and others have
 * committed.
 *
 * The store renames a damaged file to `….corrupt-TIME`, calls `onSetAside` and creates a new file.
 * It never touches a file that does not begin with SQLite's header. Methods reject with a
 * `StoreError`; its `code` says why.
 */
export class SqliteStore implements Store {
  readonly #settings: StoreSettings
  readonly #access: DatabaseAccess<StoreFile>
  readonly #queue: WriteQueue<Write>
  #closing: Promise<void> | undefined

  /**
   * Opens the file, or creates it. Blocks for up to `busyTimeoutMs` while other processes keep it
   * locked.
   * @throws {OptionError} for an invalid option, such as a path in a folder that does not exist.
   * @throws {StoreError} if the file cannot be opened, is not an SQLite file, or belongs to another
   * application or a newer version.
   */
  constructor(options: SqliteStoreOptions) {
    this.#settings = storeSettingsOf(options)
    const { path, maxBytes } = this.#settings
    this.#access = new DatabaseAccess(
      { ...this.#settings, example: 'robots.sqlite' },
      () => new StoreFile(path, maxBytes),
    )
    this.#queue = new WriteQueue(sizeLimits(maxBytes).walBytes, (writes) => {
      // Only the last write of each origin is stored. The earlier ones were overwritten.
      const last = new Map(writes.map((write) => [write.origin, write]))
      return this.#access.run((file) => file.commit([...last.values()], this.#settings.now()))
    })
  }

  async get(origin: string): Promise<string | undefined> {
    this.#throwIfClosing()
    return this.#access.run((file) => file.get(origin, this.#settings.now()))
  }

  /**
   * Yields every text of the file, in the order in which the texts were set. Expired texts that the
   * store has not evicted yet are among them. A text that is set meanwhile may be yielded, too.
   */
  async *list(): AsyncGenerator<StoredText, void, undefined> {
    this.#throwIfClosing()
    for (let after = 0; ; ) {
      const { texts, last } = await this.#access.run((file) => file.page(after))
      yield* texts
      if (last === undefined) return
      after = last
    }
  }

  // Encodes here, so that a value that is not a string rejects this call only, not the whole
  // transaction.
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    return this.#enqueue(origin, Buffer.from(text), keepUntil)
  }

  async delete(origin: string): Promise<void> {
    return this.#enqueue(origin, undefined, 0)
  }

  /** Finishes all pending writes, then closes the file. Later calls of other methods reject. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#queue.idle()
      this.#access.close()
    })()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #enqueue(origin: string, text: Buffer | undefined, keepUntil: number): Promise<void> {
    this.#throwIfClosing()
    return this.#queue.add({ origin, key: Buffer.from(origin), text, keepUntil }, text?.length ?? 0)
  }

  #throwIfClosing(): void {
    if (this.#closing) throw new StoreClosedError(this.#settings.path)
  }
}
