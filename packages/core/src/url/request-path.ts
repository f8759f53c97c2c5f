// The path and query of the URL to check, as bytes in normal form. RFC 9309 §2.2.2.
//
// The wildcard `*` splits a pattern into pieces. A `RequestPath` has the bytes of the path. It also
// has two indexes, which show quickly where a piece is in the path, or that it is not there:
//
//   byteClasses       a bitmap: the classes of the bytes in the path. A byte whose class is missing is not in the path.
//   suffix automaton  finds any piece in the path. Built when searches have read 64 KiB.
import { DOT, SLASH } from '../ascii.ts'
import { bytesOfLatin1, encodeText, isEqualAt, writeAscii } from '../bytes.ts'
import { type ByteForms, type NormalForm, normalForms, PATH_BYTES, writeNormalForm } from './normal-form.ts'
import { startsWithOrigin } from './origin.ts'
import { SuffixAutomaton } from './suffix-automaton.ts'

/** The platform's URL parser parses longer URLs. */
const MAX_SIMPLE_URL_BYTES = 4096

/**
 * The classes of bytes: one for each string. A byte has no class if a test for it would reject few
 * rules: `/` and `a` are in nearly every path, and `~` is in hardly any rule.
 */
const BYTE_CLASSES = [
  '?',
  '&',
  '=',
  '_',
  '-',
  '.',
  '0123456789',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  'jqxyz',
  '%',
  ...'bcdfghklmnprstuvw',
]

/**
 * The bit of each byte's class; 0 for a byte without a class, such as `*` and `$`. The 27 classes
 * use the 27 lowest bits.
 */
export const BYTE_CLASS_BIT: Int32Array = bitsOf(BYTE_CLASSES)

function bitsOf(classes: readonly string[]): Int32Array {
  const bits = new Int32Array(256)
  for (const [bit, bytes] of classes.entries()) {
    for (let i = 0; i < bytes.length; i++) bits[bytes.charCodeAt(i)] = 1 << bit
  }
  return bits
}

/** Returns a bitmap of the classes of the bytes from `start` to `end`. */
export function byteClassesOf(bytes: Uint8Array, start: number, end: number): number {
  let classes = 0
  for (let i = start; i < end; i++) classes |= BYTE_CLASS_BIT[bytes[i] as number] as number
  return classes
}

// Flags of the bytes of a URL, in the highest bits, above the classes:
/**
 * A byte that a client may change, or that ends the path. It is the sign bit, so flags with it are
 * negative.
 */
const NOT_SIMPLE = 1 << 31
/** A byte that a client keeps, and that the normal form may encode or decode. */
const MAY_CHANGE = 1 << 30

const DOT_CLASS = BYTE_CLASS_BIT[DOT] as number

/** The class and the flags of each byte. */
const BYTE_FLAGS: Int32Array = BYTE_CLASS_BIT.map((bit, byte) => {
  const character = String.fromCharCode(byte)
  if (PATH_BYTES.includes(character)) return bit
  return "%'*$".includes(character) ? bit | MAY_CHANGE : NOT_SIMPLE
})

/**
 * Finds what the normal form of RFC 9309 encodes, decodes or writes with upper-case digits, and few
 * other things.
 */
