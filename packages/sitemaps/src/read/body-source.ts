// The bytes of one file, counted and limited. Never throws for a failure of the site: the bytes end,
// and `stop` says why.
import { onAbort } from '@politely/fetcher/internal'
import type { SitemapReason } from '../file-result.ts'

/** Why the bytes ended early. */
export interface Stop {
  readonly reason: SitemapReason
  readonly detail?: string
}

export interface BodyLimits {
  readonly maxBytesIn: number
  readonly maxFileMs: number
}

/** Bytes that a caller can pass, or the body of a response. */
export type ByteSource = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** Larger chunks are split, so that what one chunk yields is bounded. */
const MAX_CHUNK = 64 * 1024

export class BodySource implements AsyncIterator<Uint8Array, void> {
  bytesIn = 0
  stop: Stop | undefined
  readonly #limits: BodyLimits
  readonly #signal: AbortSignal
  readonly #stopOnAbort: () => Stop | undefined
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)
  #waitedMs = 0

  /**
   * @param signal Ends the wait for bytes.
   * @param stopOnAbort Says why the bytes end when the signal is aborted. If it returns undefined,
   * `next` rejects with the signal's reason.
   */
  constructor(source: ByteSource, limits: BodyLimits, signal: AbortSignal, stopOnAbort: () => Stop | undefined) {
    this.#limits = limits
    this.#signal = signal
    this.#stopOnAbort = stopOnAbort
    this.#chunks = iteratorOf(source)
  }

  async next(): Promise<IteratorResult<Uint8Array, void>> {
    while (this.#chunk.length === 0) {
      if (this.stop !== undefined) return { done: true, value: undefined }
      const chunk = await this.#read()
      if (chunk === undefined) return { done: true, value: undefined }
      this.#chunk = chunk
    }
    const room = this.#limits.maxBytesIn - this.bytesIn
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
    const startedAt = performance.now()
    const { promise: ended, resolve } = Promise.withResolvers<'time' | 'aborted'>()
    const left = this.#limits.maxFileMs - this.#waitedMs
    const timer = left === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, left), 'time')
    const removeListener = onAbort(this.#signal, () => resolve('aborted'))
    try {
      const next = await Promise.race([this.#chunks.next(), ended])
      if (next === 'aborted') return this.#aborted()
      if (next === 'time') {
        this.stop = { reason: 'limit: maxFileMs' }
        return undefined
      }
      if (next.done) return undefined
      if (next.value instanceof Uint8Array) return next.value
      throw new TypeError(`the source yields ${typeof next.value}; expected Uint8Array`)
    } catch (error) {
      if (this.#signal.aborted) return this.#aborted()
      const reason = isUnpacking(error) ? 'not-gzip' : 'cut-off'
      this.stop = { reason, detail: `the body ended early: ${messageOf(error)}` }
      return undefined
    } finally {
      clearTimeout(timer)
      removeListener()
      this.#waitedMs += performance.now() - startedAt
    }
  }

  #aborted(): undefined {
    this.stop = this.#stopOnAbort()
    if (this.stop === undefined) throw this.#signal.reason
  }
}

/** Returns whether fetch could not undo the content encoding, for example of a body that is plain. */
function isUnpacking(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return String(cause?.code).startsWith('Z_')
}

/** Returns the message of an error, and of its cause, which fetch has instead of a message. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes
}

function iteratorOf(source: ByteSource): AsyncIterator<Uint8Array> {
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
