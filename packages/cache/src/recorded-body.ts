// Stores the body of a response while it is read.
// An old Node lacks hash and crc32, and could not load this module if they were imported by name.
import nodeCrypto, { createHash } from 'node:crypto'
import zlib from 'node:zlib'
import type { BodyCheck } from '@politely/fetcher/internal'
import { attempted, withValue } from './awaitable.ts'
import type { Flight } from './flights.ts'
import { type LazySource, openStream, withBody } from './lazy-body.ts'
import type { Awaitable, PageWriter } from './page-store.ts'

/** How far a body is read ahead of its reader, if other requests wait for it. Bytes. */
const READ_AHEAD_BYTES = 4_194_304

/** The longest time that other requests wait for a body. Milliseconds. */
const MAX_WAIT_MS = 10_000

/** How long a reader has to begin, once so much has been read ahead of it. Milliseconds. */
const MAX_UNREAD_MS = 1_000

/** How much of the start of a body is kept for `check`: as much as `outcomeOf` reads. Bytes. */
const HEAD_BYTES = 65_536

/** How a body ended. */
export interface BodyEnd {
  /** Why it must not be stored; undefined if it may. */
  readonly problem: string | undefined
  /** Whether all of it arrived. */
  readonly isWhole: boolean
  /** A hash of the body. Of an incomplete one, undefined. */
  readonly fingerprint: string | undefined
}

export interface Recording {
  /** Begins to store the body. Undefined if it is not stored. */
  readonly begin: (() => Awaitable<PageWriter>) | undefined
  /** A longer body is not stored. Bytes. */
  readonly maxBytes: number
  /** The length that the site announced; undefined if it did not, or if the body was decoded. */
  readonly expectedBytes: number | undefined
  /** Shows whether the body is whole. Undefined if its length or its last chunk does. */
  readonly codedBody: BodyCheck | undefined
  /** Says why a whole body is not the page, by its start. It is then not stored. */
  readonly check: (head: Uint8Array) => string | undefined
  /** The other requests for this page. Undefined if none waits. */
  readonly flight: Flight | undefined
  /** Identifies the content of a body. It gets the whole body. Default: a hash of the bytes. */
  readonly fingerprintOf: ((body: Uint8Array) => string) | undefined
  /**
   * Called once, before the reader sees the end of the body.
   * @param writer To be committed. Undefined if the body is not stored.
   */
  readonly onEnd: (end: BodyEnd, writer: PageWriter | undefined) => Awaitable<void>
  /** Called when the writer fails. The body goes on. */
  readonly onFailure: (error: unknown) => void
  /** Called when `fingerprintOf` throws. The body is stored all the same. */
  readonly onFingerprintFailure: (error: unknown) => void
}

/**
 * Makes a response store its body as it is read. It is stored only if it ends: neither a body that
 * breaks off, nor one that is cancelled, nor one of another length than announced, nor one whose coding
 * is cut.
 */
export function recorded<R extends Response>(response: R, recording: Recording): R {
  const { flight } = recording
  const body = response.body as ReadableStream<Uint8Array>
  const recorder = new Recorder(recording)
  const source: LazySource = {
    stream: () => recordedStream(body, recorder, flight),
    async whole() {
      try {
        const chunks: Uint8Array[] = []
        const reader = body.getReader()
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          const chunk = owned(read.value)
          chunks.push(chunk)
          await recorder.write(chunk)
        }
        await recorder.end()
        return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
      } catch (error) {
        await recorder.drop(BROKEN_OFF)
        throw error
      }
    },
  }
  withBody(response, source)
  if (flight !== undefined) openStream(response)
  return response
}

