// A store in one SQLite file. All writes of one turn of the event loop form one transaction.
// Methods wait without blocking the event loop.
import { setImmediate, setTimeout } from 'node:timers/promises'
import { isPolitelyError } from '@politely/core'
import { type Store, StoreClosedError } from '@politely/fetcher'
import { fileIdOf } from './file-id.ts'
import { type Settings, type SqliteStoreOptions, settingsOf } from './options.ts'
import { renameDamagedFile } from './rename-damaged-file.ts'
import { sizeLimits } from './size-limits.ts'
import { isOneByte, isSqliteFile } from './sqlite-header.ts'
import { isBusy, isDamage, isNotADatabase, StoreError } from './store-error.ts'
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
/** Delays between two attempts at a locked file. They double from the first to the second. */
const MIN_RETRY_DELAY_MS = 1
const MAX_RETRY_DELAY_MS = 32

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
  readonly #settings: Settings
  /** Undefined after a damaged or replaced file was closed, until the next one is open. */
  #file: StoreFile | undefined
  #queue: PendingWrite[] = []
  #flushing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #isClosed = false

  /**
   * Opens the file, or creates it. Blocks for up to `busyTimeoutMs` while other processes keep it
   * locked.
   * @throws {OptionError} for an invalid option, such as a path in a folder that does not exist.
   * @throws {StoreError} if the file cannot be opened, is not an SQLite file, or belongs to another
   * application or a newer version.
   */
  constructor(options: SqliteStoreOptions) {
    this.#settings = settingsOf(options)
    this.#file = this.#openBlocking()
  }

  async get(origin: string): Promise<string | undefined> {
    this.#throwIfClosing()
    return this.#retryWhileBusy((file) => file.get(origin, this.#settings.now()))
  }

  /**
   * Yields every text of the file, in the order in which the texts were set. Expired texts that the
   * store has not evicted yet are among them. A text that is set meanwhile may be yielded, too.
   */
  async *list(): AsyncGenerator<StoredText, void, undefined> {
    this.#throwIfClosing()
    for (let after = 0; ; ) {
      const { texts, last } = await this.#retryWhileBusy((file) => file.page(after))
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
      this.#isClosed = true
      this.#closeFile()
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
        await this.#retryWhileBusy((file) => file.commit([...writes.values()], this.#settings.now()))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#flushing = undefined
  }

  /**
   * Runs `work` again with growing delays while the file is locked. @throws {StoreError} after
   * `busyTimeoutMs`.
   */
  async #retryWhileBusy<T>(work: (file: StoreFile) => T): Promise<T> {
    const { busyTimeoutMs } = this.#settings
    const end = performance.now() + busyTimeoutMs
    for (let pause = MIN_RETRY_DELAY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_DELAY_MS)) {
      try {
        return this.#replaceIfDamaged(work)
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw this.#toStoreError(error)
        await setTimeout(pause * (0.5 + Math.random())) // jitter, so that processes do not retry at the same moment
      }
    }
  }

  /**
   * Opens the file for the constructor. Blocks the thread between attempts, because a constructor
   * cannot await.
   */
  #openBlocking(): StoreFile {
    const end = performance.now() + this.#settings.busyTimeoutMs
    const neverNotified = new Int32Array(new SharedArrayBuffer(4))
    for (;;) {
      try {
        return this.#open()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw this.#toStoreError(error)
        Atomics.wait(neverNotified, 0, 0, MAX_RETRY_DELAY_MS * Math.random())
      }
    }
  }

  /** Opens the file in one attempt. Replaces a damaged file. */
  #open(): StoreFile {
    const { path, maxBytes } = this.#settings
    const id = fileIdOf(path)
    if (isOneByte(path)) throw this.#notSqliteError()
    try {
      return new StoreFile(path, maxBytes)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#renameDamaged(id, error)
      return new StoreFile(path, maxBytes)
    }
  }

  /**
   * Runs `work` on the file. If the file turns out to be damaged, replaces it and runs `work`
   * again.
   */
  #replaceIfDamaged<T>(work: (file: StoreFile) => T): T {
    const file = this.#currentFile()
    try {
      return work(file)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#closeFile() // before the rename: when SQLite closes a file, it uses its names
      this.#renameDamaged(file.id, error)
      return work(this.#currentFile())
    }
  }

  /**
   * Opens the file again if the path leads to another one: writes to a renamed or deleted file
   * would be lost.
   */
  #currentFile(): StoreFile {
    if (this.#isClosed) throw new StoreClosedError(this.#settings.path) // a `get` may have waited for the lock until after `close`
    if (this.#file?.isAtPath) return this.#file
    this.#closeFile()
    this.#file = this.#open()
    return this.#file
  }

  #closeFile(): void {
    this.#file?.close()
    this.#file = undefined
  }

  #renameDamaged(id: string | undefined, error: Error): void {
    const { path, onSetAside } = this.#settings
    const isSameFile = id !== undefined && fileIdOf(path) === id
    if (isSameFile && isNotADatabase(error) && !isSqliteFile(path)) throw this.#notSqliteError(error)
    const setAsideAs = renameDamagedFile(path, id)
    if (setAsideAs !== undefined) onSetAside({ path, setAsideAs, error })
  }

  #toStoreError(error: unknown): unknown {
    const { path, busyTimeoutMs } = this.#settings
    if (isPolitelyError(error) || !(error instanceof Error)) return error
    return isBusy(error)
      ? new StoreError(
          'ERR_POLITELY_STORE_BUSY',
          path,
          `other processes kept the file locked for ${busyTimeoutMs} ms; try again, or raise busyTimeoutMs`,
          error,
        )
      : new StoreError(
          'ERR_POLITELY_STORE_FAILED',
          path,
          `SQLite failed: ${error.message}; check that the file can be written and the disk is not full`,
          error,
        )
  }

  #notSqliteError(cause?: Error): StoreError {
    return new StoreError(
      'ERR_POLITELY_STORE_FOREIGN',
      this.#settings.path,
      'this file exists and is not an SQLite file, so the store does not touch it; write the path of a new file, such as "robots.sqlite"',
      cause,
    )
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
