// The compiled form of one crawler's rules: one byte array, with the rules in the order of the
// file, then their groups. It has no objects, so a rule takes about as many bytes as its pattern.
// RFC 9309 §2.2.2 and §2.2.3.
//
//   part of a rule   bytes
//   head             one byte: 0x40 (`@`), plus the flags ALLOW, SPECIAL and REWRITTEN
//   form             the pattern in normal form, then a line feed
//   line             a number: the line of the rule
//   group            a number: the index of its group
//   written          the pattern as written, then a line feed; only if it differs from the form (REWRITTEN)
//
//   part of a group  bytes
//   line             a number: the line of its first user-agent line
//   count            a number: how many user-agent lines it has
//   agents           the value of each user-agent line, then a line feed
//
// Neither a pattern nor a value contains a line feed. A number is one or more bytes, lowest bits
// first. Each byte is 0x40 plus six bits; the last byte is 0x20 plus five bits. Caches may store
// the rules as JSON, which writes nearly all of these bytes as one character.
//
// In the functions below, `offset` is the offset of a rule's head in `packed`.
import { DOLLAR, LF, STAR } from '../ascii.ts'
import { bytesOfLatin1, decodeText, latin1Of } from '../bytes.ts'
import type { Group, Rule } from './verdict.ts'

export const HEAD = 0x40
/** The rule allows. */
export const ALLOW = 1
/** The pattern has a `*` or ends with `$`, in a dialect where these are special. */
export const SPECIAL = 2
/** The pattern as written differs from its normal form. */
export const REWRITTEN = 4

/** In place of the offset of a rule: no rule matches. */
export const NO_RULE = -1

/**
 * More bytes than a rule has besides its form and its pattern as written, and more than the two
 * numbers of a group.
 */
export const MAX_OVERHEAD = 16

/** A rule read from packed rules. */
export interface UnpackedRule {
  readonly rule: Rule
  /** The pattern in normal form; one character for each byte. */
  readonly form: string
  /** The index of its group among the crawler's groups. */
  readonly group: number
}

/** Writes a number. @returns The offset after it. */
export function writeNumber(packed: Uint8Array, at: number, value: number): number {
  let end = at
  let rest = value
  for (; rest > 31; rest >>= 6) packed[end++] = 0x40 | (rest & 63)
  packed[end++] = 0x20 | rest
  return end
}

/**
 * Returns whether the pattern of a rule has a `*` or ends with `$`, in a dialect where these are
 * special.
 */
export function isSpecialAt(packed: Uint8Array, offset: number): boolean {
  return ((packed[offset] as number) & SPECIAL) !== 0
}

/** Returns the end of the part of a form that comes before its first special character. */
export function prefixEndAt(packed: Uint8Array, offset: number, formEnd: number): number {
  if (!isSpecialAt(packed, offset)) return formEnd
  const end = packed[formEnd - 1] === DOLLAR ? formEnd - 1 : formEnd
  let i = offset + 1
  while (i < end && packed[i] !== STAR) i++
  return i
}

/** Returns the offset of the next rule. @param formEnd The end of this rule's form. */
export function nextRuleOffset(packed: Uint8Array, offset: number, formEnd: number): number {
  let i = formEnd + 1
  for (let numbers = 2; numbers > 0; i++) if ((packed[i] as number) < 0x40) numbers--
  if (((packed[offset] as number) & REWRITTEN) === 0) return i
  while (packed[i] !== LF) i++
  return i + 1
}

/**
 * Returns whether a rule allows the paths that it matches. A rule with an empty pattern allows all
 * paths, even if it is a `Disallow`.
 */
export function allowsAt(packed: Uint8Array, offset: number): boolean {
  return ((packed[offset] as number) & ALLOW) !== 0 || packed[offset + 1] === LF
}

/**
 * Reads numbers and texts, one after another. In damaged data it may read a wrong number, or move
 * beyond the end.
 */