const NOT_NORMAL = /['*$]|%(?:2[DE]|[3-7]|.?[a-f])/

/**
 * A dot segment: `/./` or `/../`, also at the end of the path. Hosts and queries may match too; the
 * URL parser then decides.
 */
const DOT_SEGMENT = /\/\.\.?([/?]|$)/

/**
 * A scheme, a host and a port, in bytes that every client reads in the same way. They may be
 * invalid, as in `http://host:port`.
 */
const ORIGIN = /^https?:\/\/[A-Za-z0-9.:-]+/

/** When `searchedBytes` reaches this number, `findPieceEnd` uses an automaton. */
const AUTOMATON_AFTER_BYTES = 2 ** 16
/**
 * `findPieceEnd` then still reads so many bytes itself before it asks the automaton, since many pieces
 * occur soon.
 */
const BYTES_BEFORE_AUTOMATON = 64

/**
 * The path to check. All checks share one object, which costs less than a new object for each URL.
 */
export class RequestPath {
  /**
   * Has room for a simple URL, followed by its path in normal form, which takes at most three bytes
   * for each byte (`%XX`).
   */
  readonly #buffer: Uint8Array = new Uint8Array(4 * MAX_SIMPLE_URL_BYTES)
  /**
   * The array with the path, from `start` to `end`: the buffer, or a separate array for a path that
   * does not fit there.
   */
  bytes: Uint8Array = this.#buffer
  start = 0
  end = 0
  /** The classes of the bytes in the path. May have the flags too. */
  byteClasses = 0
  /** About how many bytes of this path `findPieceEnd` has read. */
  searchedBytes = 0
  #automaton: SuffixAutomaton | undefined
  /**
   * The last valid origin that `#endOfOrigin` found, or ''. Most callers check many URLs of one
   * site.
   */
  #lastOrigin = ''

  /** Sets the path to `text`, converted to `normalForm`. */
  setPath(text: string, normalForm: NormalForm): void {
    const path = encodeText(text)
    this.#reset()
    if (3 * path.length > this.bytes.length) this.bytes = new Uint8Array(3 * path.length)
    this.#setNormalForm(normalForms[normalForm].url, path, 0, path.length, 0)
  }

  /**
   * Sets the path to the path of a simple URL, in normal form, byte by byte. Most URLs are written
   * as a client sends them; they need neither the platform's URL parser nor a second string.
   *
   * A URL is simple if it is at most 4,096 bytes of ASCII, begins with the file's origin or with
   * one `/`, and has no byte that a client would change and no dot segment. So its path is the same
   * in google/robotstxt.
   *
   * @param origin The origin that the URL must begin with; if undefined, the URL may have any valid
   * host.
   * @returns Whether the URL is simple. If not, the content of the path is undefined.
   */
  setSimpleUrl(url: string, origin: string | undefined, normalForm: NormalForm): boolean {
    this.#reset()
    if (normalForm === 'google' && origin?.includes(';')) return false // a path begins at `;`
    const { bytes } = this
    const end = url.length
    if (end > MAX_SIMPLE_URL_BYTES || !writeAscii(url, bytes)) return false
    let start = 0
    if (bytes[0] !== SLASH) {
      if (origin === undefined) start = this.#endOfOrigin(url)
      else start = startsWithOrigin(url, origin) ? origin.length : end
    } else if (end > 1 && bytes[1] === SLASH) {
      return false // `//host`
    }
    if (start >= end || bytes[start] !== SLASH) return false
    let flags = 0
    for (let i = start; i < end; i++) flags |= BYTE_FLAGS[bytes[i] as number] as number
    if (flags < 0) return false
    if ((flags & DOT_CLASS) !== 0 && url.includes('/.', start) && DOT_SEGMENT.test(url)) return false
    this.start = start
    this.end = end
    this.byteClasses = flags
    if ((flags & MAY_CHANGE) === 0 || normalForm === 'google') return true
    if (normalForm !== 'rfc9309') return false // a client encodes `'` in a query
    if (!NOT_NORMAL.test(url)) return true
    if (/%2e/i.test(url)) return false // may be part of a dot segment
    this.#setNormalForm(normalForms.rfc9309.url, bytes, start, end, end)
    return true
  }

  /**
   * Returns the end of the origin of a URL. Returns the end of the URL if `ORIGIN` does not match,
   * or if the origin is invalid.
   */
  #endOfOrigin(url: string): number {
    if (!startsWithOrigin(url, this.#lastOrigin)) {
      const [origin] = ORIGIN.exec(url) ?? []
      if (origin === undefined || !URL.canParse(origin)) return url.length
      this.#lastOrigin = origin
    }
    return this.#lastOrigin.length
  }

  /** Discards everything cached for the previous path. */
  #reset(): void {
    this.bytes = this.#buffer
    this.searchedBytes = 0
    this.#automaton = undefined
  }

  /**
   * Sets the path to the normal form of the bytes from `start` to `end`, which is written to
   * `this.bytes`, from `outStart` on.
   */
  #setNormalForm(form: ByteForms, bytes: Uint8Array, start: number, end: number, outStart: number): void {
    this.start = outStart
    this.end = writeNormalForm(form, bytes, start, end, this.bytes, outStart)
    this.byteClasses = byteClassesOf(this.bytes, outStart, this.end)
  }

  /** Returns false if the path certainly lacks a byte. True does not mean that it has the byte. */
  mayContain(byte: number): boolean {
    return ((BYTE_CLASS_BIT[byte] as number) & ~this.byteClasses) === 0
  }

  isRobotsTxt(): boolean {
    const { length } = ROBOTS_TXT
    return this.end - this.start === length && isEqualAt(this.bytes, this.start, ROBOTS_TXT, 0, length)
  }

  /**
   * Finds the first occurrence of a piece in the path between the offsets `from` and `to`. The
   * piece is the bytes of `pattern` from `start` to `end`, at least one.
   *
   * @returns The end of the occurrence; -1 if the piece does not occur.
   */
  findPieceEnd(pattern: Uint8Array, start: number, end: number, from: number, to: number): number {
    const { bytes } = this
    // The search looks for the first byte of the piece, or for the second byte if the first is a
    // slash, since most paths have many slashes.
    const skipped = pattern[start] === SLASH && end - start > 1 ? 1 : 0
    const byte = pattern[start + skipped] as number
    if (!this.mayContain(byte)) return -1
    const last = to - (end - start)
    const maxRead = Math.max(BYTES_BEFORE_AUTOMATON, AUTOMATON_AFTER_BYTES - this.searchedBytes)
    let read = 0
    let at = from
    for (; at <= last && read < maxRead; at++) {
      read++
      if (bytes[at + skipped] !== byte) continue
      let i = start
      while (i < end && bytes[at + i - start] === pattern[i]) i++
      read += i - start
      if (i < end) continue
      this.searchedBytes += read
      return at + end - start
    }
    this.searchedBytes += read
    if (at > last) return -1
    this.#automaton ??= new SuffixAutomaton(bytes, this.start, this.end)
    const found = this.#automaton.endOfNext(pattern, start, end, at - this.start)
    return found === -1 || this.start + found > to ? -1 : this.start + found
  }
}

const ROBOTS_TXT = bytesOfLatin1('/robots.txt')
