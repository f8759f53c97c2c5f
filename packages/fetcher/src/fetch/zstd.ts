// zstd as a content coding. RFC 8878, RFC 9659.
//
// Node decodes zstd, but does not always detect a truncated body: Node 22 accepts any beginning of
// a frame, and Node 24 ignores every frame after the first. A truncated file could lack the line
// that disallows a URL. So this module parses the frame from block to block before the bytes reach
// the decoder.
import { Transform, type TransformCallback } from 'node:stream'
import zlib from 'node:zlib' // its names for zstd are missing in Node 20, which could not load this module then
import { TransferError } from './failure.ts'

/**
 * Creates the streams that decode one frame. Several frames and skippable frames are errors: our
 * choice.
 */
export function createZstdDecoders(options: { readonly highWaterMark: number }): Transform[] {
  const params = { [zlib.constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX }
  return [new FrameCheck(options), zlib.createZstdDecompress({ ...options, params })]
}

/** 8 MiB: the largest window that a content coding may require. RFC 9659 §3. */
const WINDOW_LOG_MAX = 23

/** Passes bytes through unchanged. Fails unless they are exactly one complete frame, or empty. */
class FrameCheck extends Transform {
  readonly #parts = partsOfFrame()
  #part = this.#parts.next()
  #value = 0
  /** Bytes read of the current part. */
  #partBytes = 0
  #isEmpty = true
  #problem: string | undefined

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (const byte of chunk) this.#read(byte)
    if (this.#problem === undefined) done(null, chunk)
    else done(new TransferError('ZSTD_NOT_ONE_FRAME', this.#problem))
  }

  override _flush(done: TransformCallback): void {
    done(
      this.#part.done || this.#isEmpty ? null : new TransferError('ZSTD_NOT_ONE_FRAME', 'the zstd frame is truncated'),
    )
  }

  #read(byte: number): void {
    this.#isEmpty = false
    if (this.#part.done) {
      this.#problem ??= 'bytes follow the zstd frame'
      return
    }
    this.#value |= byte << (8 * this.#partBytes++) // overflows in parts longer than four bytes, whose value is not used
    if (this.#partBytes < this.#part.value) return
    this.#part = this.#parts.next(this.#value)
    if (this.#part.value === 'no-frame') this.#problem = 'the body is not a zstd frame'
    this.#value = 0
    this.#partBytes = 0
  }
}

/**
 * Parses a frame part by part: yields the length of the next part in bytes, and receives its
 * little-endian value. RFC 8878 §3.1.1.
 */
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
  } while ((header & 1) === 0) // the bit marks the last block
  if ((descriptor & 4) !== 0) yield 4 // the checksum
  return 'whole'
}

/** As a signed 32-bit number, which is what the bitwise operators above produce. */
const MAGIC_NUMBER = 0xfd2fb528 | 0
/** The block type of one repeated byte. */
const RUN_LENGTH = 1
