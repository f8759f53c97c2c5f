// Collects the bytes of a body.
import type { Body } from '@politely/core/engine'

/**
 * A buffer that grows up to a limit. It copies what it is given: undici and zlib pass views of
 * their own buffers, so a kept chunk of one byte could keep 64 KiB alive, and a million chunks of
 * one byte take a hundred times their size.
 */
export class BodyBuffer {
  readonly #limit: number
  #bytes: Buffer = Buffer.alloc(0)
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of bytes kept. */
  get size(): number {
    return this.#size
  }

  /** A view of the bytes kept. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Copies the chunk, or as much of it as the limit admits. */
  add(chunk: Uint8Array): void {
    const size = Math.min(this.#size + chunk.length, this.#limit)
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(size, 2 * this.#bytes.length), this.#limit))
      larger.set(this.#bytes.subarray(0, this.#size))
      this.#bytes = larger
    }
    this.#bytes.set(chunk.subarray(0, size - this.#size), this.#size)
    this.#size = size
  }

  /** Removes and returns the bytes. */
  take(): Buffer {
    const { bytes } = this
    this.#bytes = Buffer.alloc(0)
    this.#size = 0
    return bytes
  }
}

/** Builds the body from its decoded bytes. One byte over `maxBytes` shows that it is longer. */
export function bodyWithin(bytes: Buffer, maxBytes: number): Body {
  const kept = bytes.subarray(0, maxBytes)
  const truncated = bytes.length > maxBytes
  // Converts only what is kept. A slice of a string would keep the whole string in memory.
  return { bytes: kept.toString('latin1', 0, truncated ? endOfLines(kept) : kept.length), truncated }
}

/**
 * Returns the offset after the last line end. Without one, returns the length, since the parser
 * bounds the length of a line.
 */
function endOfLines(bytes: Buffer): number {
  const last = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR))
  return last === -1 ? bytes.length : last + 1
}

const LF = 0x0a
const CR = 0x0d
