// Reads the body of a response, decodes it and bounds its size. RFC 9309 §2.5.
import { addAbortSignal, pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Body, Headers } from '@politely/core/engine'
import { isText } from '@politely/core/internal'
import { BodyBuffer, bodyWithin } from '../base/byte-buffer.ts'
import { TransferError } from './failure.ts'
import { type Coding, codingsOf, hasOwnEnd, MAX_CODINGS } from './framing.ts'
import { createZstdDecoders } from './zstd.ts'

/**
 * The codings that the client requests. It also decodes deflate and zstd, since some caches send
 * every client the coding that one client requested.
 */
export const ACCEPT_ENCODING = 'gzip, br'

/**
 * A decoder queues one chunk, and not 64 KiB of them, which may be 65,536 objects. Node passes
 * stream options to the streams of node:zlib, although their types do not have them.
 */
const ONE_CHUNK: { readonly highWaterMark: number; readonly chunkSize?: number } = { highWaterMark: 1 }

const DECODERS: Readonly<Record<Coding, () => Transform[]>> = {
  gzip: () => [createGunzip(ONE_CHUNK)],
  'x-gzip': () => [createGunzip(ONE_CHUNK)],
  deflate: () => [new Inflate()],
  br: () => [createBrotliDecompress(ONE_CHUNK)],
  zstd: () => createZstdDecoders(ONE_CHUNK),
}

/**
 * Decodes deflate with the zlib header that RFC 9110 §8.4.1.2 asks for, and also without it, since
 * some servers leave the header out. The low half of its first byte is 8 (RFC 1950 §2.2).
 */
class Inflate extends Transform {
  #decoder: Transform | undefined

  constructor() {
    super(ONE_CHUNK)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#decoder ??= this.#decoderFor(chunk)
    this.#decoder.write(chunk, done)
  }

  override _flush(done: TransformCallback): void {
    this.#decoder ??= this.#decoderFor() // reports that a body without bytes has no end
    this.#decoder.once('end', done).end()
    this.#decoder.resume()
  }

  override _read(size: number): void {
    this.#decoder?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#decoder?.destroy()
    done(error)
  }

  #decoderFor(first?: Buffer): Transform {
    const hasHeader = ((first?.[0] ?? 8) & 0x0f) === 8
    const decoder = hasHeader ? createInflate(ONE_CHUNK) : createInflateRaw(ONE_CHUNK)
    decoder.on('error', (error) => this.destroy(error))
    return decoder.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) decoder.pause()
    })
  }
}

/**
 * Returns the limit of a whole response as received. It includes TLS records, interim responses,
 * headers and the framing of chunks. A chunk of one byte takes six bytes (`1`, CR, LF, the byte,
 * CR, LF), so a body of `maxBodyBytes` fits in any chunks.
 */
export function maxReceivedBytes(maxBodyBytes: number): number {
  return 6 * maxBodyBytes + MIB
}

const MIB = 2 ** 20

/**
 * Reads up to `maxBytes` of decoded body, and decompresses no more than that. A body that is longer
 * is cut after its last complete line, since half a rule could disallow or allow far more than the
 * whole rule.
 *
 * @param signal Stops the decoders. To destroy `body` is not enough: it may have ended long before
 * they have decoded what they received.
 */
