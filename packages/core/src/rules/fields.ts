// Text -> lines -> fields. RFC 9309 §2.2, read as leniently as google/robotstxt reads it.
//
// A reader that goes from line to line and says where things stand. It copies nothing, and lets the platform search for what it can, since
// most of what files hold concerns other crawlers.
import type { Reading } from '../dialect.ts'
import { fitting, type Source } from '../octets.ts'
import { type OtherField, otherFields } from './other-records.ts'

/** The directives that are known, by the names their standards give them. */
export type Directive = 'user-agent' | 'allow' | 'disallow' | OtherField

/**
 * The beginnings by which a key is known, in lower case, in the order in which they are tried. A key is known by how it
 * begins, so `Disallows:` is a disallow; the misspellings are the frequent ones of real files.
 *
 * These are the fields that Google reads, and so it reads them. All others are known by their whole name: nobody reads them by
 * their beginnings, `Content-Signals` is not `Content-Signal`, and `Host-Load` is no `Host`.
 */
const BEGINNINGS: readonly (readonly [beginning: string, directive: Directive])[] = [
  ['user-agent', 'user-agent'],
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]

/** The names of all fields that are known. */
export const fieldNames: readonly Directive[] = [
  'user-agent',
  'allow',
  'disallow',
  ...(Object.keys(otherFields) as OtherField[]),
]

/** How a key is known: by all of `name`, in lower case, or by beginning with it. */
interface KnownKey {
  readonly name: string
  readonly octets: Uint8Array
  readonly by: 'beginning' | 'whole'
  readonly directive: Directive
}

/** The keys that are known, in the order in which they are tried, by their first letter. */
function byLetter(keys: readonly KnownKey[]): readonly (readonly KnownKey[])[] {
  return Array.from({ length: 128 }, (_, letter) => keys.filter(({ name }) => name.charCodeAt(0) === letter))
}

function knownKey(name: string, by: KnownKey['by'], directive: Directive): KnownKey {
  return { name, octets: Uint8Array.from(name, (c) => c.charCodeAt(0)), by, directive }
}

const BY_NAME = fieldNames.map((name) => knownKey(name, 'whole', name))
const BY_BEGINNING = BEGINNINGS.map(([name, directive]) => knownKey(name, 'beginning', directive))
const KNOWN = { exact: byLetter(BY_NAME), lenient: byLetter([...BY_BEGINNING, ...BY_NAME]) }

/** The first of the known keys that stands at a place, in any case; nothing is said of what follows. */
function keyAt(text: string, start: number, keys: Reading['keys']): KnownKey | undefined {
  const known = KNOWN[keys][text.charCodeAt(start) | CASE] ?? NO_KEYS
  for (let k = 0; k < known.length; k++) {
    const { octets } = known[k] as KnownKey
    let i = 1
    while (i < octets.length && (text.charCodeAt(start + i) | CASE) === octets[i]) i++
    if (i === octets.length) return known[k]
  }
  return undefined
}

/** Which directive a key is, in any case. */
export function directiveOf(text: string, start: number, end: number, keys: Reading['keys']): Directive | 'unknown' {
  const key = text.slice(start, end).toLowerCase()
  const known = (KNOWN[keys][key.charCodeAt(0)] ?? NO_KEYS).find(({ name, by }) =>
    by === 'whole' ? key === name : key.startsWith(name),
  )
  return known?.directive ?? 'unknown'
}

const NO_KEYS: readonly KnownKey[] = []

/** Makes a letter a small one. What else it changes is no character of a name, or ends a line (NUL and CR, which look like ` ` and `-`). */
const CASE = 32

/**
 * A line keeps this many octets; the rest of it is dropped. google/robotstxt: eight URLs of 2,083 octets, less the NUL that
 * ends its buffer. RFC 9309 §2.5 asks for a limit and leaves it open.
 */
const MAX_LINE_OCTETS = 8 * 2083 - 1

/** Of a UTF-16 unit in UTF-8. */
const MOST_OCTETS = 3

/** `Allow:`, or, the colon forgotten, `allow *`. */
const SHORTEST_FIELD = 6

const TAB = 9
const LF = 10
const CR = 13
const SPACE = 32
const COLON = 58

/** A byte order mark is dropped, and so is the start of one that was cut short (google/robotstxt; the RFC is silent). */
function markLength({ text, unit }: Source): number {
  const mark = unit === 'octet' ? '\xef\xbb\xbf' : '\ufeff'
  let length = 0
  while (length < mark.length && text.charCodeAt(length) === mark.charCodeAt(length)) length++
  return length
}

/** The first place of a character from here on, or that of the end of the file. */
function placeOf(text: string, character: string, from: number): number {
  const place = text.indexOf(character, from)
  return place === -1 ? text.length : place
}

/** The first place of a word, or that of the end of the file. */
function placeOfWord(text: string, word: RegExp, from: number): number {
  word.lastIndex = from
  return word.exec(text)?.index ?? text.length
}

