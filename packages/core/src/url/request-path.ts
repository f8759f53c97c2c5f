// The path and query of the URL to check, as bytes in normal form. RFC 9309 §2.2.2.
//
// The wildcard `*` splits a pattern into pieces. A `RequestPath` has the bytes of the path. It also has two indexes, which show quickly where a
// piece is in the path, or that it is not there:
//
//   byteClasses       a bitmap: the classes of the bytes in the path. A byte whose class is missing is not in the path.
//   suffix automaton  finds any piece in the path. Built when searches have read 64 KiB.
import { SLASH } from '../ascii.ts'
import { bytesOfLatin1, encodeText, isEqualAt } from '../bytes.ts'
import { type NormalForm, writeNormalForm } from './normal-form.ts'
import { SuffixAutomaton } from './suffix-automaton.ts'

/** url-fast-path.ts reads URLs up to this length. The platform's URL parser parses longer ones. */
export const MAX_SIMPLE_URL_BYTES = 4096

/**
 * The classes of bytes: one for each string. A byte has no class if a test for it would reject few rules: `/` and `a` are in nearly every path, and
 * `~` is in hardly any rule.
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
 * The bit of each byte's class; 0 for a byte without a class, such as `*` and `$`. The 27 classes use the 27 lowest bits. url-fast-path.ts uses
 * the three highest bits for flags of its own.
 */
export const BYTE_CLASS_BIT: Int32Array = new Int32Array(256)
for (const [bit, bytes] of BYTE_CLASSES.entries()) {
  for (let i = 0; i < bytes.length; i++) BYTE_CLASS_BIT[bytes.charCodeAt(i)] = 1 << bit
}

/** Returns a bitmap of the classes of the bytes from `start` to `end`. */
export function byteClassesOf(bytes: Uint8Array, start: number, end: number): number {
  let classes = 0
  for (let i = start; i < end; i++) classes |= BYTE_CLASS_BIT[bytes[i] as number] as number
  return classes
}

/** When `searchedBytes` reaches this number, `findPiece` uses an automaton. */
const AUTOMATON_AFTER_BYTES = 2 ** 16
/** `findPiece` then still reads so many bytes itself before it asks the automaton, since many pieces occur soon. */
const BYTES_BEFORE_AUTOMATON = 64

/**
 * The path to check. All checks share one object, which costs less than a new object for each URL. A simple URL is one that `setSimpleUrl`
 * (url-fast-path.ts) can parse; it stores the path of that URL here. `setPath` stores every other path.
 */
export class RequestPath {
  /** Has room for a simple URL, followed by its path in normal form, which takes at most three bytes for each byte (`%XX`). */
  readonly #buffer: Uint8Array = new Uint8Array(4 * MAX_SIMPLE_URL_BYTES)
  /** The array with the path, from `start` to `end`: the buffer, or an array of its own for a path that does not fit there. */
  bytes: Uint8Array = this.#buffer
  start = 0
  end = 0
  /** The classes of the bytes in the path. May have the flags of url-fast-path.ts too. */
  byteClasses = 0
  /** About how many bytes of this path `findPiece` has read. */
  searchedBytes = 0
  #automaton: SuffixAutomaton | undefined

  /** Sets the path to `text`, converted to `normalForm`. */
  setPath(text: string, normalForm: NormalForm): void {
    const path = encodeText(text)
    this.reset()
    if (3 * path.length > this.bytes.length) this.bytes = new Uint8Array(3 * path.length)
    this.start = 0
    this.end = writeNormalForm(normalForm, 'url', path, 0, path.length, this.bytes, 0)
    this.byteClasses = byteClassesOf(this.bytes, 0, this.end)
  }

  /** Discards everything cached for the previous path. */
  reset(): void {
    this.bytes = this.#buffer
    this.searchedBytes = 0
    this.#automaton = undefined
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
   * Finds the first occurrence of a piece in the path between the offsets `from` and `to`. The piece is the bytes of `pattern` from `start` to
   * `end`, at least one.
   *
   * @returns The end of the occurrence; -1 if there is none.
   */
  findPiece(pattern: Uint8Array, start: number, end: number, from: number, to: number): number {
    const { bytes } = this
    // The search looks for the first byte of the piece, or for the second byte if the first is a slash, since most paths have many slashes.
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
