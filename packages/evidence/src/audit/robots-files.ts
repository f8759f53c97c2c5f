// The robots.txt files of a folder of evidence, by their hash. They are in `files/ab/cdef….txt.zst`,
// or in the WARC files and streams between the records. The files between the records are copied to
// a temporary file when they are read, so that a later record finds them without a second search.
import { hash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { LRUCache } from '@politely/fetcher/internal'

/** A robots.txt, one character for each byte (latin1); or why it is not there. */
export type RobotsFile =
  | { readonly bytes: string; readonly problem?: undefined }
  | { readonly bytes?: undefined; readonly problem: 'missing' | 'damaged' }

/** So many bytes of files stay in memory. */
const MEMORY_BYTES = 32 * 2 ** 20
/** A longer file is damaged: no client reads so much of a robots.txt. */
export const MAX_FILE_BYTES: number = 2 ** 28

export function sha256Of(data: string | Uint8Array): string {
  return hash('sha256', data)
}

export class RobotsFiles {
  readonly #dir: string
  readonly #recent = new LRUCache<string, RobotsFile>({ maxSize: MEMORY_BYTES, sizeCalculation: sizeOf })
  readonly #copied = new Map<string, { readonly at: number; readonly length: number }>()
  #copy: { readonly folder: string; readonly fd: number; length: number } | undefined

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Keeps a file that stands between the records. @param named The hash that stands with it. */
  keep(bytes: Buffer, named: string): void {
    const sha256 = sha256Of(bytes)
    if (sha256 !== named) this.#recent.set(named, { problem: 'damaged' })
    if (this.#copied.has(sha256)) return
    if (this.#copy === undefined) {
      const folder = mkdtempSync(join(tmpdir(), 'politely-evidence-'))
      this.#copy = { folder, fd: openSync(join(folder, 'robots.txt'), 'wx+', 0o600), length: 0 }
      if (process.platform !== 'win32') rmSync(folder, { recursive: true }) // a killed process leaves nothing
    }
    const { fd, length: at } = this.#copy
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done)
    this.#copied.set(sha256, { at, length: bytes.length })
    this.#copy.length += bytes.length
  }

  /** Returns a file. It is `missing` also if the record that has it was not read yet. */
  async get(sha256: string): Promise<RobotsFile> {
    const known = this.#recent.get(sha256)
    if (known !== undefined) return known
    const file = this.#copiedFile(sha256) ?? (await this.#ownFile(sha256))
    if (file.problem !== 'missing') this.#recent.set(sha256, file)
    return file
  }

  [Symbol.dispose](): void {
    if (this.#copy === undefined) return
    closeSync(this.#copy.fd)
    rmSync(this.#copy.folder, { recursive: true, force: true })
    this.#copy = undefined
    this.#copied.clear()
  }

  #copiedFile(sha256: string): RobotsFile | undefined {
    const place = this.#copied.get(sha256)
    if (place === undefined || this.#copy === undefined) return undefined
    const bytes = Buffer.allocUnsafe(place.length)
    readSync(this.#copy.fd, bytes, 0, place.length, place.at)
    return { bytes: bytes.toString('latin1') }
  }

  async #ownFile(sha256: string): Promise<RobotsFile> {
    if (!/^[\da-f]{64}$/.test(sha256)) return { problem: 'missing' }
    try {
      const name = join(this.#dir, 'files', sha256.slice(0, 2), `${sha256.slice(2)}.txt.zst`)
      const bytes = zstdDecompressSync(await readFile(name), { maxOutputLength: MAX_FILE_BYTES })
      return sha256Of(bytes) === sha256 ? { bytes: bytes.toString('latin1') } : { problem: 'damaged' }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return { problem: 'missing' }
      if (/^(?:ZSTD_|Z_|ERR_BUFFER_TOO_LARGE)/.test(code)) return { problem: 'damaged' }
      throw error
    }
  }
}

function sizeOf({ bytes = '' }: RobotsFile): number {
  return bytes.length + 200
}
