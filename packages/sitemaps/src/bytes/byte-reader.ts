// Reads bytes from a source that yields chunks, with a look ahead.

export type Bytes = AsyncIterator<Uint8Array, void>

export class ByteReader {
  readonly #source: Bytes
  #bytes: Uint8Array = new Uint8Array(0)
  #isAtEnd = false

  constructor(source: Bytes) {
    this.#source = source
  }

  /** Returns this many bytes, or all that are left, and does not consume them. */
  async peek(size: number): Promise<Uint8Array> {
    while (this.#bytes.length < size && (await this.#fill()));
    return this.#bytes.subarray(0, size)
  }

  /** Consumes and returns at most this many bytes; undefined at the end. */
  async take(maxSize: number = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    while (this.#bytes.length === 0) if (!(await this.#fill())) return undefined
    const taken = this.#bytes.subarray(0, maxSize)
    this.#bytes = this.#bytes.subarray(taken.length)
    return taken
  }

  /** Puts back bytes that were taken last. */
  putBack(bytes: Uint8Array): void {
    this.#bytes = bytes.length === 0 ? this.#bytes : Buffer.concat([bytes, this.#bytes])
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #fill(): Promise<boolean> {
    if (this.#isAtEnd) return false
    const next = await this.#source.next()
    if (next.done) this.#isAtEnd = true
    else this.#bytes = this.#bytes.length === 0 ? next.value : Buffer.concat([this.#bytes, next.value])
    return !this.#isAtEnd
  }
}
