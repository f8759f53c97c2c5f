// The files of a folder: how they are named, written, rotated and finished.
//
// Each file is written by one process, at positions: after a failure, or half a write, the file is
// cut back, and the next write begins at the same position. So there is never half a record in the
// middle of a file. The file system may also have kept a part of the last write when the process or
// the machine stops: that is at the end of the file, where readers expect it.
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createZstdCompress } from 'node:zlib'
import { messageOf } from '@politely/fetcher/internal'
import { HOST, hasEnded } from './host.ts'
import type { Item, Output } from './journal.ts'
import type { FolderSettings } from './options.ts'
import type { RobotsFile } from './recorder.ts'

/** How the files of a folder look. */
export interface Format {
  /** The name of the file number `n`, from 1, that begins at a time. */
  openName(now: number, n: number): string
  /** Returns the name of the finished file; undefined for the name of another file. */
  doneName(openName: string): string | undefined
  /** Whether a file is compressed when it is finished. Otherwise it is renamed. */
  readonly compresses: boolean
  /** The bytes before the first line. @param name The name of the finished file. */
  prologue(name: string, now: number): Uint8Array
  bytesOf(line: string, item: Item): Uint8Array
  /** The text of the beginning of a file, for its `start` record. */
  textOf(bytes: Buffer): string
  keep(file: RobotsFile, folder: Folder): void
}

/** The file that is written. `end`: how many bytes were written. */
type OpenFile = { readonly fd: number; readonly path: string; readonly period: number; end: number }

export class Folder implements Output {
  after: string | undefined
  readonly #settings: FolderSettings
  readonly #format: Format
  #file: OpenFile | undefined
  /** What runs in the background. Never rejects. */
  readonly #background = new Set<Promise<void>>()
  #syncing: Promise<void> = Promise.resolve()
  #nextSync: Promise<void> | undefined

  constructor(settings: FolderSettings, format: Format) {
    this.#settings = settings
    this.#format = format
    this.#run(settings.dir, async () => this.#finishOthers())
  }

  get path(): string {
    return this.#file?.path ?? this.#settings.dir
  }

  get isNew(): boolean {
    return this.#file === undefined
  }

  keep(file: RobotsFile): object {
    this.#format.keep(file, this)
    return {}
  }

