// Evidence as files: NDJSON, and each robots.txt once. And how the files of a folder are rotated and
// finished.
//
// Each file is written by one process, at positions: after a failure, or half a write, the file is
// cut back, and the next write begins at the same position. So there is never half a record in the
// middle of a file. The file system may also have kept a part of the last write when the process or
// the machine stops: that is at the end of the file, where readers expect it.
import { hash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createZstdCompress, gunzipSync, zstdCompressSync } from 'node:zlib'
import { messageOf } from '@politely/fetcher/internal'
import {
  type Evidence,
  HOST,
  type Output,
  openJournal,
  type RecordLine,
  textOfLines,
  warnOfEvidence,
} from './journal.ts'
import { type EvidenceFileOptions, type Settings, settingsOf } from './options.ts'

const NDJSON = {
  /** How the name of a file ends while it is written. */
  written: '.ndjson',
  /** And then. `.zst`: it is compressed. */
  finished: '.ndjson.zst',
  /** Returns a name without its end. @param n Counts the attempts to find a free name, from 1. */
  nameOf: (now: number, n: number): string => `${new Date(now).toISOString().slice(0, 13)}${n === 1 ? '' : `.${n}`}`,
  bytesOf: (lines: readonly RecordLine[]): Uint8Array => Buffer.from(textOfLines(lines)),
}

/** How the files of a folder look. */
export type Format = typeof NDJSON

/**
 * Creates a sink that writes a folder: `2026-11-28T16.ndjson` while it is written, with one record
 * a line, `2026-11-28T16.ndjson.zst` when it is finished, and each robots.txt once, as
 * `files/ab/cdef….txt.zst` by its SHA-256. What a killed process has left in the folder is finished
 * in the background.
 * @throws {OptionError} for an invalid or unknown option.
 * @throws {EvidenceError} if nothing can be written, unless `onFailure` is `continue`.
 */
export function evidenceFiles(options: EvidenceFileOptions): Evidence {
  return openJournal(settingsOf(options), (settings) => folderOutput(settings, NDJSON))
}

/** The file that is written. `end`: how many bytes were written. It is over when its period is. */
type OpenFile = { readonly fd: number; readonly path: string; period: number; end: number }

