// The path and query of the URL that is asked about, as bytes in the form for comparing. RFC 9309 §2.2.2.
import { SLASH } from '../ascii.ts'
import { bytesOfLatin1, encodeText } from '../bytes.ts'
import { type NormalForm, writeNormalForm } from './normal-form.ts'
import { MAX_AUTOMATON_BYTES, SuffixAutomaton } from './suffix-automaton.ts'

/** Longer URLs are read by the platform's URL parser, however simple they are. */
export const MAX_SIMPLE_URL_BYTES = 4096

/** The kinds of bytes: letters by themselves, and other bytes in groups. Special characters of patterns have none. The upper four bits are free. */
const KINDS = [
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

/** The bit of each byte's kind; 0 for bytes that nearly every path has, or hardly any rule. */
export const BYTE_CLASS_BIT: Int32Array = new Int32Array(256)
for (const [bit, bytes] of KINDS.entries()) {
  for (let i = 0; i < bytes.length; i++) BYTE_CLASS_BIT[bytes.charCodeAt(i)] = 1 << bit
}

/** When the search for pieces has read this many bytes of a path, an automaton is built. */
const AUTOMATON_AFTER_BYTES = 2 ** 16

/**
 * A path in the form for comparing. There is one, which is overwritten with each question: to fill it costs less than to make another, and a
 * question is answered before the next one is asked.
 */
export class RequestPath {
  readonly #usual: Uint8Array = new Uint8Array(4 * MAX_SIMPLE_URL_BYTES) // for a URL, and behind it its path with every byte encoded
  /** The first of the usual bytes, by four. */
  readonly words: Uint32Array = new Uint32Array(this.#usual.buffer as ArrayBuffer)
  /** The path is in these bytes, from `start` to `end`. */
  bytes: Uint8Array = this.#usual
  start = 0
  end = 0
  /** The kinds of bytes that it has, a bit for each. */
  byteClasses = 0
  /** The number of the path. Results that are kept for one path are not valid for the next. */
  serial = 0
  /** How many bytes the search for pieces has read. */
  searchedBytes = 0
  #automaton: SuffixAutomaton | undefined
  /** For each pair of bytes that stand side by side, by hash: 1 if the path with that serial number has it. */
  readonly #pairs = new Uint8Array(PAIRS)
  #pairsOf = -1

  /** Takes a path that is not in the form for comparing; without a form, it is compared as it is. */
  setPath(text: string, form: NormalForm | undefined): void {
    const path = encodeText(text)
    this.reset()
    if (3 * path.length > this.bytes.length) this.bytes = new Uint8Array(3 * path.length)
    if (form === undefined) this.bytes.set(path)
    this.start = 0
    this.end = form === undefined ? path.length : writeNormalForm(form, 'url', path, 0, path.length, this.bytes, 0)
    this.byteClasses = this.kindsBetween(0, this.end)
  }

  /** Discards everything cached for the previous path. */
  reset(): void {
    this.bytes = this.#usual
    this.serial = (this.serial + 1) >>> 0
    this.searchedBytes = 0
    this.#automaton = undefined
  }

  kindsBetween(start: number, end: number): number {
    const { bytes } = this
    let kinds = 0
    for (let i = start; i < end; i++) kinds |= BYTE_CLASS_BIT[bytes[i] as number] as number
    return kinds
  }

  /** Can this byte be anywhere in the path? Never false for one that is. */
  mayContain(byte: number): boolean {
    return ((BYTE_CLASS_BIT[byte] as number) & ~this.byteClasses) === 0
  }

  isRobotsTxt(): boolean {
    if (this.end - this.start !== ROBOTS_TXT.length) return false
    for (let i = 0; i < ROBOTS_TXT.length; i++) if (this.bytes[this.start + i] !== ROBOTS_TXT[i]) return false
    return true
  }

  /** Has the path every two bytes that stand side by side in the piece? For paths that are too long for an automaton. */
  #mayHavePairs(rule: Uint8Array, start: number, end: number): boolean {
    if (this.#pairsOf !== this.serial) {
      this.#pairsOf = this.serial
      this.#pairs.fill(0)
      const { bytes } = this
      for (let i = this.start + 1; i < this.end; i++) {
        this.#pairs[hashOfPair(bytes[i - 1] as number, bytes[i] as number)] = 1
      }
    }
    for (let i = start + 1; i < end; i++) {
      if (this.#pairs[hashOfPair(rule[i - 1] as number, rule[i] as number)] === 0) return false
    }
    return true
  }

  /**
   * Finds a piece of a pattern, which is not empty: the bytes of `rule` from `start` to `end`.
   *
   * @returns The end of the first one that lies between `from` and `to`; or -1.
   */
  findPiece(rule: Uint8Array, start: number, end: number, from: number, to: number): number {
    const { bytes } = this
    // Slashes are everywhere, so the byte behind one is searched for.
    const skipped = rule[start] === SLASH && end - start > 1 ? 1 : 0
    const byte = rule[start + skipped] as number
    if (!this.mayContain(byte)) return -1
    if (this.searchedBytes > AUTOMATON_AFTER_BYTES && this.end - this.start <= MAX_AUTOMATON_BYTES) {
      this.#automaton ??= new SuffixAutomaton(bytes, this.start, this.end)
      const found = this.#automaton.endOfNext(rule, start, end, from - this.start)
      return found === -1 || this.start + found > to ? -1 : this.start + found
    }
    if (this.end - this.start > MAX_AUTOMATON_BYTES && !this.#mayHavePairs(rule, start, end)) return -1
    const last = to - (end - start)
    for (let at = from; at <= last; at++) {
      if (bytes[at + skipped] !== byte) continue
      let i = start
      while (i < end && bytes[at + i - start] === rule[i]) i++
      if (i === end) return at + end - start
      this.searchedBytes += i - start
    }
    this.searchedBytes += Math.max(0, last - from)
    return -1
  }
}

/** Pairs of bytes are counted by their hashes. */
const PAIRS = 2 ** 12

function hashOfPair(first: number, second: number): number {
  return ((first << 5) ^ second) & (PAIRS - 1)
}

const ROBOTS_TXT = bytesOfLatin1('/robots.txt')