function recordedStream(
  body: ReadableStream<Uint8Array>,
  recorder: Recorder,
  flight: Flight | undefined,
): ReadableStream<Uint8Array> {
  // Locked at the first read only: a client closes the connection of an unread response.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let reading: Promise<void> | undefined
  let hasBegun = false
  let hasEnded = false
  let isCancelled = false
  let isAhead = false
  let controller: ReadableStreamDefaultController<Uint8Array>
  // Not unreferenced: the requests that wait may be all that the process does.
  const deadline = flight && setTimeout(() => void giveUp(), MAX_WAIT_MS)
  let unread: NodeJS.Timeout | undefined

  const ended = () => {
    hasEnded = true
    clearTimeout(deadline)
    clearTimeout(unread)
  }
  const step = async () => {
    try {
      reader ??= body.getReader()
      const { value, done } = await reader.read()
      if (hasEnded) return
      if (done) {
        ended()
        await recorder.end()
        if (!isCancelled) controller.close()
      } else {
        await recorder.write(isCancelled ? value : new Uint8Array(value))
        if (!isCancelled) controller.enqueue(value)
      }
    } catch (error) {
      ended()
      await recorder.drop(BROKEN_OFF)
      if (!isCancelled) controller.error(error)
    } finally {
      reading = undefined
    }
  }
  const next = () => (reading ??= step())
  const stop = async (reason?: unknown) => {
    ended()
    await recorder.drop('the caller has cancelled its body')
    await (reader === undefined ? body.cancel(reason) : reader.cancel(reason))
  }
  /** The requests that wait go on without this body. */
  const giveUp = async () => {
    flight?.end('failed')
    clearTimeout(deadline)
    if (isCancelled && !hasEnded) await stop().catch(() => undefined)
  }
  const readAhead = async () => {
    if (isAhead) return
    isAhead = true
    while (!hasEnded && !flight?.hasEnded && (isCancelled || -(controller.desiredSize ?? 0) < READ_AHEAD_BYTES))
      await next()
    isAhead = false
    if (flight?.hasEnded) await giveUp()
    // The caller of this response may wait for the requests that wait for it.
    else if (!hasBegun && !hasEnded) unread ??= setTimeout(() => void (hasBegun || giveUp()), MAX_UNREAD_MS)
  }

  return new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
        if (flight !== undefined) void readAhead()
      },
      async pull() {
        hasBegun = true
        await next()
        if (flight !== undefined) void readAhead()
      },
      async cancel(reason) {
        isCancelled = true
        if (flight === undefined || flight.hasEnded || hasEnded) await stop(reason)
        else void readAhead() // the other requests get the page from the store
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

/** Returns a chunk that pins no larger buffer. Of a fetch of the caller's, it may be anything. */
function owned(chunk: Uint8Array): Uint8Array {
  if (!(chunk instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk')
  return chunk.byteLength === chunk.buffer.byteLength ? chunk : new Uint8Array(chunk) // `slice` of a Buffer copies nothing
}

const BROKEN_OFF = 'its body broke off'
const NO_BYTES = new Uint8Array(0)

class Recorder {
  readonly #recording: Recording
  /** All chunks, if the caller's function identifies the content. Otherwise the first chunk, until the next arrives. */
  #chunks: Uint8Array[] = []
  #hash: ReturnType<typeof createHash> | undefined
  #bytes = 0
  /** Of all bytes, if the body has a coding. */
  #crc32 = 0
  /** The chunks that have the start of the body. */
  readonly #head: Uint8Array[] = []
  #hasEnded = false
  #writer: PageWriter | undefined
  /** Undefined if the body is not stored, or no longer. */
  #begin: Recording['begin']

  constructor(recording: Recording) {
    this.#recording = recording
    this.#begin = recording.begin
  }

  write(chunk: Uint8Array): Awaitable<void> {
    const { maxBytes, fingerprintOf, codedBody } = this.#recording
    if (codedBody !== undefined) this.#crc32 = zlib.crc32(chunk, this.#crc32)
    if (this.#bytes < HEAD_BYTES) this.#head.push(chunk)
    this.#bytes += chunk.byteLength
    if (fingerprintOf === undefined) this.#digest(chunk)
    else if (this.#bytes <= maxBytes) this.#chunks.push(chunk)
    if (this.#bytes > maxBytes) {
      this.#recording.flight?.end('failed')
      return this.#abort()
    }
    if (this.#begin !== undefined) return this.#attempt(() => withValue(this.#open(), (writer) => writer?.write(chunk)))
  }

  async end(): Promise<void> {
    const { expectedBytes, codedBody } = this.#recording
    const cut =
      expectedBytes !== undefined && this.#bytes !== expectedBytes
        ? `${this.#bytes} bytes of a body with Content-Length ${expectedBytes} have arrived`
        : codedBody && (await codedBody.problem({ bytes: this.#bytes, crc32: this.#crc32 }))
    if (cut !== undefined) await this.drop(`its body is not whole: ${cut}`)
    else await this.#end({ problem: this.#problem(), isWhole: true, fingerprint: this.#fingerprint() })
  }

  drop(problem: string): Promise<void> {
    return this.#end({ problem, isWhole: false, fingerprint: undefined })
  }

  async #end(end: BodyEnd): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#head.length = 0
    if (end.problem !== undefined) await this.#abort()
    else await this.#attempt(() => this.#open()) // an empty body has no chunks
    await this.#recording.onEnd(end, this.#writer)
  }

  #problem(): string | undefined {
    const [first = NO_BYTES, ...others] = this.#head
    return this.#recording.check(others.length === 0 ? first : Buffer.concat(this.#head))
  }

  #open(): Awaitable<PageWriter | undefined> {
    return this.#writer ?? withValue(this.#begin?.(), (writer) => (this.#writer = writer))
  }

  /** Most bodies have one chunk, which `hash` digests faster than a Hash. */
  #digest(chunk: Uint8Array): void {
    if (this.#hash === undefined && this.#chunks.length === 0) {
      this.#chunks.push(chunk)
      return
    }
    this.#hash ??= createHash('sha256')
    for (const each of [...this.#chunks, chunk]) this.#hash.update(each)
    this.#chunks = []
  }

  #fingerprint(): string | undefined {
    const { fingerprintOf, maxBytes } = this.#recording
    if (fingerprintOf === undefined) {
      const [only = new Uint8Array()] = this.#chunks
      return (this.#hash?.digest('base64url') ?? nodeCrypto.hash('sha256', only, 'base64url')).slice(0, 22)
    }
    if (this.#bytes > maxBytes) return undefined
    try {
      return fingerprintOf(Buffer.concat(this.#chunks))
    } catch (error) {
      this.#recording.onFingerprintFailure(error)
      return undefined
    }
  }

  #abort(): Awaitable<void> {
    const writer = this.#writer
    this.#writer = undefined
    this.#begin = undefined
    this.#recording.codedBody?.stop()
    if (writer !== undefined) return this.#attempt(() => writer.abort())
  }

  #attempt(work: () => Awaitable<unknown>): Awaitable<void> {
    return attempted(work, (error) => {
      this.#writer = undefined
      this.#begin = undefined
      this.#recording.onFailure(error)
    }) as Awaitable<void>
  }
}