export async function readBody(
  body: Readable,
  headers: Headers,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Body> {
  const { codings, unknown } = codingsOf(headers)
  // A body of `maxBytes` needs about half of what one decoder may pass to the next.
  const decoded = decode(body, decodersFor(codings, 2 * maxBytes + MIB))
  if (signal !== undefined) addAbortSignal(signal, decoded)
  const bytes = new BodyBuffer(maxBytes + 1)
  let received = 0
  if (decoded !== body) body.on('data', (chunk: Buffer) => (received += chunk.length))
  try {
    for await (const chunk of decoded as AsyncIterable<Buffer>) {
      bytes.add(chunk)
      if (bytes.size > maxBytes) break // also destroys the source streams and the connection
    }
  } catch (error) {
    // Some servers send an empty body for a compressed empty file. It counts only if Content-Length
    // or a last chunk shows that it is empty; otherwise it may have been truncated before its first
    // byte.
    if (decoded === body || received > 0 || !body.readableEnded || !hasOwnEnd(headers)) throw error
  }
  const decodedBody = bodyWithin(bytes.take(), maxBytes)
  if (unknown !== undefined && !isText(decodedBody.bytes))
    throw new TransferError('Z_UNKNOWN_CODING', `unknown coding ${JSON.stringify(unknown)}`)
  return decodedBody
}

/**
 * A coded body on its way to the decoder. Joins the chunks that arrive while the decoder is busy:
 * it takes them one by one, and each costs it a task on another thread.
 */
export class CodedBody extends Readable {
  readonly #arrived = new BodyBuffer(Number.POSITIVE_INFINITY)
  readonly #resume: () => void
  #isDecoderReady = false
  #isComplete = false

  /** @param resume Called when more chunks may be added. */
  constructor(resume: () => void) {
    super({ highWaterMark: 1 })
    this.#resume = resume
    this.on('error', () => undefined) // `readBody` reports it
  }

  /** Adds a chunk. Returns whether more may be added now. */
  add(chunk: Buffer): boolean {
    this.#arrived.add(chunk)
    if (this.#isDecoderReady) this.#pass()
    return this.#arrived.size < MAX_JOINED_BYTES
  }

  /** Marks the body as complete. */
  complete(): void {
    this.#isComplete = true
    if (this.#isDecoderReady) this.#pass()
  }

  override _read(): void {
    this.#isDecoderReady = true
    this.#pass()
  }

  #pass(): void {
    if (this.#arrived.size > 0) {
      this.#isDecoderReady = false
      this.push(this.#arrived.take())
      this.#resume()
    } else if (this.#isComplete) this.push(null)
  }
}

/** As much as one read of a socket. */
const MAX_JOINED_BYTES = 65_536

/** Returns the streams that decode a body as fetch does, but strictly. Undefined if there are none. */
export function decodersOf(headers: Headers): readonly Transform[] | undefined {
  const { codings, unknown } = codingsOf(headers)
  const isKnown = unknown === undefined && codings.length > 0 && codings.length <= MAX_CODINGS
  return isKnown ? decodersFor(codings, MAX_PASSED_BYTES) : undefined
}

/** The limit between two decoders of a page. */
const MAX_PASSED_BYTES = 2 ** 30

function decode(body: Readable, decoders: readonly Transform[]): Readable {
  if (decoders.length === 0) return body
  // The pipeline passes an error or an early end of any stream to the last one, where its reader
  // gets it.
  pipeline([body, ...decoders], () => undefined)
  return decoders.at(-1) as Transform
}

/**
 * Limits what one decoder passes to the next. The next decoder may decode it to nothing, and then
 * the limit of the decoded body would not end a body of which a few bytes become gigabytes.
 */
class SizeLimit extends Transform {
  readonly #maxBytes: number
  #size = 0

  constructor(maxBytes: number) {
    super(ONE_CHUNK)
    this.#maxBytes = maxBytes
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += chunk.length
    if (this.#size <= this.#maxBytes) done(null, chunk)
    else
      done(
        new TransferError(
          'CODED_TOO_LARGE',
          `the body is longer than ${this.#maxBytes} bytes after its first decoding`,
        ),
      )
  }
}

function decodersFor(codings: readonly string[], maxPassedBytes: number): Transform[] {
  if (codings.length > MAX_CODINGS)
    throw new TransferError('Z_UNKNOWN_CODING', `${codings.length} codings; at most ${MAX_CODINGS} are decoded`)
  // The coding that was applied last is removed first. RFC 9110 §8.4.
  return codings.toReversed().flatMap((coding, n) => {
    const decoders = Object.hasOwn(DECODERS, coding) ? DECODERS[coding as Coding] : undefined
    if (decoders === undefined) throw new TransferError('Z_UNKNOWN_CODING', `unknown coding ${JSON.stringify(coding)}`)
    return n === 0 ? decoders() : [new SizeLimit(maxPassedBytes), ...decoders()]
  })
}
