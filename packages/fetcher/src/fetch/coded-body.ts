// Says whether the content coding of a body ended where the body did.
//
// Some fetches decode leniently: of a gzip body that is cut in the middle, they return the beginning,
// without an error. Only the coded bytes show that: gzip ends with a checksum and a length (RFC 1952
// §2.2), and the last block of deflate and brotli is marked. So they are decoded a second time, on
// zlib's threads, and what they decode to is dropped.
import { finished, type Transform } from 'node:stream'
import type { Headers } from '@politely/core/engine'
import { decodersOf, hasOwnEnd } from './body.ts'

/** A coded body, watched as it arrives. */
export interface CodedBody {
  /**
   * Returns why the body is incomplete or cannot be decoded; undefined if its coding ended with it.
   * Call it when the decoded body has ended.
   * @param decodedBytes How long the decoded body was.
   */
  problem(decodedBytes: number): Promise<string | undefined>
}

/** More coded bytes than this are not kept for a decoder that is slower than the network. */
const MAX_WAITING_BYTES = 16 * 2 ** 20

/** Decodes a body as it arrives. */
export class CodingWatch implements CodedBody {
  readonly #headers: Headers
  readonly #onUnseen: () => void
  #decoders: readonly Transform[]
  readonly #decoded = Promise.withResolvers<string | undefined>()
  #size = 0
  #hasEnded = false

  /** @param onUnseen Called when a body has arrived, and its coded bytes have not. */
  constructor(headers: Headers, decoders: readonly Transform[], onUnseen: () => void) {
    this.#headers = headers
    this.#onUnseen = onUnseen
    this.#decoders = decoders
    for (const [n, decoder] of decoders.entries()) {
      const next = decoders[n + 1]
      if (next === undefined) decoder.resume()
      else decoder.pipe(next)
      finished(decoder, (error) => {
        if (error != null) this.fail(error.message)
        else if (next === undefined) this.#decoded.resolve(undefined)
      })
    }
  }

  /** Adds a chunk, whose bytes do not change afterwards. */
  add(chunk: Uint8Array): void {
    this.#size += chunk.byteLength
    const [first] = this.#decoders
    if (first === undefined) return
    first.write(chunk)
    if (first.writableLength > MAX_WAITING_BYTES) this.fail('its coding could not be checked as fast as it arrived')
  }

  /** Marks the end of the message. */
  end(): void {
    this.#hasEnded = true
    if (this.#size === 0) this.#stop(undefined)
    else this.#decoders[0]?.end()
  }

  /** The message was cut off, or cannot be decoded. */
  fail(problem: string): void {
    this.#hasEnded = true
    this.#stop(problem)
  }

  async problem(decodedBytes: number): Promise<string | undefined> {
    if (!this.#hasEnded) this.fail('the end of its coded bytes was not seen')
    if (this.#size > 0) return this.#decoded.promise
    if (decodedBytes > 0) this.#onUnseen()
    // Some servers send nothing for the coding of nothing.
    return decodedBytes === 0 && hasOwnEnd(this.#headers) ? undefined : UNSEEN_CODING
  }

  #stop(problem: string | undefined): void {
    this.#decoded.resolve(problem)
    for (const decoder of this.#decoders) decoder.destroy()
    this.#decoders = []
  }
}

/** Why a coded body is not known to be whole. */
export const UNSEEN_CODING = 'this fetch does not show the coded bytes of a body'

/** Watches the body of a response with these headers. Undefined if fetch does not decode it. */
export function watchCoding(headers: Headers, onUnseen: () => void): CodingWatch | undefined {
  const decoders = decodersOf(headers)
  return decoders === undefined ? undefined : new CodingWatch(headers, decoders, onUnseen)
}
