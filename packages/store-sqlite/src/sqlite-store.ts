// A store in one SQLite file. Sets that are asked for in one turn of the event loop are one transaction; nobody waits by blocking.
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Store } from '@politely/fetcher'
import { fileIdOf } from './file-id.ts'
import { type Settings, type SqliteStoreOptions, settingsOf } from './options.ts'
import { roomIn } from './room.ts'
import { setAside } from './set-aside.ts'
import { isBusy, isDamage, StoreError } from './store-error.ts'
import { StoreFile, type Write } from './store-file.ts'

/** Asked for, and not yet written. */
interface Pending {
  readonly write: Write
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** What a write may add to the log beside its text: pages of the table and of two indexes, for it and for one that is forgotten. */
const BYTES_OF_A_WRITE = 4 * 4_096
/** Between two tries at a locked file, in milliseconds: at first, and at the most. */
const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 32

/**
 * Keeps texts in a file, for the next run and for other processes on the same machine.
 *
 * What `set` and `delete` resolved for is there after the process was killed, at whatever moment. After a power cut the last of it,
 * since SQLite last synced, may be missing; the file is whole (WAL, `synchronous = NORMAL`). `get` sees what is committed, by
 * this store and by others.
 *
 * A damaged file is renamed to `….corrupt-TIME` and a new one begun; `onSetAside` is told. Methods reject with a `StoreError` whose
 * `code` says why.
 */
export class SqliteStore implements Store {
  readonly #settings: Settings
  /** Undefined only while one is closed and the next cannot be opened. */
  #file: StoreFile | undefined
  #queue: Pending[] = []
  #flushing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #isClosed = false

  /**
   * Opens the file, and makes it if it is not there.
   * @throws {OptionError} for an option that cannot be used, such as a path in a folder that is not there.
   * @throws {StoreError} for a file that cannot be opened, is another application's, or a newer version's.
   */
  constructor(options: SqliteStoreOptions) {
    this.#settings = settingsOf(options)
    this.#file = this.#opened()
  }

  async get(origin: string): Promise<string | undefined> {
    this.#throwIfClosing()
    return this.#whenFree((file) => file.get(origin, this.#settings.now()))
  }

  // Encoded here, so that what cannot be is an error of this call alone.
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    return this.#queued({ origin, key: Buffer.from(origin), text: Buffer.from(text), keepUntil })
  }

  async delete(origin: string): Promise<void> {
    return this.#queued({ origin, key: Buffer.from(origin), text: undefined, keepUntil: 0 })
  }

  /** Writes what was asked for, and closes the file. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#flushing
      this.#isClosed = true
      this.#letGo()
    })()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #queued(write: Write): Promise<void> {
    this.#throwIfClosing()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push({ write, resolve, reject })
    this.#flushing ??= this.#flush()
    return promise
  }

  /** Until nothing is left; other things get their turn between two transactions. */
  async #flush(): Promise<void> {
    const { walBytes } = roomIn(this.#settings.maxBytes)
    for (await setImmediate(); this.#queue.length > 0; await setImmediate()) {
      const batch = this.#queue.splice(0, batchLength(this.#queue, walBytes))
      // The last word about an origin is what is written; who said the others may go on as well, since theirs came before it.
      const writes = new Map(batch.map(({ write }) => [write.origin, write]))
      try {
        await this.#whenFree((file) => file.commit([...writes.values()], this.#settings.now()))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#flushing = undefined
  }

  /** @throws {StoreError} */
  async #whenFree<T>(work: (file: StoreFile) => T): Promise<T> {
    const { busyTimeoutMs } = this.#settings
    const end = performance.now() + busyTimeoutMs
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return this.#onFile(work)
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw this.#explained(error)
        await setTimeout(pause * (0.5 + Math.random())) // not all processes at the same moment
      }
    }
  }

  /** As `whenFree`, for the constructor, which cannot wait otherwise than by blocking. */
  #opened(): StoreFile {
    const end = performance.now() + this.#settings.busyTimeoutMs
    const nobody = new Int32Array(new SharedArrayBuffer(4))
    for (;;) {
      try {
        return this.#openedAtOnce()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw this.#explained(error)
        Atomics.wait(nobody, 0, 0, LONGEST_PAUSE_MS * Math.random())
      }
    }
  }

  /** The file that the path leads to, in one try. */
  #openedAtOnce(): StoreFile {
    const { path, maxBytes } = this.#settings
    const id = fileIdOf(path)
    try {
      return new StoreFile(path, maxBytes)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#setAside(id, error)
      return new StoreFile(path, maxBytes)
    }
  }

  /** Works on the file that stands at the path; if that proves to be damaged, on a new one. */
  #onFile<T>(work: (file: StoreFile) => T): T {
    const file = this.#inPlace()
    try {
      return work(file)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#letGo() // before it is renamed: SQLite goes by names when it closes
      this.#setAside(file.id, error)
      return work(this.#inPlace())
    }
  }

  /** Another process may have set the file aside, or somebody may have deleted it: what is written to it would be lost. */
  #inPlace(): StoreFile {
    if (this.#isClosed) throw this.#closedError() // a get may have waited for so long
    if (this.#file?.isInPlace) return this.#file
    this.#letGo()
    this.#file = this.#openedAtOnce()
    return this.#file
  }

  #letGo(): void {
    this.#file?.close()
    this.#file = undefined
  }

  #setAside(id: string | undefined, error: Error): void {
    const { path, onSetAside } = this.#settings
    const setAsideAs = setAside(path, id)
    if (setAsideAs !== undefined) onSetAside({ path, setAsideAs, error })
  }

  #explained(error: unknown): unknown {
    const { path, busyTimeoutMs } = this.#settings
    if (error instanceof StoreError || !(error instanceof Error)) return error
    return isBusy(error)
      ? new StoreError(
          'ERR_POLITELY_STORE_BUSY',
          path,
          `other processes kept it locked for ${busyTimeoutMs} ms; try again, or write a larger busyTimeoutMs`,
          error,
        )
      : new StoreError('ERR_POLITELY_STORE_FAILED', path, error.message, error)
  }

  #throwIfClosing(): void {
    if (this.#closing) throw this.#closedError()
  }

  #closedError(): StoreError {
    const { path } = this.#settings
    return new StoreError('ERR_POLITELY_STORE_CLOSED', path, 'this store is closed; make a new one')
  }
}

/** How many of them, one at the least, make a transaction that the log has room for. */
function batchLength(queue: readonly Pending[], walBytes: number): number {
  let bytes = 0
  let length = 0
  for (const { write } of queue) {
    bytes += (write.text?.length ?? 0) + BYTES_OF_A_WRITE
    if (bytes > walBytes) break
    length++
  }
  return Math.max(1, length)
}