/** Writes the files of a folder, and finishes them in the background. */
export function folderOutput({ dir, rotateEveryMs, maxFileBytes, fsync }: Settings, format: Format): Output {
  const { written, finished } = format
  const finishedPath = (path: string) => path.slice(0, -written.length) + finished
  const temporaryPath = () => join(dir, `.${process.pid}-${HOST}-${randomUUID()}.tmp`)
  const periodAt = (now: number) => Math.floor(now / rotateEveryMs)
  let file: OpenFile | undefined
  let syncing: Promise<void> = Promise.resolve()
  let nextSync: Promise<void> | undefined
  /** What runs in the background, one after another. Never rejects. */
  let work = attempt(dir, finishOthers)

  function begin(now: number, bytes: number, onRemoved: () => void): boolean {
    const isRemoved = file !== undefined && wasRemoved(file.fd)
    if (isRemoved) onRemoved()
    if (file && (isRemoved || periodAt(now) !== file.period || file.end + bytes > maxFileBytes)) rotate(file)
    return !file?.end
  }

  function write(lines: readonly RecordLine[], now: number): void {
    if (format === NDJSON) for (const { copy } of lines) if (copy) keep(Buffer.from(copy.bytes, 'latin1'))
    const data = format.bytesOf(lines)
    file ??= open(now)
    try {
      if (file.end === 0) syncFolder(dir)
      for (let at = 0; at < data.length; ) at += fs.writeSync(file.fd, data, at, data.length - at, file.end + at)
      file.end += data.length
    } catch (error) {
      // The next write begins at the same position, or in a new file.
      if (isError(error, 'EFBIG')) file.period = Number.NaN
      if (file.end > 0) fs.ftruncateSync(file.fd, file.end)
      else fs.rmSync(file.path)
      throw error
    }
  }

  function sync(): Promise<void> {
    // The last sync may have begun before the last write. All that wait for the next one share it.
    nextSync ??= syncing.then(async () => {
      nextSync = undefined
      if (file) await promisify(fs.fdatasync)(file.fd) // `rotate` syncs it too
    })
    syncing = nextSync.catch(() => undefined) // the callers of `sync` get the error
    return nextSync
  }

  async function close(): Promise<void> {
    if (file) rotate(file)
    await work
  }

  function rotate({ fd, path, end }: OpenFile): void {
    fs.ftruncateSync(fd, end) // if that has failed after half a write
    if (fsync) fs.fdatasyncSync(fd)
    file = undefined
    const isLost = wasRemoved(fd) // another file may get its name
    work = work.then(async () => {
      await syncing
      fs.closeSync(fd)
      if (!isLost) await attempt(path, () => finish(path))
    })
  }

  function open(now: number): OpenFile {
    fs.mkdirSync(dir, { recursive: true })
    for (let n = 1; ; n++) {
      const path = join(dir, format.nameOf(now, n) + written)
      // In this order: a finished file appears before the file that was written disappears.
      if (fs.existsSync(path) || fs.existsSync(finishedPath(path))) continue
      try {
        const fd = fs.openSync(path, 'wx')
        return { fd, path, period: periodAt(now), end: 0 }
      } catch (error) {
        if (!isError(error, 'EEXIST')) throw error
      }
    }
  }

  /** Keeps a robots.txt: writes it under a temporary name, and renames it. */
  function keep(bytes: Uint8Array): void {
    const sha256 = hash('sha256', bytes)
    const path = join(dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)
    if (fs.existsSync(path)) return
    fs.mkdirSync(dirname(path), { recursive: true })
    const temporary = temporaryPath()
    try {
      fs.writeFileSync(temporary, zstdCompressSync(bytes), { flush: fsync })
      fs.renameSync(temporary, path)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
    syncFolder(dirname(path))
  }

  /** Finishes what processes of this host that have ended left in the folder. */
  async function finishOthers(): Promise<void> {
    for (const name of fs.existsSync(dir) ? fs.readdirSync(dir) : []) {
      const path = join(dir, name)
      const finishIfLeft = async () => ((await wasLeft(path)) ? finish(path) : undefined)
      if (name.endsWith('.tmp') || name.endsWith(written)) await attempt(path, finishIfLeft)
    }
  }

  /** Compresses, renames or removes a file that no process writes. */
  async function finish(path: string): Promise<void> {
    if (path.endsWith('.tmp')) return fs.rmSync(path)
    if (!finished.endsWith('.zst')) return fs.renameSync(path, finishedPath(path))
    const temporary = temporaryPath()
    try {
      const source = fs.createReadStream(path)
      await pipeline(source, createZstdCompress(), fs.createWriteStream(temporary, { flush: true }))
      // A process that is not as dead as it seemed may have written more.
      if (fs.statSync(path).size !== source.bytesRead) throw new Error('it is still being written')
      fs.renameSync(temporary, finishedPath(path))
      syncFolder(dir)
      fs.rmSync(path)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
  }

  /** Makes the names in a folder survive a power loss. Windows cannot. */
  function syncFolder(path: string): void {
    if (!fsync || process.platform === 'win32') return
    const fd = fs.openSync(path, 'r')
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }

  return { begin, write, close, ...(fsync && { sync }) }
}

/** A file that cannot be finished stays as it is, and is readable. */
async function attempt(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    // Without the file, another process has finished it.
    if (fs.existsSync(path))
      warnOfEvidence(`${path}: cannot be finished (${messageOf(error)}); the next start tries it again`)
  }
}

/** The process, in the name of a temporary file or in a `start` record. */
const PROCESS = /(?:^\.|"kind":"start".*?"pid":)(\d+)(?:-|,"host":")([\da-f]{12})/

/** Whether the process that wrote a file was of this host, and has ended. */
async function wasLeft(path: string): Promise<boolean> {
  const [bytes = Buffer.alloc(0)] = (await fs.createReadStream(path, { end: 4095 }).toArray()) as Buffer[]
  const isGzip = bytes[0] === 0x1f
  const text = `${isGzip ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes}`
  const [, number, host] = PROCESS.exec(basename(path)) ?? PROCESS.exec(text) ?? []
  if (host !== HOST) return false
  const pid = Number(number)
  // An earlier process had our number, if the file is older than this process.
  if (pid === process.pid) return fs.statSync(path).mtimeMs < Date.now() - process.uptime() * 1000
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return isError(error, 'ESRCH')
  }
}

const wasRemoved = (fd: number) => fs.fstatSync(fd).nlink === 0

const isError = (error: unknown, code: string) => (error as NodeJS.ErrnoException).code === code
