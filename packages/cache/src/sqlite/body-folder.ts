// The files of long bodies, in a folder next to the database. Each is named by the ID of its page. A
// file is deleted before its row in the database is, and its row is created before the file is, so each
// file has a row. If the transaction of that row does not end, the next page has its ID, and replaces it.
import { closeSync, lstatSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StoreError } from '@politely/sqlite/internal'

/** A folder with many files is slow on some file systems. */
const SUBFOLDERS = 256

export class BodyFolder {
  readonly #path: string
  readonly #databasePath: string

  constructor(databasePath: string) {
    this.#databasePath = databasePath
    this.#path = `${databasePath}-bodies`
    this.#assertOwn()
  }

  /** Creates the file of a page. Replaces one that a killed process left. */
  create(id: number): BodyFile {
    const path = this.#pathOf(id)
    return this.#attempt('creating a body', () => {
      try {
        return new BodyFile(openSync(path, 'w+', 0o600), this.#databasePath)
      } catch (error) {
        if (!isMissing(error)) throw error
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        this.#assertOwn()
        return new BodyFile(openSync(path, 'w+', 0o600), this.#databasePath)
      }
    })
  }

  /** Opens the file of a page to read it. Returns undefined if it is gone. */
  open(id: number): BodyFile | undefined {
    return this.#attempt('opening a body', () => {
      try {
        return new BodyFile(openSync(this.#pathOf(id), 'r'), this.#databasePath)
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    })
  }

  /** Deletes the file of a page, if there is one. A reader that has it open can still read it. */
  delete(id: number): void {
    this.#attempt('deleting a body', () => {
      try {
        // Most pages have none, and an error costs more than this look.
        if (lstatSync(this.#pathOf(id), { throwIfNoEntry: false }) !== undefined) unlinkSync(this.#pathOf(id))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    })
  }

  #pathOf(id: number): string {
    return join(this.#path, (id % SUBFOLDERS).toString(16).padStart(2, '0'), `${id}`)
  }

  /**
   * Pages may be for the eyes of one user, so their folder must not lead elsewhere.
   * @throws {StoreError} if it is a symbolic link, or belongs to another user.
   */
  #assertOwn(): void {
    const found = lstatSync(this.#path, { throwIfNoEntry: false })
    if (found === undefined) return
    const problem =
      (found.isSymbolicLink() && 'is a symbolic link') ||
      (process.getuid !== undefined && found.uid !== process.getuid() && 'belongs to another user')
    if (problem)
      throw new StoreError(
        'ERR_POLITELY_STORE_FAILED',
        this.#databasePath,
        `the folder of its bodies, ${this.#path}, ${problem}; remove it, or write another path`,
      )
  }

  #attempt<T>(what: string, work: () => T): T {
    return attempt(this.#databasePath, what, work)
  }
}

/** An open file. */
export class BodyFile {
  readonly #handle: number
  readonly #databasePath: string
  #isOpen = true

  constructor(handle: number, databasePath: string) {
    this.#handle = handle
    this.#databasePath = databasePath
  }

  append(bytes: Uint8Array): void {
    attempt(this.#databasePath, 'writing a body', () => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#handle, bytes, at)
    })
  }

  /** Returns up to `length` bytes from a place in the file. */
  read(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    return attempt(this.#databasePath, 'reading a body', () => {
      let read = 0
      for (let more = -1; more !== 0 && read < length; read += more)
        more = readSync(this.#handle, bytes, read, length - read, at + read)
      return bytes.subarray(0, read)
    })
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#handle)
    this.#isOpen = false
  }
}

function attempt<T>(path: string, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new StoreError(
      'ERR_POLITELY_STORE_FAILED',
      path,
      `${what} failed: ${error instanceof Error ? error.message : error}; check permissions and free disk space`,
      error,
    )
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
