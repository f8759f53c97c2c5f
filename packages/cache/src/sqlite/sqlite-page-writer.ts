// Writes one response: a long body to a file while it arrives, and the rest to the database.
import zlib from 'node:zlib' // crc32 is missing in an old Node, which could not load this module then
import { BlockBuffer } from '../block-buffer.ts'
import type { PageRecord, PageWriter } from '../page-store.ts'
import type { BodyFile } from './body-folder.ts'
import { BLOCK_BYTES, type PageFile } from './page-file.ts'

export interface WriterSettings {
  /** Changes the database. `work` writes so many bytes, and may run several times. */
  readonly write: <T>(bytes: number, work: (file: PageFile, now: number) => T) => Promise<T>
  /** A longer body is not kept. */
  readonly maxBodyBytes: number
  /** A file reserves so many bytes at a time; at least one block. */
  readonly reservedBytes: number
  /** Called when `commit` or `abort` has ended. */
  readonly onEnd: () => void
}

export class SqlitePageWriter implements PageWriter {
  readonly #settings: WriterSettings
  readonly #buffer = new BlockBuffer(BLOCK_BYTES)
  /** The checksums of the blocks in the file. */
  readonly #blocks: number[] = []
  #bodyBytes = 0
  #reservedBytes = 0
  /** The page of the file. Undefined before the first block. */
  #id: number | undefined
  #file: BodyFile | undefined
  /** The body is too long, or its page was given up. */
  #isLost = false
  #hasEnded = false
  /** Writes one block after the other, even if the caller does not wait. */
  #writing: Promise<void> = Promise.resolve()

  constructor(settings: WriterSettings) {
    this.#settings = settings
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#hasEnded || this.#isLost) return
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > this.#settings.maxBodyBytes) {
      this.#isLost = true
      this.#writing = this.#writing.then(() => this.#drop())
    } else {
      const full = this.#buffer.add(chunk)
      if (full.length === 0) return
      this.#writing = this.#writing.then(() => this.#append(full))
    }
    await this.#writing
  }

  async commit(record: PageRecord): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    try {
      await this.#writing
      await this.#publish(record)
    } catch (error) {
      await this.#drop().catch(() => undefined) // the first error says more
      throw error
    } finally {
      this.#end()
    }
  }

  async abort(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    await this.#writing.catch(() => undefined) // `write` has reported it
    try {
      await this.#drop()
    } finally {
      this.#end()
    }
  }

  async #publish(record: PageRecord): Promise<void> {
    const { write } = this.#settings
    const rest = this.#buffer.rest()
    const bodyBytes = this.#bodyBytes
    if (this.#id !== undefined && rest.length > 0) await this.#append([rest])
    if (this.#isLost) return write(0, (file) => file.publish(record, undefined))
    const bytes = this.#id === undefined ? rest : new Uint8Array(0)
    const blocks = this.#id === undefined ? [zlib.crc32(rest)] : this.#blocks
    await write(bytes.length, (file) => file.publish(record, { bodyBytes, id: this.#id, blocks, bytes }))
  }

  async #append(blocks: readonly Uint8Array[]): Promise<void> {
    for (const block of blocks) {
      if (!this.#isLost) await this.#reserve(this.#blocks.length * BLOCK_BYTES + block.length)
      if (this.#isLost) return
      this.#file?.append(block)
      this.#blocks.push(zlib.crc32(block))
    }
  }

  /** Lets the file have this length. */
  async #reserve(length: number): Promise<void> {
    const { write, reservedBytes } = this.#settings
    if (length <= this.#reservedBytes) return
    this.#reservedBytes += reservedBytes
    const id = this.#id
    if (id !== undefined) {
      this.#isLost = !(await write(0, (file, now) => file.growFile(id, this.#reservedBytes, now)))
      return
    }
    this.#id = await write(0, (file, now) => {
      this.#file?.close() // of an attempt that has failed
      const { id, file: body } = file.createFile(this.#reservedBytes, now)
      this.#file = body
      return id
    })
  }

  async #drop(): Promise<void> {
    this.#file?.close()
    const id = this.#id
    this.#id = undefined
    this.#isLost = true
    this.#buffer.clear()
    if (id !== undefined) await this.#settings.write(0, (file) => file.deletePage(id))
  }

  #end(): void {
    this.#file?.close()
    this.#settings.onEnd()
  }
}
