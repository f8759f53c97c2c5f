// Takes the body of a response from the network as fast as it comes, and keeps it for a caller that
// may be slow. Without a spool, the connection would stall while the caller handles entries, and
// many servers close a stalled connection.
//
// Bytes move through three places. A place takes bytes only while the places before it are full or
// not empty, so the order is kept:
//
//   blocks  full blocks in memory
//   file    full blocks in a temporary file
//   tail    the block that is being filled
//
// Chunks are copied into blocks: a chunk of one byte would keep a whole buffer of the network alive.
// If the disk is full or read-only, the network waits for the caller. If the server then closes the
// connection, the rest is requested.

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkedBytes, messageWithCause } from './body-source.ts'

const BLOCK_BYTES = 64 * 1024
/** 4 MiB. Most sitemaps are smaller as sent, and never reach the disk. */
const MAX_BLOCKS = 64
const MAX_RESUMES = 100

/** Requests the bytes from this position on. Returns undefined if the server does not send them. */
export type RequestRest = (position: number) => Promise<AsyncIterator<Uint8Array> | undefined>

export class Spool implements AsyncIterator<Uint8Array, void> {
  readonly #maxBytes: number
  readonly #requestRest: RequestRest
  #source: AsyncIterator<Uint8Array>
  readonly #blocks: Uint8Array[] = []
  readonly #file = new TemporaryFile(BLOCK_BYTES)
  #tail: Uint8Array = new Uint8Array(BLOCK_BYTES)
  #tailLength = 0
  /** Whether the tail is on its way to the file. */
  #isMoving = false
  #received = 0
  /** Whether the network had to wait for the caller, so that the server may have closed the connection. */
  #hasStalled = false
  #isEnded = false
  #error: unknown
  #arrived = Promise.withResolvers<void>()
  #taken = Promise.withResolvers<void>()

  /** @param maxBytes The most bytes that are kept. The spool reads a few more, so that a limit can be seen. */
  constructor(source: AsyncIterator<Uint8Array>, maxBytes: number, requestRest: RequestRest) {
    this.#source = source
    this.#maxBytes = maxBytes
    this.#requestRest = requestRest
    void this.#receive()
  }

  /** Returns the next bytes. After the last bytes, rejects if the body broke off. */
  async next(): Promise<IteratorResult<Uint8Array, void>> {
    for (;;) {
      const taken = this.#take()
      if (taken !== undefined) {
        const value = await taken
        this.#taken.resolve()
        return { done: false, value }
      }
      if (this.#isEnded) break
      this.#arrived = Promise.withResolvers<void>()
      await this.#arrived.promise
    }
    if (this.#error !== undefined) throw this.#error
    return { done: true, value: undefined }
  }

  /** Closes the connection and the file. */
  async return(): Promise<IteratorResult<Uint8Array, void>> {
    this.#isEnded = true
    this.#taken.resolve()
    this.#closeSource()
    await this.#file.close()
    return { done: true, value: undefined }
  }

  /** Not async: the places must not change while their order is decided. */
  #take(): Uint8Array | Promise<Uint8Array> | undefined {
    if (this.#blocks.length > 0) return this.#blocks.shift()
    if (this.#file.size > 0) return this.#file.take()
    if (this.#tailLength === 0 || this.#isMoving) return undefined
    const taken = this.#tail.slice(0, this.#tailLength)
    this.#tailLength = 0
    return taken
  }

  async #receive(): Promise<void> {
    try {
      for (let resumes = 0; ; resumes++) {
        const error = await this.#receiveAll()
        if (error === undefined) break
        const rest = this.#hasStalled && resumes < MAX_RESUMES ? await this.#requestRest(this.#received) : undefined
        if (rest === undefined) throw error
        this.#source = rest
        this.#hasStalled = false
      }
    } catch (error) {
      this.#error = this.#hasStalled ? this.#stalled(error) : error
    }
    this.#isEnded = true
    this.#arrived.resolve()
    this.#closeSource()
  }

  #stalled(error: unknown): Error {
    const why = this.#file.error?.message
    return new Error(
      `${messageWithCause(error)}, while it waited for the caller, since no temporary file could be written (${why})`,
    )
  }

  #closeSource(): void {
    void Promise.resolve(this.#source.return?.()).catch(() => undefined)
  }

  /** Returns the error of the network if the body breaks off. */
  async #receiveAll(): Promise<unknown> {
    while (!this.#isEnded && this.#received <= this.#maxBytes) {
      let next: IteratorResult<Uint8Array>
      try {
        next = await this.#source.next()
      } catch (error) {
        return error ?? new Error('the body ended early')
      }
      if (next.done) return undefined
      const chunk = checkedBytes(next.value)
      this.#received += chunk.length
      await this.#add(chunk)
    }
    return undefined
  }

  async #add(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#isEnded; ) {
      const part = chunk.subarray(at, at + BLOCK_BYTES - this.#tailLength)
      this.#tail.set(part, this.#tailLength)
      this.#tailLength += part.length
      at += part.length
      this.#arrived.resolve()
      while (this.#tailLength === BLOCK_BYTES && !this.#isEnded) await this.#moveTail()
    }
  }

  /** Moves the full tail to the first place that has room, or waits until the caller takes something. */
  async #moveTail(): Promise<void> {
    if (this.#file.size === 0 && this.#blocks.length < MAX_BLOCKS) {
      this.#blocks.push(this.#tail)
      this.#tail = new Uint8Array(BLOCK_BYTES)
      this.#tailLength = 0
      return
    }
    this.#isMoving = true
    const isInFile = await this.#file.add(this.#tail)
    this.#isMoving = false
    this.#arrived.resolve()
    if (isInFile) {
      this.#tailLength = 0
      return
    }
    this.#hasStalled = true
    this.#taken = Promise.withResolvers<void>()
    await this.#taken.promise
  }
}

// A temporary file that has no name, so nothing is left behind however the process ends.

/** Closes the file of an iterator that the caller abandoned. */
const abandoned = new FinalizationRegistry<FileHandle>((handle) => void handle.close().catch(() => undefined))

/** Bytes in the order in which they were added. The first call of `add` creates the file. */
class TemporaryFile {
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
