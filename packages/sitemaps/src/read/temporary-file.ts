// A temporary file that has no name, so nothing is left behind however the process ends.
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Closes the file of an iterator that the caller abandoned. */
const abandoned = new FinalizationRegistry<FileHandle>((handle) => void handle.close().catch(() => undefined))

/** Bytes in the order in which they were added. The first call of `add` creates the file. */
export class TemporaryFile {
  /** Why the file cannot take more bytes, such as a full disk. */
  error: Error | undefined
  readonly #takeBytes: number
  #handle: FileHandle | undefined
  #isClosed = false
  #start = 0
  #end = 0

  /** @param takeBytes The most bytes that `take` returns. */
  constructor(takeBytes: number) {
    this.#takeBytes = takeBytes
  }

  /** The number of bytes that were added and not taken. */
  get size(): number {
    return this.#end - this.#start
  }

  /** Returns whether all of the bytes were added. After a failure, nothing is added. */
  async add(bytes: Uint8Array): Promise<boolean> {
    if (this.error !== undefined) return false
    try {
      this.#handle ??= await this.#open()
      for (let at = 0; at < bytes.length; )
        at += (await this.#handle.write(bytes, at, bytes.length - at, this.#end + at)).bytesWritten
      this.#end += bytes.length
      return true
    } catch (error) {
      this.error = error as Error
      return false
    }
  }

  /** Removes and returns the first bytes. */
  async take(): Promise<Uint8Array> {
    const length = Math.min(this.size, this.#takeBytes)
    const { bytesRead, buffer } = await (this.#handle as FileHandle).read(Buffer.alloc(length), 0, length, this.#start)
    if (bytesRead === 0) throw new Error('the temporary file is shorter than what was written to it')
    this.#start += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    abandoned.unregister(this)
    await this.#handle?.close()
  }

  async #open(): Promise<FileHandle> {
    const path = join(tmpdir(), `politely-${randomUUID()}`)
    const handle = await open(path, 'wx+', 0o600)
    abandoned.register(this, handle, this)
    await unlink(path)
    if (!this.#isClosed) return handle
    await handle.close()
    throw new Error('the file was closed before it was open')
  }
}
