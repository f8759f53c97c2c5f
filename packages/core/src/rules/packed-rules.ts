// A crawler's rules in one string: no objects and no arrays, one octet a character. RFC 9309 §2.2.2 and §2.2.3.
//
// They stand in order of strength, so that the first one that matches decides. Each is
//
//   head     one character from '@' on: bit 0, it allows; bit 1, it has special characters (`*`, a final `$`); bits 2 to 4, how
//            many octets its tail has, or 7
//   length   a number, the octets of the form
//   [tail]   a number, the octets of the tail, where head says 7
//   form     the path in the form for comparing
//   tail     a number, the line; a number, which of the groups; and the path as written, where that is not the form
//
// Behind the rules stand the groups: the line, a number; how many names, a number; and for each name its octets, a number, and the
// name itself.
//
// A number is digits to the base 64, from '@' on, and a last digit to the base 32, from ' ' on: most take one character, and
// all are printable, so that JSON need not escape them.

import { characters } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { isSteady } from '../url/plain-url.ts'
import { beginsWith, matchesSpecial } from './pattern.ts'

const SPACE = 32
const DOLLAR = 36
const STAR = 42
const SLASH = 47
const AT = 64

const ALLOW = 1
const SPECIAL = 2
const TAIL_SHIFT = 2
const LONG_TAIL = 7

/** A rule, unpacked. Paths are octets. */
export interface PackedRule {
  readonly directive: 'allow' | 'disallow'
  /** The path in the form for comparing. */
  readonly form: string
  /** The path as it stands in the file. */
  readonly written: string
  readonly line: number
  /** Which of the crawler's groups it stands in, counted from 0. */
  readonly group: number
}

/** Octets that a rule takes at most, beside its form and what is written. */
export const MOST_OVERHEAD = 48

/** What of a rule stands before its form. @returns Where the form begins. */
export function putHead(
  bytes: Uint8Array,
  at: number,
  directive: PackedRule['directive'],
  isSpecial: boolean,
  formOctets: number,
  tailOctets: number,
): number {
  const isLong = tailOctets >= LONG_TAIL
  const tail = (isLong ? LONG_TAIL : tailOctets) << TAIL_SHIFT
  bytes[at] = AT | (directive === 'allow' ? ALLOW : 0) | (isSpecial ? SPECIAL : 0) | tail
  const next = putNumber(bytes, at + 1, formOctets)
  return isLong ? putNumber(bytes, next, tailOctets) : next
}

/** @returns The place behind it. */
export function putNumber(bytes: Uint8Array, at: number, value: number): number {
  const end = at + numberOctets(value)
  bytes[end - 1] = SPACE + (value & 31)
  let rest = value >> 5
  for (let i = end - 2; i >= at; i--) {
    bytes[i] = AT + (rest & 63)
    rest >>= 6
  }
  return end
}

/** How many octets a number takes; it has no more than 31 bits. */
export function numberOctets(value: number): number {
  if (value < 32) return 1
  let octets = 2
  for (let rest = value >> 11; rest > 0; rest >>= 6) octets++
  return octets
}

/** The number that stands at a place. */
function numberAt(packed: Uint8Array, at: number): number {
  let value = 0
  let i = at
  let octet = packed[i] as number
  while (octet >= AT) {
    value = (value << 6) + octet - AT
    octet = packed[++i] as number
  }
  return (value << 5) + octet - SPACE
}

function tailBits(packed: Uint8Array, at: number): number {
  return ((packed[at] as number) >> TAIL_SHIFT) & LONG_TAIL
}

/** How many octets the form of the rule there has. */
export function formOctets(packed: Uint8Array, at: number): number {
  return numberAt(packed, at + 1)
}

/** Where the form of the rule there begins, which has so many octets. */
export function formStart(packed: Uint8Array, at: number, octets: number): number {
  const start = at + 1 + numberOctets(octets)
  return tailBits(packed, at) === LONG_TAIL ? start + numberOctets(numberAt(packed, start)) : start
}

/** Where the rule behind this one stands. */
export function nextRule(packed: Uint8Array, at: number): number {
  const octets = formOctets(packed, at)
  const start = at + 1 + numberOctets(octets)
  const tail = tailBits(packed, at)
  if (tail !== LONG_TAIL) return start + octets + tail
  const long = numberAt(packed, start)
  return start + numberOctets(long) + octets + long
}

/** Unpacks the rule there. */
export function ruleAt(packed: Uint8Array, at: number): PackedRule {
  const octets = formOctets(packed, at)
  const start = formStart(packed, at, octets)
  const form = characters(packed.subarray(start, start + octets))
  const line = numberAt(packed, start + octets)
  const groupAt = start + octets + numberOctets(line)
  const group = numberAt(packed, groupAt)
  const written = characters(packed.subarray(groupAt + numberOctets(group), nextRule(packed, at)))
  const directive = ((packed[at] as number) & ALLOW) === 0 ? 'disallow' : 'allow'
  return { directive, form, written: written === '' ? form : written, line, group }
}

