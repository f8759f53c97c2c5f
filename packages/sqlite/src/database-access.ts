// Access to one SQLite file that other processes may lock, damage, rename or delete. Methods wait
// without blocking the event loop.
import { setTimeout } from 'node:timers/promises'
import { isPolitelyError } from '@politely/core'
import { StoreClosedError } from '@politely/fetcher'
import type { OpenFile } from './database-file.ts'
import { fileIdOf } from './file-id.ts'
import type { SetAside } from './options.ts'
import { renameDamagedFile } from './rename-damaged-file.ts'
import { isOneByte, isSqliteFile } from './sqlite-header.ts'
import { isBusy, isDamage, isNotADatabase, StoreError } from './store-error.ts'

export interface AccessSettings {
  /** An absolute path. */
  readonly path: string
  /** A file name for error messages, such as `robots.sqlite`. */
  readonly example: string
  /** How long to retry while other processes keep the file locked, in milliseconds. */
  readonly busyTimeoutMs: number
  /** Called after a damaged file has been renamed. */
  readonly onSetAside: (event: SetAside) => void
}

/** Delays between two attempts at a locked file. They double from the first to the second. */
const MIN_RETRY_DELAY_MS = 1
const MAX_RETRY_DELAY_MS = 32

export class DatabaseAccess<F extends OpenFile> {
  readonly #settings: AccessSettings
  readonly #openFile: () => F
  /** Undefined after a damaged or replaced file was closed, until the next one is open. */
  #file: F | undefined
  /** Whether a read of this turn of the event loop has seen that the path leads to the file. */
  #isAtPath = false
  #isClosed = false

  /**
   * Opens the file, or creates it. Blocks for up to `busyTimeoutMs` while other processes keep it
   * locked.
   * @param openFile Opens the file in one attempt.
   * @throws {StoreError} if the file cannot be opened, is not an SQLite file, or belongs to another
   * application or a newer version.
   */
  constructor(settings: AccessSettings, openFile: () => F) {
    this.#settings = settings
    this.#openFile = openFile
    this.#file = this.#openBlocking()
  }

  /**
   * Runs `work` on the file, again with growing delays while the file is locked. If the file turns
   * out to be damaged, replaces it and runs `work` again.
   * @throws {StoreError} after `busyTimeoutMs`, or if SQLite failed.
   */
  async run<T>(work: (file: F) => T, isRead = false): Promise<T> {
    const { busyTimeoutMs } = this.#settings
    const end = performance.now() + busyTimeoutMs
    for (let pause = MIN_RETRY_DELAY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_DELAY_MS)) {
      try {
        return this.#replaceIfDamaged(work, isRead)
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw this.#toStoreError(error)
        await setTimeout(pause * (0.5 + Math.random())) // jitter, so that processes do not retry at the same moment
      }
    }
  }

  /**
   * Like `run`, for work that changes nothing. Looks only once in a turn of the event loop whether the
   * path still leads to the file, since a look costs as much as a query.
   */
  read<T>(work: (file: F) => T): Promise<T> {
    return this.run(work, true)
  }

  /** Closes the file. Later calls of `run` reject. */
  close(): void {
    this.#isClosed = true
    this.#closeFile()
  }

  /**
   * Opens the file for the constructor. Blocks the thread between attempts, because a constructor
   * cannot await.
   */
  #openBlocking(): F {
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
  #open(): F {
    const { path } = this.#settings
    const id = fileIdOf(path)
    if (isOneByte(path)) throw this.#notSqliteError()
    try {
      return this.#openFile()
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#renameDamaged(id, error)
      return this.#openFile()
    }
  }

  #replaceIfDamaged<T>(work: (file: F) => T, isRead: boolean): T {
    const file = isRead ? this.#fileOfTurn() : this.#currentFile()
    try {
      return work(file)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#closeFile() // before the rename: when SQLite closes a file, it uses its names
      this.#renameDamaged(file.database.id, error)
      return work(this.#currentFile())
    }
  }

  #fileOfTurn(): F {
    if (this.#isAtPath && this.#file !== undefined) return this.#file
    const file = this.#currentFile()
    this.#isAtPath = true
    setImmediate(() => {
      this.#isAtPath = false
    })
    return file
  }

  /**
   * Opens the file again if the path leads to another one: writes to a renamed or deleted file
   * would be lost.
   */
  #currentFile(): F {
    if (this.#isClosed) throw new StoreClosedError(this.#settings.path) // a call may have waited for the lock until after `close`
    if (this.#file?.database.isAtPath) return this.#file
    this.#closeFile()
    this.#file = this.#open()
    return this.#file
  }

  #closeFile(): void {
    this.#file?.database.close()
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
    const { path, example } = this.#settings
    return new StoreError(
      'ERR_POLITELY_STORE_FOREIGN',
      path,
      `this file exists and is not an SQLite file, so the store does not touch it; write the path of a new file, such as "${example}"`,
      cause,
    )
  }
}
