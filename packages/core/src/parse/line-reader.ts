// Splits a file into lines, and a line into key and value, without copying bytes. RFC 9309 §2.2, as
// lenient as google/robotstxt.
//
// The caller moves on with `nextLine`, then calls `readKey` and `readValue` for the lines it needs.
// They set these offsets into `bytes`. Each end is exclusive.
//
//   offset         where                                               set by
//   lineStart      the first byte of the line                          nextLine
//   contentStart   the first byte that is not blank                    nextLine
//   keyEnd         the end of the key, which begins at contentStart    readKey
//   valueStart     the start of the value, which ends at contentEnd    readValue
//   contentEnd     the end of the content: before the blanks that      findLineEnd, which readValue calls
//                  precede a comment (§2.2.3) or the end of the line
//   lineEnd        the first LF, CR or NUL, or where the line is cut   findLineEnd
//                  off (MAX_LINE_BYTES)
//
// A blank is ASCII white space other than LF and CR.
//
// `open` writes a line feed after the last byte of the file. Every scan stops at a line end, so no
// inner loop has to check for the end of the file.
import { COLON, CR, HASH, LF, NUL, SPACE, TAB } from '../ascii.ts'
import { type ByteRange, decodeText, rangeOf } from '../bytes.ts'
import type { ParsingRules } from '../dialect.ts'
import { type Directive, directiveOfKey, type KeyTable, KNOWN_KEYS, knownKeyAt } from './directive.ts'

/**
 * The reader uses this many bytes of a line and ignores the rest. The number is google/robotstxt's:
 * eight URLs of 2,083 bytes, less one byte for the NUL that ends its buffer. RFC 9309 limits the
 * length of a file (§2.5), not of a line.
 */
const MAX_LINE_BYTES = 8 * 2083 - 1

const NO_FILE: ByteRange = rangeOf(new Uint8Array(0))

/** Reads the lines of one file after another. */
export class LineReader {
  /** The number of the line, counted from 1. */
  line = 0
  // The offsets in the table above:
  lineStart = 0
  contentStart = 0
  lineEnd = 0
  contentEnd = 0
  keyEnd = 0
  valueStart = 0

  bytes: Uint8Array = NO_FILE.bytes
  /** The same bytes, four in each number. */
  #words: Int32Array = NO_FILE.words
  /** The end of the file in `bytes`. */
  #end = 0
  #keys: KeyTable = KNOWN_KEYS.lenient
  /** The line ends at this offset or after it. Before the first line: where that line starts. */
  #scannedTo = 0
  #isLineEndKnown = false
  /** The offset of the colon between key and value, or of the blank that replaces it. */
  #separator = 0

  /** Starts to read a file. Overwrites the byte after its end with a line feed. */
  open({ bytes, words, start, end }: ByteRange, keys: ParsingRules['keys']): this {
    bytes[end] = LF
    this.bytes = bytes
    this.#words = words
    this.#end = end
    this.#keys = KNOWN_KEYS[keys]
    this.#scannedTo = start + byteOrderMarkLength(bytes, start, end)
    this.line = 0
    return this
  }

  /** Releases the memory of the file. */
  close(): void {
    this.bytes = NO_FILE.bytes
    this.#words = NO_FILE.words
  }

  /**
   * Moves to the next line. Only LF, CR and CR LF end a line (RFC 9309 §2.2), not a form feed or
   * U+2028. The last line is the text after the last line end, so it is empty in a file that ends
   * with one.
   *
   * @returns Whether there is another line.
   */
  nextLine(): boolean {
    const { bytes } = this
    let i = this.#scannedTo // the start of the first line, or an offset before the end of the current line
    if (this.line > 0) {
      i = this.#lineEndFrom(i)
      if (i >= this.#end) return false
      i += bytes[i] === CR && bytes[i + 1] === LF && i + 1 < this.#end ? 2 : 1
    }
    this.line++
    this.lineStart = i
    while (isBlank(bytes[i] as number)) i++
    this.contentStart = i
    this.#scannedTo = i
    this.#isLineEndKnown = false
    return true
  }

  /**
   * Returns the offset of the first LF or CR at or after `from`. Reads four bytes at a time while
   * none of them can be a line end.
   */
  #lineEndFrom(from: number): number {
    const { bytes } = this
    const words = this.#words
    let i = from
    for (;;) {
      if ((i & 3) === 0) {
        let word = i >> 2
        while (!hasByteBelow14(words[word] as number)) word++
        i = word << 2
      }
      const byte = bytes[i] as number
      if (byte === LF || byte === CR) return i
      i++
    }
  }

  /**
   * Whether the line has only blanks before its end, as in the table above. A line with a comment
   * is not blank.
   */
  get isBlankLine(): boolean {
    const byte = this.bytes[this.contentStart]
    return byte === LF || byte === CR || byte === NUL || this.contentStart - this.lineStart >= MAX_LINE_BYTES
  }

