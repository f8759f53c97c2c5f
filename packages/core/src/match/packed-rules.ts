// The compiled form: a crawler's rules in one run of bytes, in the order of the file. No objects: a rule takes about as many bytes as its path.
// RFC 9309 §2.2.2 and §2.2.3.
//
// Each rule is
//
//   head     one byte from '@' on: bit 0, it allows; bit 1, its form has special characters (`*`, a final `$`); bits 2 to 4, the length of
//            its tail, or 7
//   length   a number, the length of the form in bytes
//   [tail]   a number, the length of the tail, where the head says 7
//   form     the path in the form for comparing
//   tail     a number, the line; a number, which of the groups; and the path as written, where that is not the form
//
// Behind the rules are the groups: a number, the line; a number, how many names; and for each name a number, its length, and the name.
//
// A number is digits to the base 64, from '@' on, and a last digit to the base 32, from ' ' on. Most take one byte, and all are printable, so
// JSON need not escape them.
import { DOLLAR, SPACE, STAR } from '../ascii.ts'
import { latin1Of } from '../bytes.ts'
import type { RequestPath } from '../url/request-path.ts'
import { matchesPrefix, matchesWildcards } from './pattern.ts'

const AT = 64
const ALLOW = 1
export const SPECIAL = 2
const TAIL_SHIFT = 2
const LONG_TAIL = 7

/** What a question finds where no rule matches. Offsets of rules are 0 or more. */
export const NO_RULE = -1

/** A rule, unpacked. Paths are bytes, one character for each. */
export interface PackedRule {
  readonly directive: 'allow' | 'disallow'
  /** The path in the form for comparing. */
  readonly form: string
  /** The path as written in the file. */
  readonly written: string
  readonly line: number
  /** Which of the crawler's groups has the rule, counted from 0. */
  readonly group: number
}

/** The most bytes that a rule or a name takes beside its form and what is written. */
export const MAX_OVERHEAD = 48

/** Writes what stands before the form of a rule. @returns The start of the form. */
export function writeRuleHead(
  bytes: Uint8Array,
  at: number,
  allows: boolean,
  isSpecial: boolean,
  formLength: number,
  tailLength: number,
): number {
  const isLong = tailLength >= LONG_TAIL
  const tail = (isLong ? LONG_TAIL : tailLength) << TAIL_SHIFT
  bytes[at] = AT | (allows ? ALLOW : 0) | (isSpecial ? SPECIAL : 0) | tail
  const next = writeNumber(bytes, at + 1, formLength)
  return isLong ? writeNumber(bytes, next, tailLength) : next
}

/** @returns The end of the number. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const end = at + numberLength(value)
  bytes[end - 1] = SPACE + (value & 31)
  let rest = value >> 5
  for (let i = end - 2; i >= at; i--) {
    bytes[i] = AT + (rest & 63)
    rest >>= 6
  }
  return end
}

/** How many bytes a number takes; it has no more than 31 bits. */
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
  while (byte >= AT) {
    value = (value << 6) + byte - AT
    byte = packed[++i] as number
  }
  return (value << 5) + byte - SPACE
}

function tailBits(packed: Uint8Array, at: number): number {
  return ((packed[at] as number) >> TAIL_SHIFT) & LONG_TAIL
}

/** The length of the form of the rule there, in bytes. */
export function formLength(packed: Uint8Array, at: number): number {
  const short = (packed[at + 1] as number) - SPACE
  return short < 32 ? short : numberAt(packed, at + 1)
}

/** The start of the form of the rule there, which has this length. */
export function formStart(packed: Uint8Array, at: number, length: number): number {
  const start = at + 1 + numberLength(length)
  return tailBits(packed, at) === LONG_TAIL ? start + numberLength(numberAt(packed, start)) : start
}

/** The offset of the rule behind the one there, whose form begins at `start`. */
export function nextRuleOffset(packed: Uint8Array, at: number, start: number, length: number): number {
  const tail = tailBits(packed, at)
  return start + length + (tail === LONG_TAIL ? numberAt(packed, at + 1 + numberLength(length)) : tail)
}

/**
 * The strength of a rule: of the rules that match, the strongest decides, and of equal ones the first. Most bytes, then allow before disallow.
 * RFC 9309 §2.2.2.
 */
export function strengthAt(packed: Uint8Array, at: number, length: number): number {
  return 2 * length + ((packed[at] as number) & ALLOW)
}