/** Where the blanks begin that stand right before a place, on its line. */
function blanksBefore(text: string, place: number): number {
  let start = place
  while (isBlank(text.charCodeAt(start - 1)) && !isLineEnd(text.charCodeAt(start - 1))) start--
  return start
}

/** Behind the end of a line that the first CR or the first LF from its beginning on ends, or both in one. */
function behindLine(cr: number, lf: number): number {
  return cr + 1 === lf ? lf + 1 : Math.min(cr, lf) + 1
}

/** How many lines begin from one place on before another; of the first one it is known which LF and CR come first. */
function linesBetween(text: string, from: number, to: number, knownLf: number, knownCr: number): number {
  let lines = 0
  let lf = knownLf
  let cr = knownCr
  for (let start = from; start < to; start = behindLine(cr, lf)) {
    if (lf < start) lf = placeOf(text, '\n', start)
    if (cr < start) cr = placeOf(text, '\r', start)
    lines++
  }
  return lines
}

/** Which lines are of interest. */
export interface Interest {
  /** By character: with which ones (1) they begin. */
  readonly beginnings: Uint8Array
  /** The word that all of them begin with, if there is one, with the flags `gi`. */
  readonly word?: RegExp
}

/**
 * When so many lines were passed over, and were short, the word is looked for in the file: that is faster than
 * to go from line to line. Where lines are long, their ends are found faster than the word.
 */
const MANY_PASSED = 8
/** Characters. */
const SHORT_LINE = 64

/** Goes through a file, and says where things stand in it; an end is the place behind the last character. */
export class Fields {
  /**
   * There is always one. At each full collection of garbage V8 throws away what it has compiled for objects of which none is left; the next
   * file would be read six times slower, until it has compiled all that anew.
   */
  static readonly always: Fields = new Fields({ text: '', unit: 'octet' }, 'lenient')

  /** The number of the line, counted from 1. */
  line = 0
  lineStart = 0
  /** Where the line's first character stands that is no blank, or its end. */
  contentStart = 0
  // Of a line that was read, and not only gone to:
  /** As far as it is read: up to its end, a NUL, or the limit. */
  lineEnd = 0
  /** The end of what is no comment (§2.2.3), without blanks. */
  contentEnd = 0
  /**
   * The field, if there is one: its key begins where the content does, and is never empty; its value ends where the content does. Neither
   * has blanks at the ends.
   */
  directive: Directive | 'unknown' = 'unknown'
  keyEnd = 0
  valueStart = 0
  /** Whether the limit of a line has cut a character in two, of which the first octets should have been kept. */
  cutsCharacter = false

  readonly #text: string
  readonly #unit: Source['unit']
  readonly #keys: Reading['keys']
  #end = 0
  #next: number
  /** The key of the line, if it was looked for on the way to it. */
  #known: KnownKey | undefined
  // The first of its kind from the line on: looked for when the line has passed it, so that a file is searched for it once.
  #lf = -1
  #cr = -1
  #nul = -1
  #comment = -1
  #colon = -1

  constructor(source: Source, keys: Reading['keys']) {
    this.#text = source.text
    this.#unit = source.unit
    this.#keys = keys
    this.#next = markLength(source)
  }

