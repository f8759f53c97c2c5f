// The compiled form of one crawler's rules: one byte array, with the rules in the order of the file and then their groups. There are no objects,
// so a rule takes about as many bytes as its pattern. RFC 9309 §2.2.2 and §2.2.3.
//
// The form of a rule is its pattern in normal form. What follows the form is the tail.
//
//   part of a rule   bytes
//   head             one byte: 0x40 (`@`), plus bit 0 if the rule allows, bit 1 if its pattern is special, and in bits 2 to 4 the length of
//                    the tail, or 7 if it is 7 or more. A pattern is special if it has a `*` or ends with `$`, in a dialect with wildcards
//   length           a number: the length of the form in bytes
//   tail length      a number: the length of the tail in bytes; only if the head says 7
//   form             the pattern in normal form
//   tail             a number: the line of the rule
//                    a number: the index of its group
//                    the pattern as written; only if it differs from the form
//
//   part of a group  bytes
//   line             a number: the line of its first user-agent line
//   count            a number: how many user-agent lines it has
//   agents           for each user-agent line: a number, which is the length of its value, and then the value
//
// The last digit of a number is in base 32: space (0x20) to `?` (0x3F). All digits before it are in base 64: `@` (0x40) to 0x7F. So the first byte
// below 0x40 ends the number. A number below 32, as most are, takes one byte.
//
// Caches may store the rules as JSON. JSON writes each of these digits as one byte, except `"` and `\`, which it writes as two. It would write a byte
// below 0x20 as six.
//
// In the functions below, `offset` is the offset of a rule's head in `packed`.
import { DOLLAR, SPACE, STAR } from '../ascii.ts'
import { bytesOfLatin1, decodeText, latin1Of } from '../bytes.ts'
import type { RequestPath } from '../url/request-path.ts'
import { matchesPrefix, matchesWildcards } from './pattern.ts'
import type { Group, Rule } from './verdict.ts'

const HEAD = 0x40
const LEADING_DIGIT_0 = 0x40
const LAST_DIGIT_0 = SPACE
const ALLOW = 1
export const SPECIAL = 2
const TAIL_SHIFT = 2
const LONG_TAIL = 7

/** In place of the offset of a rule: no rule matches. */
export const NO_RULE = -1

/** A rule read from packed rules. */
export interface UnpackedRule {
  readonly rule: Rule
  /** The pattern in normal form; one character for each byte. */
  readonly form: string
  /** The index of its group among the crawler's groups. */
  readonly group: number
}

/**
 * None of these takes more bytes than this, so a writer that reserves this many bytes for one of them has enough room:
 *
 * - all parts of a rule together, except its form and its pattern as written;
 * - the line and the count of a group together;
 * - the number before a user-agent value.
 */
export const MAX_OVERHEAD = 48

/** Writes the parts of a rule before its form. @returns The offset of the form. */
export function writeRuleHead(
  packed: Uint8Array,
  offset: number,
  allows: boolean,
  isSpecial: boolean,
  formLength: number,
  tailLength: number,
): number {
  const isLong = tailLength >= LONG_TAIL
  const tail = (isLong ? LONG_TAIL : tailLength) << TAIL_SHIFT
  packed[offset] = HEAD | (allows ? ALLOW : 0) | (isSpecial ? SPECIAL : 0) | tail
  const next = writeNumber(packed, offset + 1, formLength)
  return isLong ? writeNumber(packed, next, tailLength) : next
}

/** Writes a number of at most 31 bits. @returns The offset after it. */
export function writeNumber(packed: Uint8Array, at: number, value: number): number {
  const end = at + numberLength(value)
  packed[end - 1] = LAST_DIGIT_0 + (value & 31)
  let rest = value >> 5
  for (let i = end - 2; i >= at; i--) {
    packed[i] = LEADING_DIGIT_0 + (rest & 63)
    rest >>= 6
  }
  return end
}

/** Returns how many bytes a number takes. */
export function numberLength(value: number): number {
  if (value < 32) return 1
  let length = 2
  for (let rest = value >> 11; rest > 0; rest >>= 6) length++
  return length
}

function numberAt(packed: Uint8Array, at: number): number {
  let value = 0
  let i = at
  let byte = packed[i] as number
  while (byte >= LEADING_DIGIT_0) {
    value = (value << 6) + byte - LEADING_DIGIT_0
    byte = packed[++i] as number
  }
  return (value << 5) + byte - LAST_DIGIT_0
}

function tailBits(packed: Uint8Array, offset: number): number {
  return ((packed[offset] as number) >> TAIL_SHIFT) & LONG_TAIL
}

/** Returns the length of a rule's form in bytes. */
export function formLength(packed: Uint8Array, offset: number): number {
  const firstDigit = (packed[offset + 1] as number) - LAST_DIGIT_0 // the length if it has one digit; 32 or more if it has several
  return firstDigit < 32 ? firstDigit : numberAt(packed, offset + 1)
}

/** Returns the offset of a rule's form. */
export function formStart(packed: Uint8Array, offset: number): number {
  const start = offset + 1 + numberLength(formLength(packed, offset))
  return tailBits(packed, offset) === LONG_TAIL ? start + numberLength(numberAt(packed, start)) : start
}

