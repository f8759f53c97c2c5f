// Evidence as files: NDJSON, and each robots.txt once. And how the files of a folder are rotated and
// finished.
//
// Each file is written by one process, at positions: after a failure, or half a write, the file is
// cut back, and the next write begins at the same position. So there is never half a record in the
// middle of a file. The file system may also have kept a part of the last write when the process or
// the machine stops: that is at the end of the file, where readers expect it.
import { hash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createZstdCompress, gunzipSync, zstdCompressSync } from 'node:zlib'
import { messageOf } from '@politely/fetcher/internal'
import { type Evidence, HOST, Journal, type Line, type Output, warn } from './journal.ts'
import { type EvidenceFileOptions, type Settings, settingsOf } from './options.ts'

/** How the files of a folder look. */
export interface Format {
  /** How the name of a file ends while it is written, and then. `.zst`: it is compressed. */
  readonly ends: readonly [written: string, finished: string]
  /** Returns a name without its end. @param n Counts the attempts to find a free name, from 1. */
  nameOf(now: number, n: number): string
  bytesOf(line: Line): Uint8Array
}

const NDJSON: Format = {
  ends: ['.ndjson', '.ndjson.zst'],
  nameOf: (now, n) => `${new Date(now).toISOString().slice(0, 13)}${n === 1 ? '' : `.${n}`}`,
  bytesOf: ({ text }) => Buffer.from(`${text}\n`),
}

/**
 * Creates a sink that writes a folder: `2026-11-28T16.ndjson` while it is written, with one record
 * a line, `2026-11-28T16.ndjson.zst` when it is finished, and each robots.txt once, as
 * `files/ab/cdef….txt.zst` by its SHA-256. What a killed process has left in the folder is finished
 * in the background.
 * @throws {OptionError} for an invalid or unknown option.
 * @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`.
 */
export function evidenceFiles(options: EvidenceFileOptions): Evidence {
  const settings = settingsOf(options)
  return new Journal(settings, () => new Folder(settings, NDJSON))
}

/** The file that is written. `end`: how many bytes were written. It is over when its period is. */
type OpenFile = { readonly fd: number; readonly path: string; period: number; end: number }

export class Folder implements Output {
  readonly #settings: Settings
  readonly #format: Format
  #file: OpenFile | undefined
  /** What runs in the background, one after another. Never rejects. */
  #work: Promise<void>
  #syncing: Promise<void> = Promise.resolve()
  #nextSync: Promise<void> | undefined
  readonly #temporaryPath = () => join(this.#settings.dir, `.${process.pid}-${HOST}-${randomUUID()}.tmp`)

  constructor(settings: Settings, format: Format) {
    this.#settings = settings
    this.#format = format
    this.#work = this.#try(settings.dir, () => this.#finishOthers())
  }