  ends(now: number, bytes: number): 'full' | 'gone' | undefined {
    if (this.#file === undefined) return undefined
    const { rotateEveryMs, maxFileBytes } = this.#settings
    const { fd, period, end } = this.#file
    if (fs.fstatSync(fd).nlink === 0) return 'gone'
    return Math.floor(now / rotateEveryMs) !== period || end + bytes > maxFileBytes ? 'full' : undefined
  }

  rotate(): void {
    if (this.#file === undefined) return
    const { fd, path } = this.#file
    if (this.#settings.fsync) fs.fdatasyncSync(fd)
    this.#file = undefined
    this.after = this.#format.compresses ? basename(path) : this.#format.doneName(basename(path))
    this.#run(path, async () => {
      await this.#syncing
      const isGone = fs.fstatSync(fd).nlink === 0
      fs.closeSync(fd)
      if (!isGone) await this.#finish(path)
    })
  }

  write(lines: readonly string[], items: readonly Item[], now: number): void {
    this.#file ??= this.#open(now)
    const { fd, path, end } = this.#file
    const parts = end === 0 ? [this.#format.prologue(basename(this.#donePath(path)), now)] : []
    // The prologue comes first: lines may name it.
    for (const [n, line] of lines.entries()) parts.push(this.#format.bytesOf(line, items[n] as Item))
    const data = Buffer.concat(parts)
    try {
      for (let at = 0; at < data.length; ) at += fs.writeSync(fd, data, at, data.length - at, end + at)
    } catch (error) {
      this.#cutBack(fd, path, end)
      throw error
    }
    this.#file.end = end + data.length
  }

  sync(): Promise<void> {
    // A sync that runs may have begun before the last write. All that wait for the next one share it.
    this.#nextSync ??= this.#syncing.then(() => {
      this.#nextSync = undefined
      if (this.#file === undefined) return undefined // `rotate` has synced it
      const done = promisify(fs.fdatasync)(this.#file.fd)
      this.#syncing = done.catch(() => undefined) // the callers of `sync` get the error
      return done
    })
    return this.#nextSync
  }

  async close(): Promise<void> {
    this.rotate()
    while (this.#background.size > 0) await Promise.all(this.#background)
  }

  /** Writes a whole file under a temporary name, and renames it. */
  store(path: string, bytes: Uint8Array): void {
    const temporary = this.#temporaryPath()
    fs.mkdirSync(dirname(path), { recursive: true })
    try {
      fs.writeFileSync(temporary, bytes, { flush: this.#settings.fsync })
      fs.renameSync(temporary, path)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
    this.#syncFolder(dirname(path))
  }

  /** Removes what a failed write has left: half a record, or a file without records. */
  #cutBack(fd: number, path: string, end: number): void {
    try {
      if (end > 0) {
        fs.ftruncateSync(fd, end)
      } else {
        this.#file = undefined
        fs.closeSync(fd)
        fs.rmSync(path)
      }
    } catch {
      // The caller reports why the write failed. The next write begins at the same position.
    }
  }

  /**
   * Finishes the files of processes that ended without it, and removes their temporary files. Files
   * of other hosts and of running processes stay.
   */
  #finishOthers(): void {
    const { dir } = this.#settings
    for (const name of fs.existsSync(dir) ? fs.readdirSync(dir) : []) {
      const path = join(dir, name)
      const [, host = '', pid] = /^\.([\da-f]{12})-(\d+)-[\da-f-]+\.tmp$/.exec(name) ?? []
      this.#run(path, async () => {
        if (pid !== undefined && hasEnded(path, host, Number(pid))) fs.rmSync(path, { force: true })
        else if (this.#format.doneName(name) !== undefined && this.#wasLeft(path)) await this.#finish(path)
      })
    }
  }

  /** Whether the process that wrote a file has ended. */
  #wasLeft(path: string): boolean {
    const fd = fs.openSync(path, 'r')
    try {
      const beginning = Buffer.alloc(4096)
      const text = this.#format.textOf(beginning.subarray(0, fs.readSync(fd, beginning)))
      const start = /"kind":"start".*?"pid":(\d+),"host":"([\da-f]+)"/.exec(text)
      return start !== null && hasEnded(path, start[2] as string, Number(start[1]))
    } finally {
      fs.closeSync(fd)
    }
  }

  #open(now: number): OpenFile {
    const { dir, rotateEveryMs } = this.#settings
    fs.mkdirSync(dir, { recursive: true })
    for (let n = 1; ; n++) {
      const path = join(dir, this.#format.openName(now, n))
      try {
        const fd = fs.openSync(path, 'wx')
        this.#syncFolder(dir)
        const file = { fd, path, period: Math.floor(now / rotateEveryMs), end: 0 }
        // A finished file of this name appears before its plain file disappears.
        if (!fs.existsSync(this.#donePath(path))) return file
        fs.closeSync(fd)
        fs.rmSync(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }

  #donePath(path: string): string {
    return join(dirname(path), this.#format.doneName(basename(path)) as string)
  }

  async #finish(path: string): Promise<void> {
    const done = this.#donePath(path)
    if (!this.#format.compresses) return fs.renameSync(path, done)
    const temporary = this.#temporaryPath()
    try {
      if (!fs.existsSync(done)) {
        const source = fs.createReadStream(path)
        await pipeline(source, createZstdCompress(), fs.createWriteStream(temporary, { flush: true }))
        // A process that is not as dead as it seemed may have written more.
        if (fs.statSync(path).size !== source.bytesRead) throw new Error('it is still being written')
        fs.renameSync(temporary, done)
        this.#syncFolder(dirname(done))
      }
      fs.rmSync(path, { force: true })
    } finally {
      fs.rmSync(temporary, { force: true })
    }
  }

  /** Runs work in the background. A file that cannot be finished stays as it is, and is readable. */
  #run(path: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error) => {
        if (!fs.existsSync(path)) return // another process has finished it
        this.#settings.warn(`${path}: cannot be finished (${messageOf(error)}); the next start tries it again`)
      })
      .finally(() => this.#background.delete(running))
    this.#background.add(running)
  }

  #temporaryPath(): string {
    return join(this.#settings.dir, `.${HOST}-${process.pid}-${randomUUID()}.tmp`)
  }

  /** Makes the names in a folder survive a power loss. Windows cannot. */
  #syncFolder(path: string): void {
    if (!this.#settings.fsync || process.platform === 'win32') return
    const fd = fs.openSync(path, 'r')
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
}