class Reader {
  at: number
  readonly #packed: Uint8Array

  constructor(packed: Uint8Array, at: number) {
    this.#packed = packed
    this.at = at
  }

  /** Returns -1 for a number of more than five bytes, or with a byte that no number has. */
  number(): number {
    let value = 0
    for (let shift = 0; shift <= 24; shift += 6) {
      const byte = this.#packed[this.at++] as number
      if (byte >= 0x20 && byte < 0x40) return value | ((byte & 31) << shift)
      if (!(byte >= 0x40 && byte < 0x80)) break
      value |= (byte & 63) << shift
    }
    return -1
  }

  /** Reads the bytes before the next line feed. */
  bytesToLineFeed(): Uint8Array {
    const start = this.at
    const end = this.#packed.indexOf(LF, start)
    this.at = end === -1 ? this.#packed.length + 1 : end + 1
    return this.#packed.subarray(start, end)
  }

  group(): Group {
    const line = this.number()
    const agents = Array.from({ length: this.number() }, () => decodeText(this.bytesToLineFeed()))
    return Object.freeze({ agents: Object.freeze(agents), line }) // verdicts share it
  }

  /** Returns whether a group can be read here. */
  skipGroup(): boolean {
    const line = this.number()
    let agents = this.number()
    for (; agents > 0 && this.at < this.#packed.length; agents--) this.bytesToLineFeed()
    return line !== -1 && agents === 0 && this.at <= this.#packed.length
  }
}

/** Unpacks a rule. */
export function ruleAt(packed: Uint8Array, offset: number): UnpackedRule {
  const reader = new Reader(packed, offset + 1)
  const form = reader.bytesToLineFeed()
  const line = reader.number()
  const group = reader.number()
  const head = packed[offset] as number
  const directive = (head & ALLOW) === 0 ? 'disallow' : 'allow'
  const text = decodeText((head & REWRITTEN) === 0 ? form : reader.bytesToLineFeed())
  return { rule: { directive, text, line, bytes: form.length }, form: latin1Of(form), group }
}

/** Unpacks the groups between two offsets. */
export function groupsBetween(packed: Uint8Array, start: number, end: number): readonly Group[] {
  const reader = new Reader(packed, start)
  const groups: Group[] = []
  while (reader.at < end) groups.push(reader.group())
  return groups
}

/**
 * Unpacks one of the groups that start at an offset, and decodes no other, because a hostile file
 * may have thousands.
 */
export function groupAt(packed: Uint8Array, start: number, index: number): Group {
  const reader = new Reader(packed, start)
  for (let i = 0; i < index; i++) reader.skipGroup()
  return reader.group()
}

/**
 * Counts the rules of `text`, which may be damaged or forged.
 *
 * @param text Packed rules up to `groupsAt`, then their groups; one character for each byte.
 * @returns Undefined unless every rule and every group can be read, and every rule is in one of the
 * groups.
 */
export function countPackedRules(text: string, groupsAt: number): number | undefined {
  if (/[^\0-\xff]/.test(text) || !Number.isInteger(groupsAt) || groupsAt < 0 || groupsAt > text.length) return undefined
  const packed = bytesOfLatin1(text)
  const groupReader = new Reader(packed, groupsAt)
  let groups = 0
  for (; groupReader.at < packed.length; groups++) if (!groupReader.skipGroup()) return undefined
  const reader = new Reader(packed.subarray(0, groupsAt), 0)
  let rules = 0
  for (; reader.at < groupsAt; rules++) {
    const flags = (packed[reader.at] as number) - HEAD
    if (flags < 0 || flags > (ALLOW | SPECIAL | REWRITTEN)) return undefined
    reader.bytesToLineFeed()
    const line = reader.number()
    const group = reader.number()
    if ((flags & REWRITTEN) !== 0) reader.bytesToLineFeed()
    if (line === -1 || group === -1 || group >= groups || reader.at > groupsAt) return undefined
  }
  return rules
}
