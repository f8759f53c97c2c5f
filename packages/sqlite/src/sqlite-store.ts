// A store in one SQLite file. All writes of one turn of the event loop form one transaction.
// Methods wait without blocking the event loop.
import { setImmediate } from 'node:timers/promises'
import { type Store, StoreClosedError } from '@politely/fetcher'
import { DatabaseAccess } from './database-access.ts'
import { type SqliteStoreOptions, type StoreSettings, storeSettingsOf } from './options.ts'
import { sizeLimits } from './size-limits.ts'
import { type StoredText, StoreFile, type Write } from './store-file.ts'

/** A write that waits for the next transaction. */
interface PendingWrite {
  readonly write: Write
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * What a write may add to the log besides its text: pages of the table and of two indexes, also for
 * a row that it evicts.
 */
const OVERHEAD_BYTES_PER_WRITE = 4 * 4_096

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
  #queue: PendingWrite[] = []
  #flushing: Promise<void> | undefined
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
    return this.#enqueue({ origin, key: Buffer.from(origin), text: Buffer.from(text), keepUntil })
  }

  async delete(origin: string): Promise<void> {
    return this.#enqueue({ origin, key: Buffer.from(origin), text: undefined, keepUntil: 0 })
  }

  /** Finishes all pending writes, then closes the file. Later calls of other methods reject. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#flushing
      this.#access.close()
    })()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #enqueue(write: Write): Promise<void> {
    this.#throwIfClosing()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push({ write, resolve, reject })
    this.#flushing ??= this.#flush()
    return promise
  }

  /**
   * Commits batches until the queue is empty. Yields to the event loop between two transactions.
   */
  async #flush(): Promise<void> {
    const { walBytes } = sizeLimits(this.#settings.maxBytes)
    for (await setImmediate(); this.#queue.length > 0; await setImmediate()) {
      const batch = this.#queue.splice(0, batchLength(this.#queue, walBytes))
      // Only the last write of each origin is stored. The earlier ones resolve too: they were
      // overwritten.
      const writes = new Map(batch.map(({ write }) => [write.origin, write]))
      try {
        await this.#access.run((file) => file.commit([...writes.values()], this.#settings.now()))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#flushing = undefined
  }

  #throwIfClosing(): void {
    if (this.#closing) throw new StoreClosedError(this.#settings.path)
  }
}

/** Returns how many writes fit into one transaction of `walBytes`; at least one. */
function batchLength(queue: readonly PendingWrite[], walBytes: number): number {
  let bytes = 0
  let length = 0
  for (const { write } of queue) {
    bytes += (write.text?.length ?? 0) + OVERHEAD_BYTES_PER_WRITE
    if (bytes > walBytes) break
    length++
  }
  return Math.max(1, length)
}