  /**
   * Goes to the next line. LF, CR and CR LF end one (RFC 9309 §2.2) and nothing else does: no form feed, no U+2028. The last line needs no
   * end, so a file that ends in a line end has one more, empty line.
   *
   * @param interest Without it all lines are of interest; with it others are passed over, and those that are too short for any field, or
   * begin with no key that is known.
   */
  nextLine(interest?: Interest): boolean {
    const text = this.#text
    let { line } = this
    let passed = 0
    /** The line from which on lines are not counted: where it begins, and what was known there. */
    let uncounted:
      | { readonly from: number; readonly line: number; readonly lf: number; readonly cr: number }
      | undefined
    let start = this.#next
    let passedFrom = start
    let lf = this.#lf
    let cr = this.#cr
    let found = false
    let known: KnownKey | undefined
    while (!found && start <= text.length) {
      if (lf < start) lf = placeOf(text, '\n', start)
      if (cr < start) cr = placeOf(text, '\r', start)
      const end = Math.min(cr, lf)
      line++
      let from = start
      while (from < end && isBlank(text.charCodeAt(from))) from++
      if (interest === undefined) {
        found = true
      } else if (end - from >= SHORTEST_FIELD && interest.beginnings[text.charCodeAt(from)] === 1) {
        known = keyAt(text, from, this.#keys)
        found = known !== undefined
      }
      if (found) {
        this.lineStart = start
        this.contentStart = from
        this.#end = end
      }
      start = behindLine(cr, lf)
      if (!found && interest?.word !== undefined && ++passed === MANY_PASSED) {
        if (start - passedFrom < MANY_PASSED * SHORT_LINE) {
          uncounted ??= { from: start, line: line + 1, lf, cr }
          const place = placeOfWord(text, interest.word, start)
          if (lf < place) lf = placeOf(text, '\n', place)
          if (cr < place) cr = placeOf(text, '\r', place)
          const blanks = blanksBefore(text, place)
          start = isLineEnd(text.charCodeAt(blanks - 1)) ? blanks : behindLine(cr, lf)
        }
        passed = 0
        passedFrom = start
      }
    }
    if (found && uncounted !== undefined) {
      line = uncounted.line + linesBetween(text, uncounted.from, this.lineStart, uncounted.lf, uncounted.cr)
    }
    this.line = line
    this.#known = known
    this.#next = start
    this.#lf = lf
    this.#cr = cr
    return found
  }

  /** Reads the line. @returns Whether it has a field; not so a blank line, a comment, or a line that is none. */
  readField(): boolean {
    const text = this.#text
    const { lineStart, contentStart } = this
    if (this.#nul < lineStart) this.#nul = placeOf(text, '\0', lineStart)
    if (this.#comment < lineStart) this.#comment = placeOf(text, '#', lineStart)
    let end = Math.min(this.#nul, this.#end) // A NUL ends a C string, and so the reference's line.
    if (end - lineStart > MAX_LINE_OCTETS / MOST_OCTETS) end = this.#limit(lineStart, end)
    this.lineEnd = end
    if (this.#comment < end) end = this.#comment
    while (end > contentStart && isBlank(text.charCodeAt(end - 1))) end--
    this.contentEnd = end
    if (contentStart >= end) return false

    const known = this.#known ?? keyAt(text, contentStart, this.#keys)
    let separator = known === undefined ? -1 : contentStart + known.octets.length
    if (known !== undefined && separator < end && text.charCodeAt(separator) === COLON) {
      this.directive = known.directive
      this.keyEnd = separator
    } else {
      separator = this.#separator(contentStart, end)
      if (separator === -1) return false
      let keyEnd = separator
      while (keyEnd > contentStart && isBlank(text.charCodeAt(keyEnd - 1))) keyEnd--
      if (keyEnd === contentStart) return false
      const isKnown = known?.by === 'beginning' && keyEnd - contentStart >= known.octets.length
      this.directive = isKnown ? known.directive : directiveOf(text, contentStart, keyEnd, this.#keys)
      this.keyEnd = keyEnd
    }
    let valueStart = separator + 1
    while (valueStart < end && isBlank(text.charCodeAt(valueStart))) valueStart++
    this.valueStart = valueStart
    return true
  }

  /** The first colon, or what stands for it; -1 where nothing does. */
  #separator(start: number, end: number): number {
    if (this.#colon < start) this.#colon = placeOf(this.#text, ':', start)
    if (this.#colon < end) return this.#colon
    return this.#keys === 'lenient' ? this.#forgottenColon() : -1
  }

  /** Of a line that was read: is there nothing on it, not even a comment? */
  get isBlankLine(): boolean {
    return this.contentStart >= this.lineEnd
  }

  /** Where a long line ends that begins and ends here. */
  #limit(start: number, end: number): number {
    if (this.#unit === 'octet') return Math.min(end, start + MAX_LINE_OCTETS)
    const line = this.#text.slice(start, Math.min(end, start + MAX_LINE_OCTETS))
    const { read, written } = fitting(line, MAX_LINE_OCTETS)
    if (read < line.length && written < MAX_LINE_OCTETS) this.cutsCharacter = true
    return start + read
  }

  /** Where somebody forgot the colon between a line's two words, the blank behind the first (google/robotstxt). */
  #forgottenColon(): number {
    const blank = this.#nextBlank(this.contentStart)
    let word = blank
    while (word < this.contentEnd && isSpaceOrTab(this.#text.charCodeAt(word))) word++
    return blank < this.contentEnd && this.#nextBlank(word) === this.contentEnd ? blank : -1
  }

  #nextBlank(from: number): number {
    let i = from
    while (i < this.contentEnd && !isSpaceOrTab(this.#text.charCodeAt(i))) i++
    return i
  }
}

/** Some lines of a file as they stand in it, octets, by number. */
export function linesOf(octets: string, wanted: ReadonlySet<number>): ReadonlyMap<number, string> {
  const fields = new Fields({ text: octets, unit: 'octet' }, 'lenient')
  const lines = new Map<number, string>()
  while (fields.nextLine()) {
    if (!wanted.has(fields.line)) continue
    fields.readField()
    lines.set(fields.line, octets.slice(fields.lineStart, fields.lineEnd))
  }
  return lines
}

/** The blanks of the grammar. RFC 9309 §2.2. */
function isSpaceOrTab(octet: number): boolean {
  return octet === SPACE || octet === TAB
}

function isLineEnd(octet: number): boolean {
  return octet === LF || octet === CR
}

/** The blanks of ASCII. `String.trim` would take U+00A0 and others with it, which are part of a value. */
function isBlank(octet: number): boolean {
  return octet === SPACE || (octet >= TAB && octet <= CR)
}

/** Octets without the blanks of ASCII at the ends. */
export function trimBlanks(octets: string): string {
  let start = 0
  let end = octets.length
  while (start < end && isBlank(octets.charCodeAt(start))) start++
  while (end > start && isBlank(octets.charCodeAt(end - 1))) end--
  return octets.slice(start, end)
}
