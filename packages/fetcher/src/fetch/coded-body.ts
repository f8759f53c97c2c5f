// Says whether the content coding of a body ended where the body did.
//
// Some fetches decode leniently: of a gzip body that is cut in the middle, they return the beginning,
// without an error. Only the coded bytes show that. gzip ends with a checksum and the length of what it
// decodes to (RFC 1952 §2.2), which are compared. Other codings are decoded a second time, when the
// whole body has been read, and up to the length that was read.
import type { Headers } from '@politely/core/engine'
import type { DecodedBody } from './decoded-again.ts'
import { hasOwnEnd, isDecodedByFetch } from './framing.ts'
import { loadTransports } from './load-transports.ts'

/** Says whether a body that has arrived is whole, such as a coded one that was watched. */
export interface BodyCheck {
  /**
   * Returns why the body is incomplete or cannot be decoded; undefined if its coding ended with it.
   * Call it when the decoded body has ended.
   */
  problem(decoded: DecodedBody): Promise<string | undefined>
  /** Call it if the answer is not needed. */
  stop(): void
}

/** Why a coded body is not known to be whole. */
export const UNSEEN_CODING = 'this fetch does not show the coded bytes of a body'

/** The longest coded body that is kept, to decode it again. Bytes; our choice. */
const MAX_KEPT_BYTES = 8 * 2 ** 20

/**
 * Watches the body of a response with these headers. Undefined if fetch does not decode it.
 * @param onUnseen Called when a body has arrived, and its coded bytes have not.
 */
export function watchCoding(headers: Headers, onUnseen: () => void): CodingWatch | undefined {
  return isDecodedByFetch(headers) ? new CodingWatch(headers, onUnseen) : undefined
}

export class CodingWatch implements BodyCheck {
  readonly #headers: Headers
  readonly #onUnseen: () => void
  /** All chunks, or the end of a long body. */
  #chunks: Uint8Array[] = []
  #size = 0
  #hasEnded = false
  #failure: string | undefined

  constructor(headers: Headers, onUnseen: () => void) {
    this.#headers = headers
    this.#onUnseen = onUnseen
  }

  /** Adds a chunk, whose bytes do not change afterwards. */
  add(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return
    this.#size += chunk.byteLength
    this.#chunks.push(chunk)
    if (this.#size > MAX_KEPT_BYTES) this.#chunks = [Buffer.from(this.#end())]
  }

  /** Marks the end of the message. */
  end(): void {
    this.#hasEnded = true
  }

  /** The message was cut off, or cannot be decoded. */
  fail(problem: string): void {
    this.#hasEnded = true
    this.#failure ??= problem
    this.#chunks = []
  }

  stop(): void {
    this.fail('it is not stored')
  }

  async problem(decoded: DecodedBody): Promise<string | undefined> {
    // A watch that was stopped has seen no chunk, although this fetch shows them.
    if (this.#failure !== undefined) return this.#failure
    if (!this.#hasEnded) this.fail('the end of its coded bytes was not seen')
    if (this.#size === 0) {
      if (decoded.bytes > 0) this.#onUnseen()
      // Some servers send nothing for the coding of nothing.
      return decoded.bytes === 0 && hasOwnEnd(this.#headers) ? undefined : UNSEEN_CODING
    }
    if (this.#failure !== undefined) return this.#failure
    if (this.#isGzip && this.#endsWithChecksum(decoded)) return undefined
    if (this.#size > MAX_KEPT_BYTES) return 'its coding is too long to check'
    // Of a gzip with several members, the last one has its own checksum. Zeros may follow it.
    const { whyOther } = await loadTransports()
    return whyOther(Buffer.concat(this.#chunks), this.#headers, decoded)
  }

  get #isGzip(): boolean {
    const { 'content-encoding': coding, 'transfer-encoding': transfer = 'chunked' } = this.#headers
    return /^(?:x-)?gzip$/i.test(String(coding)) && transfer === 'chunked'
  }

  #endsWithChecksum({ bytes, crc32 }: DecodedBody): boolean {
    const end = this.#end()
    return end.length === 8 && end.readUInt32LE(0) === crc32 && end.readUInt32LE(4) === bytes % 2 ** 32
  }

  /** The last eight bytes. */
  #end(): Buffer {
    const last = this.#chunks.at(-1)
    if (last === undefined || last.byteLength < 8) return Buffer.concat(this.#chunks).subarray(-8)
    return Buffer.from(last.buffer, last.byteOffset + last.byteLength - 8, 8)
  }
}
