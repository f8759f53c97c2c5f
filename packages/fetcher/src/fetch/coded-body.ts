// Says whether the content coding of a body ended where the body did.
//
// Some fetches decode leniently: of a gzip body that is cut in the middle, they return the beginning,
// without an error. Only the coded bytes show that. gzip ends with a checksum and the length of what it
// decodes to (RFC 1952 §2.2), which are compared. The last block of deflate, brotli and zstd is marked,
// so they are decoded a second time, on zlib's threads, and what they decode to is dropped.
import { finished, type Transform } from 'node:stream'
import zlib from 'node:zlib' // crc32 is missing in an old Node, which could not load this module then
import type { Headers } from '@politely/core/engine'
import { decodersOf, hasOwnEnd } from './body.ts'

/** A coded body, watched as it arrives. */
export interface CodedBody {
  /**
   * Returns why the body is incomplete or cannot be decoded; undefined if its coding ended with it.
   * Call it when the decoded body has ended.
   */
  problem(decoded: DecodedBody): Promise<string | undefined>
}

/** What is known of a body that fetch has decoded. */
export interface DecodedBody {
  readonly bytes: number
  /** As `crc32` of node:zlib computes it. */
  readonly crc32: number
}

/** Why a coded body is not known to be whole. */
export const UNSEEN_CODING = 'this fetch does not show the coded bytes of a body'

/**
 * Watches the body of a response with these headers. Undefined if fetch does not decode it.
 * @param onUnseen Called when a body has arrived, and its coded bytes have not.
 */
export function watchCoding(headers: Headers, onUnseen: () => void): CodingWatch | undefined {
  const { 'content-encoding': coding, 'transfer-encoding': transfer = 'chunked' } = headers
  if (/^(?:x-)?gzip$/i.test(String(coding)) && transfer === 'chunked')
    return new CodingWatch(headers, new GzipCheck(), onUnseen)
  const decoders = decodersOf(headers)
  return decoders && new CodingWatch(headers, new DecoderCheck(decoders), onUnseen)
}

/** What coded bytes show of their end. */
interface EndCheck extends CodedBody {
  add(chunk: Uint8Array): void
  end(): void
  /** No more is needed. */
  stop(): void
}

export class CodingWatch implements CodedBody {
  readonly #headers: Headers
  readonly #check: EndCheck
  readonly #onUnseen: () => void
  #size = 0
  #hasEnded = false
  #failure: string | undefined

  constructor(headers: Headers, check: EndCheck, onUnseen: () => void) {
    this.#headers = headers
    this.#check = check
    this.#onUnseen = onUnseen
  }

  /** Adds a chunk, whose bytes do not change afterwards. */
  add(chunk: Uint8Array): void {
    this.#size += chunk.byteLength
    this.#check.add(chunk)
  }

  /** Marks the end of the message. */
  end(): void {
    this.#hasEnded = true
    if (this.#size === 0) this.#check.stop()
    else this.#check.end()
  }

  /** The message was cut off, or cannot be decoded. */
  fail(problem: string): void {
    this.#hasEnded = true
    this.#failure = problem
    this.#check.stop()
  }

  async problem(decoded: DecodedBody): Promise<string | undefined> {
    if (!this.#hasEnded) this.fail('the end of its coded bytes was not seen')
    if (this.#size > 0) return this.#failure ?? this.#check.problem(decoded)
    if (decoded.bytes > 0) this.#onUnseen()
    // Some servers send nothing for the coding of nothing.
    return decoded.bytes === 0 && hasOwnEnd(this.#headers) ? undefined : UNSEEN_CODING
  }
}

/** A gzip up to this length can be decoded again. Bytes. */
const MAX_KEPT_BYTES = 262_144

/** Compares the end of a gzip with what was decoded. */
class GzipCheck implements EndCheck {
  /** All chunks, or the last ones of a long body. */
  #chunks: Uint8Array[] = []
  #size = 0

  add(chunk: Uint8Array): void {
    this.#size += chunk.byteLength
    this.#chunks.push(chunk)
    if (this.#size > MAX_KEPT_BYTES) this.#chunks = [Buffer.from(this.#last())]
  }

  end(): void {}

  stop(): void {
    this.#chunks = []
  }

  async problem({ bytes, crc32: checksum }: DecodedBody): Promise<string | undefined> {
    const last = this.#last()
    const isEnd = last.length === 8 && last.readUInt32LE(0) === checksum && last.readUInt32LE(4) === bytes % 2 ** 32
    if (isEnd) return undefined
    // Of several members, the last one has its own checksum (RFC 1952 §2.2). Zeros may follow.
    const isAgain = this.#size <= MAX_KEPT_BYTES && (await isGzipOf(Buffer.concat(this.#chunks), bytes, checksum))
    return isAgain ? undefined : 'its gzip does not end with the checksum of what was decoded'
  }

  #last(): Buffer {
    const end = this.#chunks.at(-1)
    if (end !== undefined && end.byteLength >= 8) return Buffer.from(end.buffer, end.byteOffset + end.byteLength - 8, 8)
    return Buffer.concat(this.#chunks).subarray(-8)
  }
}

function isGzipOf(coded: Buffer, bytes: number, checksum: number): Promise<boolean> {
  return new Promise((resolve) => {
    zlib.gunzip(coded, { maxOutputLength: bytes + 1 }, (error, decoded) => {
      resolve(error === null && decoded.byteLength === bytes && zlib.crc32(decoded) === checksum)
    })
  })
}

/** More coded bytes than this are not kept for a decoder that is slower than the network. */
const MAX_WAITING_BYTES = 16 * 2 ** 20

/** Decodes a body as it arrives. */
class DecoderCheck implements EndCheck {
  #decoders: readonly Transform[]
  readonly #decoded = Promise.withResolvers<string | undefined>()

  constructor(decoders: readonly Transform[]) {
    this.#decoders = decoders
    for (const [n, decoder] of decoders.entries()) {
      const next = decoders[n + 1]
      if (next === undefined) decoder.resume()
      else decoder.pipe(next)
      finished(decoder, (error) => {
        if (error != null) this.#fail(error.message)
        else if (next === undefined) this.#decoded.resolve(undefined)
      })
    }
  }

  add(chunk: Uint8Array): void {
    const [first] = this.#decoders
    if (first === undefined) return
    first.write(chunk)
    if (first.writableLength > MAX_WAITING_BYTES) this.#fail('its coding could not be checked as fast as it arrived')
  }

  end(): void {
    this.#decoders[0]?.end()
  }

  stop(): void {
    for (const decoder of this.#decoders) decoder.destroy()
    this.#decoders = []
  }

  problem(): Promise<string | undefined> {
    return this.#decoded.promise
  }

  #fail(problem: string): void {
    this.#decoded.resolve(problem)
    this.stop()
  }
}
