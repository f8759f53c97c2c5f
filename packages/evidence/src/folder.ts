// The files of a folder: how they are named, written, rotated and finished.
//
// Each file is written by one process, at positions: after a failure, or half a write, the file is
// cut back, and the next write begins at the same position. So there is never half a record in the
// middle of a file. The file system may also have kept a part of the last write when the process or
// the machine stops: that is at the end of the file, where readers expect it.
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createZstdCompress } from 'node:zlib'
import { messageOf } from '@politely/fetcher/internal'
import { HOST, hasEnded } from './host.ts'
import type { Line, Output } from './journal.ts'
import type { FileSettings } from './options.ts'
import type { RobotsFile } from './recorder.ts'

/** How the files of a folder look. */
export interface Format {
  /** The name of the file number `n`, from 1, that begins at a time. */
  openName(now: number, n: number): string
  /** Returns the name of the finished file; undefined for the name of a file of another format. */
  doneName(openName: string): string | undefined
  /** Whether a file is compressed when it is finished. Otherwise it is renamed. */
  readonly compresses: boolean
  /** The bytes before the first line. @param name The name of the finished file. */
  prologue(name: string, now: number): Uint8Array
  bytesOf(line: Line): Uint8Array | string
  /** The text of a beginning of a file, for its `start` record. */
  textOf(bytes: Buffer): string
  keep(file: RobotsFile, folder: Folder): void
}

interface OpenFile {
  readonly fd: number
  readonly path: string
  readonly period: number
  /** The number of bytes that were written. */
  end: number
}

export class Folder implements Output {
  readonly #settings: FileSettings
  readonly #format: Format
  #file: OpenFile | undefined
  #lastName: string | undefined
  /** What runs in the background. Never rejects. */
  readonly #background = new Set<Promise<void>>()
  #syncing: Promise<void> = Promise.resolve()
  #nextSync: Promise<void> | undefined

  constructor(settings: FileSettings, format: Format) {
    this.#settings = settings
    this.#format = format
  }

  get path(): string {
    return this.#file?.path ?? this.#settings.dir
  }

  get isNew(): boolean {
    return this.#file === undefined || this.#file.end === 0
  }

  get after(): string | undefined {
    return this.#lastName
  }

  keep(file: RobotsFile): object {
    this.#format.keep(file, this)
    return {}
  }

  ends(now: number, bytes: number): 'full' | 'gone' | undefined {
    if (this.#file === undefined) return undefined
    const { fd, period, end } = this.#file
    if (fs.fstatSync(fd).nlink === 0) return 'gone'
    const { rotateEveryMs, maxFileBytes } = this.#settings
    const isFull = Math.floor(now / rotateEveryMs) !== period || end + bytes > maxFileBytes
    return isFull && end > 0 ? 'full' : undefined
  }

  rotate(): void {
    const file = this.#file
    if (file === undefined) return
    if (this.#settings.fsync) fs.fdatasyncSync(file.fd)
    this.#file = undefined
    this.#lastName = this.#format.compresses ? basename(file.path) : this.#doneName(file.path)
    this.#run(file.path, async () => {
      await this.#syncing
      const isGone = fs.fstatSync(file.fd).nlink === 0
      fs.closeSync(file.fd)
      if (isGone) return
      if (file.end === 0) fs.rmSync(file.path)
      else await this.#finish(file.path)
    })
  }

  write(lines: readonly Line[], now: number): void {
    this.#file ??= this.#open(now)
    const file = this.#file
    const prologue = file.end === 0 ? [this.#format.prologue(this.#doneName(file.path), now)] : []
    const parts = [...prologue, ...lines.map((line) => this.#format.bytesOf(line))]
    const data = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
    try {
      for (let at = 0; at < data.length; ) at += fs.writeSync(file.fd, data, at, data.length - at, file.end + at)
    } catch (error) {
      try {
        fs.ftruncateSync(file.fd, file.end)
      } catch {
        // The next write begins at the same position.
      }
      throw error
    }
    file.end += data.length
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
    fs.mkdirSync(join(path, '..'), { recursive: true })
    fs.writeFileSync(temporary, bytes, { flush: this.#settings.fsync })
    fs.renameSync(temporary, path)
    this.#syncFolder(join(path, '..'))
  }

  /**
   * Finishes the files of processes that ended without it, and removes their temporary files. Files
   * of other hosts and of running processes stay.
   */
  finishOthers(): void {
    const { dir } = this.#settings
    for (const name of fs.existsSync(dir) ? fs.readdirSync(dir) : []) {
      const path = join(dir, name)
      const [, host = '', pid = ''] = /^\.([\da-f]{12})-(\d+)-[\da-f-]+\.tmp$/.exec(name) ?? []
      if (pid !== '') {
        if (hasEnded(path, host, Number(pid))) fs.rmSync(path, { force: true })
      } else if (this.#format.doneName(name) !== undefined && this.#wasLeft(path))
        this.#run(path, () => this.#finish(path))
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
        // A finished file of this name appears before its plain file disappears.
        if (!fs.existsSync(this.#donePath(path))) {
          this.#syncFolder(dir)
          return { fd, path, period: Math.floor(now / rotateEveryMs), end: 0 }
        }
        fs.closeSync(fd)
        fs.unlinkSync(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }

  #doneName(path: string): string {
    return this.#format.doneName(basename(path)) as string
  }

  #donePath(path: string): string {
    return join(path, '..', this.#doneName(path))
  }

  async #finish(path: string): Promise<void> {
    const done = this.#donePath(path)
    if (!this.#format.compresses) return fs.renameSync(path, done)
    if (!fs.existsSync(done)) {
      const temporary = this.#temporaryPath()
      try {
        const source = fs.createReadStream(path)
        await pipeline(source, createZstdCompress(), fs.createWriteStream(temporary, { flush: true }))
        // A process that is not as dead as it seemed may have written more.
        if (fs.statSync(path).size !== source.bytesRead) throw new Error('it is still being written')
        fs.renameSync(temporary, done)
      } catch (error) {
        fs.rmSync(temporary, { force: true })
        throw error
      }
      this.#syncFolder(join(done, '..'))
    }
    fs.rmSync(path, { force: true })
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

  /** Makes the names in a folder survive a power loss. */
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
