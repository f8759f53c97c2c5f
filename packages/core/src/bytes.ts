// Conversions between bytes and text.
//
// RFC 9309 measures limits and priorities in bytes ("octets"), so core reads files and paths as
// bytes. Where core keeps bytes in a string, the string has one character from U+0000 to U+00FF for
// each byte ("latin1"). V8 stores such a string in one byte per character, and it survives JSON.

const encoder = new TextEncoder()
/** Keeps byte order marks: inside a file they are characters like any other. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A part of a buffer. The buffer has at least one byte more after `end`. */
export interface ByteRange {
  readonly bytes: Uint8Array
  /** The same buffer, four bytes in each number. */
  readonly words: Int32Array
  readonly start: number
  readonly end: number
}

/** A file, as text or as a private copy of its bytes. */
export type Source = string | ByteRange

/**
 * An object with bytes in a string, one character for each (latin1), such as `Body` and `Copy`. A
 * character above U+00FF is read as 0xFF.
 * @inline
 */
export interface HasBytes {
  readonly bytes: string
}

/** Returns the bytes of a file as latin1. */
export function latin1OfSource(source: Source): string {
  if (typeof source !== 'string') return latin1Of(source.bytes.subarray(source.start, source.end))
  return NOT_ASCII.test(source) ? latin1Of(encoder.encode(source)) : source
}

/** Returns bytes as latin1. */
export function latin1Of(bytes: Uint8Array): string {
  // In a long text, the search for a byte that is not ASCII takes less time than decoding in vain.
  if (bytes.length <= CHUNK || isAscii(bytes)) {
    const text = decoder.decode(bytes)
    if (text.length === bytes.length && !text.includes('\ufffd')) return text // ASCII
  }
  let latin1 = ''
  for (let i = 0; i < bytes.length; i += CHUNK) {
    // `apply` with a byte array is eight times as fast as spread arguments.
    latin1 += String.fromCharCode.apply(null, bytes.subarray(i, i + CHUNK) as unknown as number[])
  }
  return latin1
}

function isAscii(bytes: Uint8Array): boolean {
  let i = 0
  while (i < bytes.length && (bytes[i] as number) < 0x80) i++
  return i === bytes.length
}

/**
 * Arguments of one call. JavaScript engines limit their number; the lowest known limit is 65,536.
 */
const CHUNK = 8192

/** Returns the bytes of a latin1 string. */
export function bytesOfLatin1(latin1: string): Uint8Array {
  const bytes = new Uint8Array(latin1.length)
  for (let i = 0; i < latin1.length; i++) bytes[i] = Math.min(latin1.charCodeAt(i), 0xff)
  return bytes
}

/** Decodes the bytes of a latin1 string from UTF-8. Invalid bytes become U+FFFD. */
export function textOf(latin1: string): string {
  return NOT_ASCII.test(latin1) ? decoder.decode(bytesOfLatin1(latin1)) : latin1
}

/** Decodes bytes from UTF-8. Invalid bytes become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Returns whether the bytes at `at` are equal to the bytes of `other` from `start` to `end`. */
export function isEqualAt(bytes: Uint8Array, at: number, other: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== other[i]) return false
  return true
}

/** Encodes text in UTF-8. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}

const NOT_ASCII = /[\u0080-\uffff]/

/**
 * Returns a copy of ASCII text that shares no memory with other strings. V8 implements a slice as a
 * reference to the whole string, so an origin that was cut out of a URL would take three times the
 * memory.
 */
export function copyOfAscii(ascii: string): string {
  return decoder.decode(encoder.encode(ascii))
}

/** Writes ASCII text to the start of `bytes`. @returns Whether the text is ASCII and fits. */
export function writeAscii(text: string, bytes: Uint8Array): boolean {
  const { read, written } = encoder.encodeInto(text, bytes)
  return read === text.length && written === text.length
}

/** `release` discards a larger buffer, so that the memory for one huge file is freed. */
const MAX_KEPT_BYTES = 2 ** 21

/** A reusable buffer. To allocate a new array for each use would take longer than most uses. */
export class ByteBuffer {
  bytes: Uint8Array
  /** The same bytes, four in each number. */
  words: Int32Array

  /** @param size The size at first: a multiple of four. */
  constructor(size: number = 2 ** 14) {
    this.bytes = new Uint8Array(size)
    this.words = wordsOf(this.bytes)
  }

  /** Replaces the content by text in UTF-8. @returns The range of the text. */
  fillText(text: string): ByteRange {
    this.reserve(0, 3 * text.length + 1) // a UTF-16 unit takes at most three bytes
    const { bytes, words } = this
    return { bytes, words, start: 0, end: encoder.encodeInto(text, bytes).written }
  }

  /** Replaces the content by the bytes of a latin1 string. */
  fillLatin1(latin1: string): void {
    this.reserve(0, latin1.length)
    if (writeAscii(latin1, this.bytes)) return
    const { bytes } = this
    for (let i = 0; i < latin1.length; i++) bytes[i] = latin1.charCodeAt(i)
  }

  /**
   * Makes room for `more` bytes after the first `used` bytes. Keeps the used bytes. May replace
   * `bytes` and `words`.
   */
  reserve(used: number, more: number): void {
    if (used + more <= this.bytes.length) return
    const larger = new Uint8Array(8 * Math.ceil((used + more) / 4))
    larger.set(this.bytes.subarray(0, used))
    this.#set(larger)
  }

  /** Discards a very large buffer. Call it when the content is no longer needed. */
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

/** Copies bytes into a separate buffer. */
export function rangeOf(file: Uint8Array): ByteRange {
  const bytes = new Uint8Array((file.length + 4) & ~3) // at least one byte more, a multiple of four
  bytes.set(file)
  return { bytes, words: wordsOf(bytes), start: 0, end: file.length }
}

/** Files up to this size share one allocation. */
const MAX_POOLED_BYTES = 2 ** 12
const POOL_BYTES = 2 ** 14

/**
 * Copies files, small ones into a shared buffer: an allocation for each would take five times as
 * long. As with the pool of Node's Buffer, a copy keeps its whole buffer in memory.
 */
export class FilePool {
  #bytes: Uint8Array = new Uint8Array(POOL_BYTES)
  #words: Int32Array = wordsOf(this.#bytes)
  /** The end of the last copy. */
  #used = 0

  /**
   * Returns a file as text, or as a copy of its bytes. So the caller may change its bytes
   * afterwards.
   */
  sourceOf(file: Uint8Array | string | HasBytes): Source {
    if (typeof file === 'string') return file
    if (file instanceof Uint8Array) return this.#copy(file)
    return NOT_ASCII.test(file.bytes) ? this.#copy(bytesOfLatin1(file.bytes)) : file.bytes
  }

  #copy(file: Uint8Array): ByteRange {
    if (file.length > MAX_POOLED_BYTES) return rangeOf(file)
    const size = (file.length + 4) & ~3
    if (this.#used + size > POOL_BYTES) {
      this.#bytes = new Uint8Array(POOL_BYTES)
      this.#words = wordsOf(this.#bytes)
      this.#used = 0
    }
    const start = this.#used
    this.#bytes.set(file, start)
    this.#used += size
    return { bytes: this.#bytes, words: this.#words, start, end: start + file.length }
  }
}
