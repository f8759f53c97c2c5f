// Divides a body, which arrives in chunks of any size, into blocks of one size.

/** The first allocation of a buffer. Most bodies are longer. Bytes. */
const FIRST_BYTES = 8_192
const NO_BYTES = new Uint8Array(0)

export class BlockBuffer {
  readonly #blockBytes: number
  #bytes = NO_BYTES
  #length = 0

  constructor(blockBytes: number) {
    this.#blockBytes = blockBytes
  }

  /** Copies a chunk, and returns the blocks that are full now. */
  add(chunk: Uint8Array): Uint8Array[] {
    const full: Uint8Array[] = []
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + this.#blockBytes - this.#length)
      this.#reserve(this.#length + part.length)
      this.#bytes.set(part, this.#length)
      this.#length += part.length
      at += part.length
      if (this.#length < this.#blockBytes) continue
      full.push(this.#bytes)
      this.clear()
    }
    return full
  }

  /** Returns a copy of what is in no full block. */
  rest(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  clear(): void {
    this.#bytes = NO_BYTES
    this.#length = 0
  }

  /** Doubles the buffer, up to one block. */
  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.min(this.#blockBytes, Math.max(FIRST_BYTES, length, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
