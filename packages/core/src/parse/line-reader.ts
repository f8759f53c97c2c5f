// Reads lines and their fields. RFC 9309 §2.2, as leniently as google/robotstxt reads them.
import { COLON, CR, HASH, LF, NUL, SPACE, TAB } from '../ascii.ts'
import { type ByteRange, decodeText, rangeOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { type Directive, directiveOfKey, type KeyTable, KNOWN_KEYS, knownKeyAt } from './directive.ts'

/**
 * The number of bytes that are read of a line; the rest of it is dropped. google/robotstxt: eight URLs of 2,083 bytes, without the NUL that
 * ends its buffer. RFC 9309 §2.5 asks for a limit and leaves it open.
 */
const MAX_LINE_BYTES = 8 * 2083 - 1

const NO_FILE: ByteRange = rangeOf(new Uint8Array(0))

/** Goes through the bytes of a file, and says where the parts of each line are. It copies nothing. An end is the offset behind the last byte. */
export class LineReader {
  /** The number of the line, counted from 1. */
  line = 0
  lineStart = 0
  /** The first byte of the line that is not blank, or its end. */
  contentStart = 0
  // After `readLine`, which `readValue` calls:
  /** How far the line is read: to its end, a NUL, or the limit. */
  lineEnd = 0
  /** The end of the content: where a comment (§2.2.3) or the line ends, without blanks before it. */
  contentEnd = 0
  // After `readKey`: the field of the line. Its key begins with the content and is not empty. Neither key nor value has blanks at its ends.
  keyEnd = 0
  // After `readValue`, which ends with the content:
  valueStart = 0

  bytes: Uint8Array = NO_FILE.bytes
  #words: Int32Array = NO_FILE.words
  #end = 0
  #keys: KeyTable = KNOWN_KEYS.lenient
  /** An offset on the line; what is between `contentStart` and here has no line end. */
  #at = 0
  #isRead = false
  #separator = 0

  /** Begins with another file, and writes a sentinel behind it. */
  open({ bytes, words, start, end }: ByteRange, keys: ParsingRules['keys']): this {
    bytes[end] = LF // so that no loop needs to look for the end
    this.bytes = bytes
    this.#words = words
    this.#end = end
    this.#keys = KNOWN_KEYS[keys]
    this.#at = start + byteOrderMarkLength(bytes, start, end)
    this.line = 0
    return this
  }

  /** Releases the file. */
  close(): void {
    this.bytes = NO_FILE.bytes
    this.#words = NO_FILE.words
  }

  /**
   * Goes to the next line. LF, CR and CR LF end a line (RFC 9309 §2.2), and nothing else does: not a form feed, not U+2028. The last line
   * needs no end, so a file that ends in a line end has one more, empty line.
   */
  nextLine(): boolean {
    const { bytes } = this
    let i = this.#at
    if (this.line > 0) {
      i = this.#lineEndFrom(i)
      if (i >= this.#end) return false
      i += bytes[i] === CR && bytes[i + 1] === LF && i + 1 < this.#end ? 2 : 1
    }
    this.line++
    this.lineStart = i
    while (isBlank(bytes[i] as number)) i++
    this.contentStart = i
    this.#at = i
    this.#isRead = false
    return true
  }

  /** The first LF or CR from an offset on. */
  #lineEndFrom(from: number): number {
    const { bytes } = this
    const words = this.#words
    let i = from
    for (;;) {
      if ((i & 3) === 0) {
        let word = i >> 2
        while (!hasControl(words[word] as number)) word++
        i = word << 2
      }
      const byte = bytes[i] as number
      if (byte === LF || byte === CR) return i
      i++
    }
  }

  /** Is there nothing on the line, not even a comment? */
  get isBlankLine(): boolean {
    const byte = this.bytes[this.contentStart]
    return byte === LF || byte === CR || byte === NUL || this.contentStart - this.lineStart >= MAX_LINE_BYTES
  }

  /** Finds the ends of the line and of its content. */
  readLine(): void {
    if (this.#isRead) return
    this.#isRead = true
    const { bytes, lineStart, contentStart } = this
    let i = this.#at
    let byte = bytes[i] as number
    while (byte > HASH || (byte !== HASH && !endsLine(byte))) byte = bytes[++i] as number
    let contentEnd = i
    if (byte === HASH) while (!endsLine(byte)) byte = bytes[++i] as number
    this.#at = i
    let lineEnd = i // a NUL ends a C string, and so the line of the reference
    if (lineEnd - lineStart > MAX_LINE_BYTES) {
      lineEnd = lineStart + MAX_LINE_BYTES
      contentEnd = Math.min(contentEnd, lineEnd)
    }
    while (contentEnd > contentStart && isBlank(bytes[contentEnd - 1] as number)) contentEnd--
    this.lineEnd = lineEnd
    this.contentEnd = contentEnd
  }

  /**
   * Reads the key of the line.
   *
   * @param wantsUnknown Whether unknown fields are of interest.
   * @returns The directive; undefined on a blank line, on a comment, and on a line without a separator.
   */
  readKey(wantsUnknown: boolean): Directive | 'unknown' | undefined {
    const { bytes, contentStart: start } = this
    const known = knownKeyAt(bytes, start, this.lineStart + MAX_LINE_BYTES, this.#keys)
    if (
      known !== undefined &&
      bytes[start + known.name.length] === COLON &&
      start + known.name.length < this.lineStart + MAX_LINE_BYTES
    ) {
      this.keyEnd = start + known.name.length
      this.#separator = this.keyEnd
      this.#at = this.keyEnd
      return known.directive
    }
    if (known === undefined && !wantsUnknown) return undefined
    this.readLine()
    if (start >= this.contentEnd) return undefined
    const separator = this.#findSeparator()
    let keyEnd = separator
    while (keyEnd > start && isBlank(bytes[keyEnd - 1] as number)) keyEnd--
    if (keyEnd <= start) return undefined
    this.#separator = separator
    this.keyEnd = keyEnd
    return directiveOfKey(known, keyEnd - start)
  }

  /** Finds the value of the field whose key was read. */
  readValue(): void {
    this.readLine()
    const { bytes, contentEnd } = this
    let start = this.#separator + 1
    while (start < contentEnd && isBlank(bytes[start] as number)) start++
    this.valueStart = start
  }

  /** The first colon, or the blank that stands for it; -1 where there is neither. */
  #findSeparator(): number {
    const { bytes, contentEnd: end } = this
    for (let i = this.contentStart; i < end; i++) if (bytes[i] === COLON) return i
    if (this.#keys === KNOWN_KEYS.exact) return -1
    // google/robotstxt accepts two words without a colon.
    const blank = this.#endOfWord(this.contentStart)
    let word = blank
    while (word < end && isSpaceOrTab(bytes[word] as number)) word++
    return blank < end && this.#endOfWord(word) === end ? blank : -1
  }

  #endOfWord(from: number): number {
    let i = from
    while (i < this.contentEnd && !isSpaceOrTab(this.bytes[i] as number)) i++
    return i
  }
}

/** The highest bit of each byte in a word. */
const HIGH_BITS = 0x80808080 | 0

/** Is one of the four bytes in a word below 14, as line ends are? */
function hasControl(word: number): boolean {
  return (((word - 0x0e0e0e0e) | 0) & ~word & HIGH_BITS) !== 0
}

/** A byte order mark is dropped, and so is the beginning of one that was cut short (google/robotstxt; the RFC is silent). */
function byteOrderMarkLength(bytes: Uint8Array, start: number, end: number): number {
  let length = 0
  while (start + length < end && length < 3 && bytes[start + length] === BYTE_ORDER_MARK[length]) length++
  return length
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

function endsLine(byte: number): boolean {
  return byte <= CR && (byte === LF || byte === CR || byte === NUL)
}

/** The blanks of ASCII, without line ends. */
function isBlank(byte: number): boolean {
  return byte <= SPACE && (byte === SPACE || (byte >= TAB && byte < CR && byte !== LF))
}

/** The blanks of the grammar. RFC 9309 §2.2. */
function isSpaceOrTab(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

/** Returns whole lines of a file, decoded from UTF-8, by number. */
export function linesByNumber(file: Uint8Array, wanted: ReadonlySet<number>): ReadonlyMap<number, string> {
  const reader = new LineReader().open(rangeOf(file), 'lenient')
  const lines = new Map<number, string>()
  while (lines.size < wanted.size && reader.nextLine()) {
    if (!wanted.has(reader.line)) continue
    reader.readLine()
    lines.set(reader.line, decodeText(reader.bytes.subarray(reader.lineStart, reader.lineEnd)))
  }
  return lines
}
