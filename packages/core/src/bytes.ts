// Conversions between bytes and text.
//
// The limits and priorities of robots.txt are measured in bytes ("octets" in RFC 9309), so files and paths are read as bytes. Where bytes are
// kept in a string, it has one character (0 to 255) for each: V8 keeps such a string in one byte a character, and it survives JSON.

const encoder = new TextEncoder()
/** A byte order mark inside a file is a character like any other. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Bytes of a buffer, which is at least one byte and up to three longer: `words` are the same bytes, four in each number. */
export interface ByteRange {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly start: number
  readonly end: number
}

/** A file: text, which stands for its bytes in UTF-8; or bytes of our own. */
export type Source = string | ByteRange

/** Holds bytes in a string, one character for each (latin1), as `Body` and `Copy` do. A character above U+00FF becomes 0xFF. */
export interface HasBytes {
  readonly bytes: string
}

/** The bytes of a file, one character for each. */
export function latin1OfSource(source: Source): string {
  if (typeof source !== 'string') return latin1Of(source.bytes.subarray(source.start, source.end))
  return NOT_ASCII.test(source) ? latin1Of(encoder.encode(source)) : source
}

/** Bytes as text, one character for each. */
export function latin1Of(bytes: Uint8Array): string {
  const text = decoder.decode(bytes)
  if (text.length === bytes.length && !text.includes('\ufffd')) return text // ASCII
  let latin1 = ''
  for (let i = 0; i < bytes.length; i += CHUNK) {
    // `apply` takes bytes for its arguments; a spread would take eight times as long.
    latin1 += String.fromCharCode.apply(null, bytes.subarray(i, i + CHUNK) as unknown as number[])
  }
  return latin1
}

/** Arguments of one call; engines limit their number, and the lowest known limit is 65,536. */
const CHUNK = 8192

/** The bytes of a string that holds one in each character. */
export function bytesOfLatin1(latin1: string): Uint8Array {
  const bytes = new Uint8Array(latin1.length)
  for (let i = 0; i < latin1.length; i++) bytes[i] = Math.min(latin1.charCodeAt(i), 0xff)
  return bytes
}

/** What bytes, one character for each, say in UTF-8, with U+FFFD for those that are not UTF-8. */
export function textOf(latin1: string): string {
  return NOT_ASCII.test(latin1) ? decoder.decode(bytesOfLatin1(latin1)) : latin1
}

/** The same for bytes. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Text in UTF-8. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}

const NOT_ASCII = /[\u0080-\uffff]/

/**
 * A copy of ASCII text that shares nothing with other strings. V8 makes a slice of a string a reference to the whole of it, and an origin that
 * was cut out of a URL would take three times the memory.
 */
export function copyOfAscii(ascii: string): string {
  return decoder.decode(encoder.encode(ascii))
}

/** Writes ASCII text to the beginning of `bytes`. @returns Whether the text is ASCII and fits. */
export function writeAscii(text: string, bytes: Uint8Array): boolean {
  const { read, written } = encoder.encodeInto(text, bytes)
  return read === text.length && written === text.length
}

/** A larger buffer is given up after one use, so that one huge file does not take its memory for ever. */
const MAX_KEPT_BYTES = 2 ** 21

/** Memory that is filled, read, and filled again: a new array for each use would take longer than most uses. */
export class ByteBuffer {
  bytes: Uint8Array = new Uint8Array(2 ** 14)
  /** The same bytes, four in each number. */
  words: Int32Array = wordsOf(this.bytes)

  /** Replaces the content by text in UTF-8. @returns The range of it; there is room for one more byte behind it. */
  fillText(text: string): ByteRange {
    this.reserve(0, 3 * text.length + 1) // a UTF-16 unit takes at most three bytes
    const { bytes, words } = this
    return { bytes, words, start: 0, end: encoder.encodeInto(text, bytes).written }
  }

  /** Replaces the content by bytes that a string holds, one in each character. */
  fillLatin1(latin1: string): void {
    this.reserve(0, latin1.length)
    if (!writeAscii(latin1, this.bytes)) this.bytes.set(bytesOfLatin1(latin1))
  }

  /** Makes room for `more` bytes behind the first `used` ones, which are kept. */
  reserve(used: number, more: number): void {
    if (used + more <= this.bytes.length) return
    const larger = new Uint8Array(8 * Math.ceil((used + more) / 4))
    larger.set(this.bytes.subarray(0, used))
    this.#set(larger)
  }

  /** Gives up a very large buffer. Call it when the content is no longer needed. */
  release(): void {
    if (this.bytes.length > MAX_KEPT_BYTES) this.#set(new Uint8Array(2 ** 14))
  }

  #set(bytes: Uint8Array): void {
    this.bytes = bytes
    this.words = wordsOf(bytes)
  }
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer as ArrayBuffer)
}

/** A copy of bytes as a range. */
export function rangeOf(file: Uint8Array): ByteRange {
  const bytes = new Uint8Array((file.length + 4) & ~3) // with one byte more, in whole words
  bytes.set(file)
  return { bytes, words: wordsOf(bytes), start: 0, end: file.length }
}

/** Files up to this size share one allocation. */
const MAX_POOLED_BYTES = 2 ** 12
const POOL_BYTES = 2 ** 14

/** Copies files. An allocation for each small file would take five times as long; as with the pool of Node's Buffer, a copy keeps its neighbours in memory. */
export class FilePool {
  #bytes: Uint8Array = new Uint8Array(POOL_BYTES)
  #words: Int32Array = wordsOf(this.#bytes)
  #at = 0

  /** Takes a file as it was given. Later changes of the caller's bytes do not change it. */
  sourceOf(file: Uint8Array | string | HasBytes): Source {
    if (typeof file === 'string') return file
    if (file instanceof Uint8Array) return this.#copy(file)
    return NOT_ASCII.test(file.bytes) ? this.#copy(bytesOfLatin1(file.bytes)) : file.bytes
  }

  #copy(file: Uint8Array): ByteRange {
    if (file.length > MAX_POOLED_BYTES) return rangeOf(file)
    const room = (file.length + 4) & ~3
    if (this.#at + room > POOL_BYTES) {
      this.#bytes = new Uint8Array(POOL_BYTES)
      this.#words = wordsOf(this.#bytes)
      this.#at = 0
    }
    const start = this.#at
    this.#bytes.set(file, start)
    this.#at += room
    return { bytes: this.#bytes, words: this.#words, start, end: start + file.length }
  }
}
