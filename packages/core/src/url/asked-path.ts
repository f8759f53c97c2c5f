// The path that is asked about, laid out for looking at it often.
import { putAscii } from '../octets.ts'

/** Longer URLs are read the long way. */
const ROOM = 4096

/**
 * A path and query in the form for comparing, as bytes. One is used again and again: to fill it anew costs less than to make another, and a
 * question is answered before the next one is asked.
 */
export class AskedPath {
  /** Its octets stand from `start` to `end`. */
  bytes: Uint8Array = new Uint8Array(4 * ROOM) // for a URL, and its path with every octet encoded
  start = 0
  end = 0
  /** The first of the bytes, two by two. */
  readonly pairs: Uint16Array = new Uint16Array(this.bytes.buffer as ArrayBuffer)
  readonly #room: Uint8Array = this.bytes
  /** By octet: the last path that was found to have it. */
  readonly #seen = new Uint32Array(256)
  #paths = 0
  #isLookedThrough = false

  get length(): number {
    return this.end - this.start
  }

  /** Takes a path. @param octets One character for each octet. */
  put(octets: string): this {
    this.bytes = octets.length > this.#room.length ? new Uint8Array(octets.length) : this.#room
    for (let i = 0; i < octets.length; i++) this.bytes[i] = octets.charCodeAt(i)
    this.start = 0
    this.end = octets.length
    this.#isLookedThrough = false
    return this
  }

  /** Takes a URL, whose path begins where `start` is then said to be. @returns Whether it is ASCII and not too long. */
  lay(url: string): boolean {
    this.bytes = this.#room
    this.end = url.length
    this.#isLookedThrough = false
    return url.length <= ROOM && putAscii(url, this.#room)
  }

  /** Does the octet stand anywhere in it? */
  has(octet: number): boolean {
    if (!this.#isLookedThrough) this.#lookThrough()
    return this.#seen[octet] === this.#paths
  }

  /** Once for a path, and not before somebody asks: most questions are answered without. */
  #lookThrough(): void {
    this.#isLookedThrough = true
    this.#paths++
    if (this.#paths === 2 ** 32) {
      this.#seen.fill(0)
      this.#paths = 1
    }
    for (let i = this.start; i < this.end; i++) this.#seen[this.bytes[i] as number] = this.#paths
  }
}
