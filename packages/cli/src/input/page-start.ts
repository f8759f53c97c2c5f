// The start of a page, by which `outcomeOf` recognises challenges and login pages.

/** More does not help. */
const MAX_BYTES = 16_384

/** Collects the start of a body while it passes. */
export class PageStart {
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  write(chunk: Uint8Array): void {
    if (this.#bytes >= MAX_BYTES) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.#chunks).subarray(0, MAX_BYTES)
  }
}