  begin(now: number, bytes: number): boolean {
    const { rotateEveryMs, maxFileBytes } = this.#settings
    const { fd = 0, period, end = 0 } = this.#file ?? {}
    const isOver = Math.floor(now / rotateEveryMs) !== period || end + bytes > maxFileBytes
    if (this.#file && (isOver || fs.fstatSync(fd).nlink === 0)) this.#rotate(this.#file) // or it was removed
    return this.#file === undefined
  }

  write(lines: readonly Line[], now: number): void {
    if (this.#format === NDJSON) for (const { copy } of lines) if (copy) this.#keep(Buffer.from(copy.bytes, 'latin1'))
    const file = this.#file ?? this.#open(now)
    const { fd, path, end } = file
    const data = Buffer.concat(lines.map(this.#format.bytesOf))
    try {
      for (let at = 0; at < data.length; ) at += fs.writeSync(fd, data, at, data.length - at, end + at)
    } catch (error) {
      // The next write begins at the same position, or in a new file.
      if (isError(error, 'EFBIG')) file.period = Number.NaN
      if (end > 0) fs.ftruncateSync(fd, end)
      else {
        fs.closeSync(fd)
        fs.rmSync(path)
      }
      throw error
    }
    file.end += data.length
    this.#file = file
  }

  sync(): Promise<void> {
    if (this.#nextSync) return this.#nextSync
    // The last sync may have begun before the last write. All that wait for the next one share it.
    this.#nextSync = this.#syncing.then(async () => {
      this.#nextSync = undefined
      if (this.#file) await promisify(fs.fdatasync)(this.#file.fd) // `#rotate` syncs it too
    })
    this.#syncing = this.#nextSync.catch(() => undefined) // the callers of `sync` get the error
    return this.#nextSync
  }

  async close(): Promise<void> {
    if (this.#file) this.#rotate(this.#file)
    await this.#work
  }

  #rotate({ fd, path }: OpenFile): void {
    if (this.#settings.fsync) fs.fdatasyncSync(fd)
    this.#file = undefined
    this.#work = this.#work.then(async () => {
      await this.#syncing
      fs.closeSync(fd)
      await this.#try(path, () => this.#finish(path))
    })
  }

  #open(now: number): OpenFile {
    const { dir, rotateEveryMs } = this.#settings
    fs.mkdirSync(dir, { recursive: true })
    for (let n = 1; ; n++) {
      const path = join(dir, this.#format.nameOf(now, n) + this.#format.ends[0])
      // In this order: a finished file appears before the file that was written disappears.
      if (fs.existsSync(path) || fs.existsSync(finishedPath(path, this.#format))) continue
      try {
        const fd = fs.openSync(path, 'wx')
        this.#syncFolder(dir)
        return { fd, path, period: Math.floor(now / rotateEveryMs), end: 0 }
      } catch (error) {
        if (!isError(error, 'EEXIST')) throw error
      }
    }
  }

  /** Keeps a robots.txt: writes it under a temporary name, and renames it. */
  #keep(bytes: Uint8Array): void {
    const sha256 = hash('sha256', bytes)
    const dir = join(this.#settings.dir, 'files', sha256.slice(0, 2))
    const path = join(dir, `${sha256.slice(2)}.txt.zst`)
    if (fs.existsSync(path)) return
    fs.mkdirSync(dir, { recursive: true })
    const temporary = this.#temporaryPath()
    try {
      fs.writeFileSync(temporary, zstdCompressSync(bytes), { flush: this.#settings.fsync })
      fs.renameSync(temporary, path)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
    this.#syncFolder(dir)
  }

  /** Finishes what processes of this host that have ended left in the folder. */
  async #finishOthers(): Promise<void> {
    const { dir } = this.#settings
    for (const name of fs.existsSync(dir) ? fs.readdirSync(dir) : []) {
      const path = join(dir, name)
      const isTemporary = name.endsWith('.tmp')
      if (isTemporary || name.endsWith(this.#format.ends[0]))
        await this.#try(path, async () => {
          if (!wasLeft(path, isTemporary ? name : await beginningOf(path))) return
          await (isTemporary ? fs.promises.rm(path) : this.#finish(path))
        })
    }
  }

  /** Compresses or renames a file that nobody writes. */
  async #finish(path: string): Promise<void> {
    const finished = finishedPath(path, this.#format)
    if (!finished.endsWith('.zst')) return fs.renameSync(path, finished)
    const temporary = this.#temporaryPath()
    try {
      const source = fs.createReadStream(path)
      await pipeline(source, createZstdCompress(), fs.createWriteStream(temporary, { flush: true }))
      // A process that is not as dead as it seemed may have written more.
      if (fs.statSync(path).size !== source.bytesRead) throw new Error('it is still being written')
      fs.renameSync(temporary, finished)
      this.#syncFolder(dirname(path))
      fs.rmSync(path)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
  }

  /** A file that cannot be finished stays as it is, and is readable. */
  async #try(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!fs.existsSync(path)) return // another process has finished it
      warn(`${path}: cannot be finished (${messageOf(error)}); the next start tries it again`)
    }
  }

  /** Makes the names in a folder survive a power loss. Windows cannot. */
  #syncFolder(path: string): void {
    if (!this.#settings.fsync || process.platform === 'win32') return
    const fd = fs.openSync(path, 'r')
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }
}

/** Whether the process of this host that wrote a file has ended. @param text Names the process. */
function wasLeft(path: string, text: string): boolean {
  const [, number, host] = /(?:"kind":"start".*?"pid":|^\.)(\d+)(?:,"host":"|-)([\da-f]{12})/.exec(text) ?? []
  if (host !== HOST) return false
  const pid = Number(number)
  // An earlier process had our number, if the file is older than this process.
  if (pid === process.pid) return fs.statSync(path).mtimeMs < Date.now() - process.uptime() * 1000
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return isError(error, 'ESRCH')
  }
}

/** The beginning of a file, for its `start` record. */
async function beginningOf(path: string): Promise<string> {
  const [bytes = Buffer.alloc(0)] = (await fs.createReadStream(path, { end: 4095 }).toArray()) as Buffer[]
  const isGzip = bytes[0] === 0x1f
  return `${isGzip ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes}`
}

const finishedPath = (path: string, { ends }: Format) => path.slice(0, -ends[0].length) + ends[1]

const isError = (error: unknown, code: string) => (error as NodeJS.ErrnoException).code === code
