// The path that is asked about, laid out for looking at it often.
import { putAscii } from '../octets.ts'
import { MOST_OCTETS, Occurrences } from './occurrences.ts'
import { signs, signsOf } from './signs.ts'

/** Longer URLs are read the long way. */
export const ROOM = 4096

/** Paths of so many octets are looked through for neighbours too, before a rule's pieces are searched for in them. */
export const LONG: number = 128

/**
 * A path and query in the form for comparing, as bytes. One is used again and again: to fill it anew costs less than to make another, and a
 * question is answered before the next one is asked.
 */
export class AskedPath {
  /** Its octets stand from `start` to `end`. */
  bytes: Uint8Array = new Uint8Array(4 * ROOM) // for a URL, and its path with every octet encoded
  start = 0
  end = 0
  /** The first of the bytes, by two and by four. */
  readonly pairs: Uint16Array = new Uint16Array(this.bytes.buffer as ArrayBuffer)
  readonly words: Uint32Array = new Uint32Array(this.bytes.buffer as ArrayBuffer)
  readonly #room: Uint8Array = this.bytes
  /** The same octets at the same places, as text, in which a platform finds one faster; empty where there is no such text. */
  text = ''
  /** Which octets it has. */
  signs = 0
  /** By neighbours: the last path that was found to have them. */
  readonly #seenPairs = new Uint32Array(PAIRS)
  #paths = 0
  #isLookedThrough = false
  /** How many octets of rules were compared in vain while their pieces were searched for in it. */
  #searched = 0
  /** Of the last path that was searched much. */
  #occurrences: Occurrences | undefined

  get length(): number {
    return this.end - this.start
  }

  /** Takes a path. @param octets One character for each octet. */
  put(octets: string): this {
    this.bytes = octets.length > this.#room.length ? new Uint8Array(octets.length) : this.#room
    for (let i = 0; i < octets.length; i++) this.bytes[i] = octets.charCodeAt(i)
    this.start = 0
    this.end = octets.length
    this.text = octets
    this.signs = signsOf(this.bytes, 0, this.end)
    this.#forget()
    return this
  }

  /** Takes a URL, whose path begins where `start` is then said to be. @returns Whether it is ASCII and not too long. */
  lay(url: string): boolean {
    this.bytes = this.#room
    this.end = url.length
    this.text = url
    this.#forget()
    return url.length <= ROOM && putAscii(url, this.#room)
  }

  /** Can the octet stand anywhere in it? */
  mayHave(octet: number): boolean {
    return ((signs[octet] as number) & ~this.signs) === 0
  }

  /** Where an octet stands first, between two places or on one of them; or -1. */
  indexOf(octet: number, from: number, last: number): number {
    if (this.text !== '') {
      const at = this.text.indexOf(String.fromCharCode(octet), from)
      return at <= last ? at : -1
    }
    for (let i = from; i <= last; i++) if (this.bytes[i] === octet) return i
    return -1
  }

  /**
   * Can the octets of a rule from `start` to `end` stand anywhere in it in a row? No, where any two of them that are neighbours are so
   * nowhere in the path. For a long path, which is not searched lightly.
   */
  mayHaveAll(rule: Uint8Array, start: number, end: number): boolean {
    if (!this.#isLookedThrough) this.#lookThrough()
    for (let i = start + 1; i < end; i++) {
      if (this.#seenPairs[pairOf(rule[i - 1] as number, rule[i] as number)] !== this.#paths) return false
    }
    return true
  }

  /** Takes note that so many octets of a rule were compared in vain. @returns Where pieces stand in it, once it was searched much. */
  searchedInVain(octets: number): Occurrences | undefined {
    if (this.#searched < MUCH) {
      this.#searched += octets
      if (this.#searched < MUCH) return undefined
      this.#occurrences = this.length > MOST_OCTETS ? undefined : new Occurrences(this.bytes, this.start, this.end)
    }
    return this.#occurrences
  }

  /** What was found out about the path before is not said of this one. */
  #forget(): void {
    this.#isLookedThrough = false
    this.#searched = 0
  }

  /** Once for a path, and not before somebody asks: most questions are answered without. */
  #lookThrough(): void {
    this.#isLookedThrough = true
    this.#paths++
    if (this.#paths === 2 ** 32) {
      this.#seenPairs.fill(0)
      this.#paths = 1
    }
    const { bytes, start, end } = this
    for (let i = start + 1; i < end; i++) {
      this.#seenPairs[pairOf(bytes[i - 1] as number, bytes[i] as number)] = this.#paths
    }
  }
}

/** So many octets are compared in half the time that it takes to know where all runs stand. */
const MUCH = 2 ** 16

/** Neighbours by a number of 12 bits; some share one. */
function pairOf(first: number, second: number): number {
  return ((first << 5) ^ second) & (PAIRS - 1)
}

const PAIRS: number = 2 ** 12