/** Unpacks the rule there. */
export function ruleAt(packed: Uint8Array, at: number): PackedRule {
  const length = formLength(packed, at)
  const start = formStart(packed, at, length)
  const form = latin1Of(packed.subarray(start, start + length))
  const line = numberAt(packed, start + length)
  const groupAt = start + length + numberLength(line)
  const group = numberAt(packed, groupAt)
  const written = latin1Of(packed.subarray(groupAt + numberLength(group), nextRuleOffset(packed, at, start, length)))
  const directive = ((packed[at] as number) & ALLOW) === 0 ? 'disallow' : 'allow'
  return { directive, form, written: written === '' ? form : written, line, group }
}

export function isSpecialAt(packed: Uint8Array, at: number): boolean {
  return ((packed[at] as number) & SPECIAL) !== 0
}

/** Does the rule there allow? One without a path matches every URL and forbids none. §2.2.2. */
export function allowsAt(packed: Uint8Array, at: number): boolean {
  return ((packed[at] as number) & ALLOW) !== 0 || formLength(packed, at) === 0
}

/** Does the rule there match? Its form begins at `start` and has this length. */
export function matchesAt(packed: Uint8Array, at: number, start: number, length: number, path: RequestPath): boolean {
  // Nearly all rules that do not match have another second byte than the path, or a piece behind a leading `*` that the path has not.
  let i = start
  if (length > 1) {
    if (packed[i] !== STAR) {
      const second = packed[++i] as number
      if (second !== STAR && second !== DOLLAR && second !== path.bytes[path.start + 1]) return false
    }
    if (packed[i] === STAR && i + 1 < start + length) {
      const needed = packed[i + 1] as number
      if (isSpecialAt(packed, at) && needed !== STAR && needed !== DOLLAR && !path.mayContain(needed)) return false
    }
  }
  return isSpecialAt(packed, at)
    ? matchesWildcards(path, packed, start, start + length)
    : matchesPrefix(path, packed, start, start + length)
}

/** A group as it is packed: the values of its user-agent lines, one character for each byte, and the line of the first of them. */
export interface PackedGroup {
  readonly agents: readonly string[]
  readonly line: number
}

/** The groups from an offset on. */
export function readGroups(packed: Uint8Array, from: number, end: number): readonly PackedGroup[] {
  const groups: PackedGroup[] = []
  let at = from
  const number = () => {
    const value = numberAt(packed, at)
    at += numberLength(value)
    return value
  }
  while (at < end) {
    const line = number()
    const names = number()
    const agents: string[] = []
    for (let i = 0; i < names; i++) {
      const length = number()
      agents.push(latin1Of(packed.subarray(at, at + length)))
      at += length
    }
    groups.push({ agents, line })
  }
  return groups
}

/**
 * Checks that all of it can be read: rules up to `groupsAt`, then groups, and that each rule is in one of them.
 *
 * @returns How many rules there are; undefined if it cannot be read.
 */
export function countPackedRules(text: string, groupsAt: number): number | undefined {
  if (!/^[\0-\xff]*$/.test(text) || !Number.isInteger(groupsAt) || groupsAt < 0 || groupsAt > text.length) {
    return undefined
  }
  // With a byte behind it that ends every number.
  const packed = Uint8Array.from(`${text} `, (c) => c.charCodeAt(0))
  const end = text.length
  let groups = 0
  let at = groupsAt
  const number = () => {
    const value = numberAt(packed, at)
    at += numberLength(value)
    return value
  }
  while (at < end) {
    number()
    for (let names = number(); names > 0; names--) {
      const length = number()
      if (!(length >= 0) || at + length > end) return undefined
      at += length
    }
    groups++
  }
  if (at !== end) return undefined
  let rules = 0
  for (at = 0; at < groupsAt; rules++) {
    const length = numberAt(packed, at + 1)
    const start = formStart(packed, at, length)
    const tail = start + length
    if (length < 0 || tail >= groupsAt) return undefined
    const groupAt = tail + numberLength(numberAt(packed, tail))
    const next = nextRuleOffset(packed, at, start, length)
    const group = numberAt(packed, groupAt)
    if (group >= groups || groupAt + numberLength(group) > next || next <= at) return undefined
    at = next
  }
  return at === groupsAt ? rules : undefined
}