export function isSpecialAt(packed: Uint8Array, at: number): boolean {
  return ((packed[at] as number) & SPECIAL) !== 0
}

/** Does the rule there allow? One without a path matches everything and forbids nothing. §2.2.2. */
export function allowsAt(packed: Uint8Array, at: number): boolean {
  return ((packed[at] as number) & ALLOW) !== 0 || formOctets(packed, at) === 0
}

/** Does the rule there match? */
export function matchesAt(packed: Uint8Array, at: number, path: AskedPath): boolean {
  const octets = formOctets(packed, at)
  const start = formStart(packed, at, octets)
  const end = start + octets
  return isSpecialAt(packed, at) ? matchesSpecial(path, packed, start, end) : beginsWith(path, packed, start, end)
}

/**
 * The same for the path of a URL as it stands; or undefined, where that is not enough to say.
 *
 * @param known Of so many octets behind the first one, or all that the rule has, it is known that they match.
 */
export function matchesUrlAt(
  packed: Uint8Array,
  at: number,
  url: string,
  path: number,
  known: number,
): boolean | undefined {
  const octets = formOctets(packed, at)
  const start = formStart(packed, at, octets)
  if (octets > 0 && packed[start] !== SLASH) return false
  for (let i = 1 + known; i < octets; i++) {
    if (path + i >= url.length) return false
    const c = url.charCodeAt(path + i)
    if (c !== packed[start + i]) return isSteady(c) ? false : undefined
  }
  return true
}

/** The first rule that matches: its place, or `end`. */
export function firstMatch(packed: Uint8Array, end: number, path: AskedPath): number {
  let at = 0
  while (at < end) {
    const octets = (packed[at + 1] as number) - SPACE
    const tail = tailBits(packed, at)
    if (octets < 32 && tail !== LONG_TAIL) {
      // Nearly all rules are so short, and nearly all that do not match can be told at a glance.
      if (!isOtherAtAGlance(packed, at + 2, octets, path) && matchesAt(packed, at, path)) return at
      at += 2 + octets + tail
    } else {
      if (matchesAt(packed, at, path)) return at
      at = nextRule(packed, at)
    }
  }
  return end
}

/** Has a rule another octet than the path behind the first slash, or one behind a first `*` that the path has nowhere? */
function isOtherAtAGlance(packed: Uint8Array, start: number, octets: number, path: AskedPath): boolean {
  let i = start
  if (packed[i] === SLASH) i++
  const octet = packed[i] as number
  if (i - start >= octets || octet === DOLLAR) return false
  if (octet !== STAR) return octet !== path.bytes[path.start + i - start] || i - start >= path.length
  const needed = packed[i + 1] as number
  return i + 1 - start < octets && needed !== STAR && needed !== DOLLAR && !path.mayHave(needed)
}

/** A group as it is packed: the values of its user-agent lines, octets, and the line of the first of them. */
export interface PackedGroup {
  readonly agents: readonly string[]
  readonly line: number
}

/** The groups that stand in `packed` from a place on. */
export function groupsFrom(packed: Uint8Array, at: number, end: number): readonly PackedGroup[] {
  const groups: PackedGroup[] = []
  let next = at
  const number = () => {
    const value = numberAt(packed, next)
    next += numberOctets(value)
    return value
  }
  while (next < end) {
    const line = number()
    const names = number()
    const agents: string[] = []
    for (let i = 0; i < names; i++) {
      const octets = number()
      agents.push(characters(packed.subarray(next, next + octets)))
      next += octets
    }
    groups.push({ agents, line })
  }
  return groups
}

/** Can all of it be read: rules up to `groupsAt`, then groups, of which each rule stands in one? */
export function areWellPacked(text: string, groupsAt: number): boolean {
  if (!/^[\0-\xff]*$/.test(text) || !Number.isInteger(groupsAt) || groupsAt < 0 || groupsAt > text.length) return false
  // With something behind it that ends every number.
  const packed = Uint8Array.from(`${text} `, (c) => c.charCodeAt(0))
  const end = text.length
  let groups = 0
  let at = groupsAt
  const number = () => {
    const value = numberAt(packed, at)
    at += numberOctets(value)
    return value
  }
  while (at < end) {
    number()
    for (let names = number(); names > 0; names--) {
      const octets = number()
      if (!(octets >= 0) || at + octets > end) return false
      at += octets
    }
    groups++
  }
  if (at !== end) return false
  at = 0
  while (at < groupsAt) {
    const octets = formOctets(packed, at)
    const tail = formStart(packed, at, octets) + octets
    if (octets < 0 || tail >= groupsAt) return false
    const group = tail + numberOctets(numberAt(packed, tail))
    const next = nextRule(packed, at)
    if (numberAt(packed, group) >= groups || group + numberOctets(numberAt(packed, group)) > next || next <= at)
      return false
    at = next
  }
  return at === groupsAt
}