/** Returns the offset of the next rule. */
export function nextRuleOffset(packed: Uint8Array, offset: number): number {
  const length = formLength(packed, offset)
  const start = offset + 1 + numberLength(length)
  const bits = tailBits(packed, offset)
  if (bits !== LONG_TAIL) return start + length + bits
  const tailLength = numberAt(packed, start)
  return start + numberLength(tailLength) + length + tailLength
}

/**
 * Returns the strength of a rule. Under `winner: 'most-octets'`, the strongest of the rules that match decides. If several are equally strong, the
 * first of them decides. A rule with a longer form is stronger. If two forms are equally long, an allow rule is stronger than a disallow rule. RFC
 * 9309 §2.2.2.
 */
export function strengthAt(packed: Uint8Array, offset: number): number {
  return 2 * formLength(packed, offset) + ((packed[offset] as number) & ALLOW)
}

/** Unpacks a rule. */
export function ruleAt(packed: Uint8Array, offset: number): UnpackedRule {
  const length = formLength(packed, offset)
  const start = formStart(packed, offset)
  const form = packed.subarray(start, start + length)
  const line = numberAt(packed, start + length)
  const groupIndexAt = start + length + numberLength(line)
  const group = numberAt(packed, groupIndexAt)
  const written = packed.subarray(groupIndexAt + numberLength(group), nextRuleOffset(packed, offset))
  const directive = ((packed[offset] as number) & ALLOW) === 0 ? 'disallow' : 'allow'
  const text = decodeText(written.length === 0 ? form : written)
  return { rule: { directive, text, line, bytes: length }, form: latin1Of(form), group }
}

/** Returns whether a rule's pattern has a `*` or ends with `$`, in a dialect where these are special. */
export function isSpecialAt(packed: Uint8Array, offset: number): boolean {
  return ((packed[offset] as number) & SPECIAL) !== 0
}

/** Returns whether a rule allows the paths that it matches. A rule with an empty pattern allows all paths, also if it is a `Disallow`. */
export function allowsAt(packed: Uint8Array, offset: number): boolean {
  return ((packed[offset] as number) & ALLOW) !== 0 || formLength(packed, offset) === 0
}

/** Returns how many bytes a pattern has before its first special character. */
export function prefixLength(packed: Uint8Array, offset: number): number {
  const length = formLength(packed, offset)
  if (!isSpecialAt(packed, offset)) return length
  const start = formStart(packed, offset)
  const end = packed[start + length - 1] === DOLLAR ? start + length - 1 : start + length
  let i = start
  while (i < end && packed[i] !== STAR) i++
  return i - start
}

/** Returns whether a rule matches a path. */
export function matchesAt(packed: Uint8Array, offset: number, path: RequestPath): boolean {
  const start = formStart(packed, offset)
  const end = start + formLength(packed, offset)
  return isSpecialAt(packed, offset)
    ? matchesWildcards(path, packed, start, end)
    : matchesPrefix(path, packed, start, end)
}

/** Reads the groups between two offsets. @returns Undefined if the bytes are not exactly a list of groups. */
export function readGroups(packed: Uint8Array, start: number, end: number): readonly Group[] | undefined {
  const groups: Group[] = []
  let at = start
  const readNumber = () => {
    const value = numberAt(packed, at)
    at += numberLength(value)
    return value
  }
  while (at < end) {
    const line = readNumber()
    const agents: string[] = []
    for (let count = readNumber(); count > 0; count--) {
      const length = readNumber()
      if (!(length >= 0) || at + length > end) return undefined // `!(>=)` because a number after the end of `packed` reads as NaN
      agents.push(decodeText(packed.subarray(at, at + length)))
      at += length
    }
    groups.push({ agents, line })
  }
  return at === end ? groups : undefined
}

/**
 * Counts the rules of `text`, which may be damaged or forged.
 *
 * @param text Packed rules up to `groupsAt`, then their groups; one character for each byte.
 * @returns Undefined unless every rule and every group can be read, and every rule is in one of the groups.
 */
export function countPackedRules(text: string, groupsAt: number): number | undefined {
  if (!/^[\0-\xff]*$/.test(text) || !Number.isInteger(groupsAt) || groupsAt < 0 || groupsAt > text.length) {
    return undefined
  }
  const packed = bytesOfLatin1(`${text} `) // the space ends a number that was cut off
  const groups = readGroups(packed, groupsAt, text.length)
  if (groups === undefined) return undefined
  let rules = 0
  let offset = 0
  for (; offset < groupsAt; rules++) {
    const length = formLength(packed, offset)
    const tailStart = formStart(packed, offset) + length
    if (length < 0 || tailStart >= groupsAt) return undefined
    const groupIndexAt = tailStart + numberLength(numberAt(packed, tailStart))
    const group = numberAt(packed, groupIndexAt)
    const next = nextRuleOffset(packed, offset)
    if (group >= groups.length || groupIndexAt + numberLength(group) > next || next <= offset) return undefined
    offset = next
  }
  return offset === groupsAt ? rules : undefined
}
