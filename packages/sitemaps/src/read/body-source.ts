// The bytes of one file, counted and limited. Never throws for a failure of the site: the bytes end,
// and `stop` says why.
import { onAbort } from '@politely/fetcher/internal'
import type { FileWatch, Stop } from './file-watch.ts'

/**
 * Bytes that a caller can pass, or the body of a response.
 */
export type ByteSource = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** Larger chunks are split, so that what one chunk yields is bounded. */
const MAX_CHUNK = 64 * 1024

export class SitemapBytes implements AsyncIterator<Uint8Array, void> {
  bytesIn = 0
  stop: Stop | undefined
  /** Whether the body ended with an error, and not by a limit or a signal. */
  isBrokenOff = false
  readonly #maxBytes: number
  readonly #watch: FileWatch
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterator<Uint8Array>, maxBytes: number, watch: FileWatch) {
    this.#chunks = chunks
    this.#maxBytes = maxBytes
    this.#watch = watch
  }

  async next(): Promise<IteratorResult<Uint8Array, void>> {
    while (this.#chunk.length === 0) {
      if (this.stop !== undefined) return { done: true, value: undefined }
      const chunk = await this.#read()
      if (chunk === undefined) return { done: true, value: undefined }
      this.#chunk = chunk
    }
    const room = this.#maxBytes - this.bytesIn
    const value = this.#chunk.subarray(0, Math.min(MAX_CHUNK, room))
    this.#chunk = this.#chunk.subarray(value.length)
    this.bytesIn += value.length
    if (value.length > 0) return { done: false, value }
    this.stop = { reason: 'limit: maxBytesIn' }
    return { done: true, value: undefined }
  }

  /** Closes the source. Does not wait for it, since it may hang. */
  async return(): Promise<IteratorResult<Uint8Array, void>> {
    void Promise.resolve(this.#chunks.return?.()).catch(() => undefined)
    return { done: true, value: undefined }
  }

  /** Returns the next chunk; undefined at the end, and if it does not come. */
  async #read(): Promise<Uint8Array | undefined> {
    const { signal, leftMs } = this.#watch
    const { promise: ended, resolve } = Promise.withResolvers<'time' | 'aborted'>()
    const timer = leftMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, leftMs), 'time')
    const removeListener = onAbort(signal, () => resolve('aborted'))
    try {
      const next = await Promise.race([this.#chunks.next(), ended])
      if (next === 'time') this.stop = { reason: 'limit: maxFileMs' }
      else if (next === 'aborted') this.stop = this.#watch.aborted()
      else return next.done ? undefined : checkedBytes(next.value)
    } catch (error) {
      this.stop = signal.aborted ? this.#watch.aborted() : this.#brokenOff(error)
    } finally {
      clearTimeout(timer)
      removeListener()
    }
    return undefined
  }

  #brokenOff(error: unknown): Stop {
    const { cause } = error as { readonly cause?: { readonly code?: unknown; readonly message?: string } }
    const code = String(cause?.code)
    // fetch could not undo the content encoding. Z_BUF_ERROR is the end of the data.
    if (/^(?:Z_|ERR__ERROR|ZSTD)/.test(code) && code !== 'Z_BUF_ERROR')
      return {
        reason: this.bytesIn === 0 ? 'not-gzip' : 'gzip-damaged',
        detail: `the body cannot be unpacked as its Content-Encoding says: ${cause?.message}`,
      }
    this.isBrokenOff = true
    return { reason: 'cut-off', detail: `the body ended early: ${messageWithCause(error)}` }
  }
}

/** @throws {TypeError} for another value. */
export function checkedBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError(`the source yields ${typeof value}; expected Uint8Array`)
}

/** Returns the message of an error, and of its cause, which fetch has instead of a message. */
export function messageWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes
}

export function iteratorOf(source: ByteSource): AsyncIterator<Uint8Array> {
  if (source instanceof Uint8Array) return once(source)
  if (!('getReader' in source)) return source[Symbol.asyncIterator]()
  // The iterator of a stream cannot be closed while it waits for a chunk; the stream can be canceled.
  const reader = source.getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}
