// zstd as a content coding. RFC 8878, RFC 9659.
//
// The platform decodes it, but does not always see an end that comes too early: Node 22 takes any beginning of a frame for the whole
// of it, and Node 24 drops every frame but the first. Half a file could lack the line that forbids, so the bytes are followed
// here from block to block, on their way to the decoder.
import { Transform, type TransformCallback } from 'node:stream'
import { constants, createZstdDecompress } from 'node:zlib'

/** What a decoder of one frame is made of. More than one frame, and frames to skip, are not understood: our choice. */
export function createZstdDecoders(): Transform[] {
  return [new WholeFrame(), createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX } })]
}

/** 8 MiB: more than that no content coding may ask a decoder to hold. RFC 9659 §3. */
const WINDOW_LOG_MAX = 23

/** `failure.ts` maps its code to `undecodable`. */
class ZstdFrameError extends Error {
  override readonly name = 'ZstdFrameError'
  readonly code = 'ZSTD_NOT_ONE_FRAME'
}

/** Passes bytes on as they are, and fails unless they are one whole frame, or nothing at all. */
class WholeFrame extends Transform {
  readonly #parts = partsOfFrame()
  #part = this.#parts.next()
  #value = 0
  #seen = 0
  #begun = false
  #problem: string | undefined

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (const byte of chunk) this.#follow(byte)
    if (this.#problem === undefined) done(null, chunk)
    else done(new ZstdFrameError(this.#problem))
  }

  override _flush(done: TransformCallback): void {
    done(this.#part.done || !this.#begun ? null : new ZstdFrameError('the zstd frame ends early'))
  }

  #follow(byte: number): void {
    this.#begun = true
    if (this.#part.done) {
      this.#problem ??= 'bytes follow the zstd frame'
      return
    }
    this.#value |= byte << (8 * this.#seen++) // of a part longer than four bytes nobody asks the value
    if (this.#seen < this.#part.value) return
    this.#part = this.#parts.next(this.#value)
    if (this.#part.value === 'no-frame') this.#problem = 'this is no zstd frame'
    this.#value = 0
    this.#seen = 0
  }
}

/** The parts of a frame: yields how many bytes come next, and is given their value, little-endian. RFC 8878 §3.1.1. */
function* partsOfFrame(): Generator<number, 'no-frame' | 'whole', number> {
  if ((yield 4) !== MAGIC_NUMBER) return 'no-frame'
  const descriptor = yield 1
  const inOneSegment = (descriptor & 0x20) !== 0
  const sizeFlag = descriptor >> 6
  const windowBytes = inOneSegment ? 0 : 1
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  const sizeBytes = sizeFlag === 0 ? (inOneSegment ? 1 : 0) : 2 ** sizeFlag
  yield windowBytes + dictionaryBytes + sizeBytes
  let header: number
  do {
    header = yield 3
    const type = (header >> 1) & 3
    const bytes = type === RUN_LENGTH ? 1 : header >> 3
    if (bytes > 0) yield bytes
  } while ((header & 1) === 0) // which is set in the last block
  if ((descriptor & 4) !== 0) yield 4 // the checksum
  return 'whole'
}

/** As a signed number, which is what four bytes come to. */
const MAGIC_NUMBER = 0xfd2fb528 | 0
/** The type of a block that is one byte, repeated. */
const RUN_LENGTH = 1