  /** Sets `lineEnd` and `contentEnd`. */
  findLineEnd(): void {
    if (this.#isLineEndKnown) return
    this.#isLineEndKnown = true
    const { bytes, lineStart, contentStart } = this
    // The content ends at the first `#`. The text ends at the first line end or NUL:
    // google/robotstxt reads C strings, and ignores the rest.
    let i = this.#scannedTo
    let byte = bytes[i] as number
    while (byte > HASH || (byte !== HASH && !endsLine(byte))) byte = bytes[++i] as number
    let contentEnd = i
    if (byte === HASH) while (!endsLine(byte)) byte = bytes[++i] as number
    this.#scannedTo = i
    let lineEnd = i
    if (lineEnd - lineStart > MAX_LINE_BYTES) {
      lineEnd = lineStart + MAX_LINE_BYTES
      contentEnd = Math.min(contentEnd, lineEnd)
    }
    while (contentEnd > contentStart && isBlank(bytes[contentEnd - 1] as number)) contentEnd--
    this.lineEnd = lineEnd
    this.contentEnd = contentEnd
  }

  /**
   * Reads the key of the line. A known key with a colon directly after it, as on most lines, is
   * read without a scan of the line.
   *
   * @param wantsUnknown Whether to read all unknown keys. If false, an unknown key is read only if
   * it begins with a known key, such as `Crawl-delays`.
   * @returns The directive, or `unknown`; undefined for a line without a key or a separator, and
   * for a key that was not read.
   */
  readKey(wantsUnknown: boolean): Directive | 'unknown' | undefined {
    const { bytes, contentStart: start } = this
    const limit = this.lineStart + MAX_LINE_BYTES
    const known = knownKeyAt(bytes, start, limit, this.#keys)
    if (known !== undefined) {
      const end = start + known.name.length
      if (bytes[end] === COLON && end < limit) {
        this.keyEnd = end
        this.#separator = end
        this.#scannedTo = end
        return known.directive
      }
    }
    if (known === undefined && !wantsUnknown) return undefined
    this.findLineEnd()
    if (start >= this.contentEnd) return undefined
    const separator = this.#findSeparator()
    let keyEnd = separator
    while (keyEnd > start && isBlank(bytes[keyEnd - 1] as number)) keyEnd--
    if (keyEnd <= start) return undefined
    this.#separator = separator
    this.keyEnd = keyEnd
    return directiveOfKey(known, keyEnd - start)
  }

  /** Sets `valueStart` and `contentEnd` for the field whose key was read. */
  readValue(): void {
    this.findLineEnd()
    const { bytes, contentEnd } = this
    let start = this.#separator + 1
    while (start < contentEnd && isBlank(bytes[start] as number)) start++
    this.valueStart = start
  }

  /** Returns the offset of the first colon, or of the blank that replaces it; -1 without either. */
  #findSeparator(): number {
    const { bytes, contentEnd: end } = this
    for (let i = this.contentStart; i < end; i++) if (bytes[i] === COLON) return i
    if (this.#keys === KNOWN_KEYS.exact) return -1
    // google/robotstxt accepts a line of exactly two words without a colon, such as
    // `Disallow /cart`.
    const blank = this.#endOfWord(this.contentStart)
    let secondWord = blank
    while (secondWord < end && isSpaceOrTab(bytes[secondWord] as number)) secondWord++
    return blank < end && this.#endOfWord(secondWord) === end ? blank : -1
  }

  #endOfWord(from: number): number {
    let i = from
    while (i < this.contentEnd && !isSpaceOrTab(this.bytes[i] as number)) i++
    return i
  }
}

/** The highest bit of each byte in a word. */
const HIGH_BITS = 0x80808080 | 0

/** Returns whether one of the four bytes in a word is below 14, as LF (10) and CR (13) are. */
function hasByteBelow14(word: number): boolean {
  return (((word - 0x0e0e0e0e) | 0) & ~word & HIGH_BITS) !== 0
}

/**
 * Returns the length of the byte order mark at the start of a file, even if only its first one or
 * two bytes are there. The reader skips these bytes, as google/robotstxt does. RFC 9309 does not
 * mention byte order marks.
 */
function byteOrderMarkLength(bytes: Uint8Array, start: number, end: number): number {
  let length = 0
  while (start + length < end && length < 3 && bytes[start + length] === BYTE_ORDER_MARK[length]) length++
  return length
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

function endsLine(byte: number): boolean {
  return byte <= CR && (byte === LF || byte === CR || byte === NUL)
}

/** Returns whether a byte is ASCII white space other than LF and CR. */
function isBlank(byte: number): boolean {
  return byte <= SPACE && (byte === SPACE || (byte >= TAB && byte < CR && byte !== LF))
}

/** Returns whether a byte is white space in the grammar of RFC 9309 §2.2. */
function isSpaceOrTab(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

/**
 * Returns the lines with the wanted numbers, by number, decoded from UTF-8. Each is cut off as in
 * `lineEnd`.
 */
export function linesByNumber(file: Uint8Array, wanted: ReadonlySet<number>): ReadonlyMap<number, string> {
  const reader = new LineReader().open(rangeOf(file), 'lenient')
  const lines = new Map<number, string>()
  while (lines.size < wanted.size && reader.nextLine()) {
    if (!wanted.has(reader.line)) continue
    reader.findLineEnd()
    lines.set(reader.line, decodeText(reader.bytes.subarray(reader.lineStart, reader.lineEnd)))
  }
  return lines
}
