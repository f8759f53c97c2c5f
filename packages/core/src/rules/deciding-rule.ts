// The rule that decides, found the plain way: each rule is brought to the form for comparing and tried, and the strongest one
// that matches is kept. RFC 9309 §2.2.2. This is for one question about a file; for more, see packed-rules.ts and rule-index.ts, which
// answer the same.
import type { Reading } from '../dialect.ts'
import { Scratch, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { steadyOctets } from '../url/normal-form.ts'
import { digitOf } from '../url/percent.ts'
import type { WrittenFile, WrittenGroup } from './groups.ts'
import { beginsWith, matchesSpecial } from './pattern.ts'
import { formsOf, INDEX_PAGE, pathOf } from './rule-forms.ts'
import type { WrittenRule } from './written-rules.ts'

export interface DecidingRule {
  readonly written: WrittenRule
  readonly group: WrittenGroup
  /** Octets of its path in the form for comparing: its strength. */
  readonly octets: number
}

export function decidingRule(
  { source, rules }: WrittenFile,
  groups: readonly WrittenGroup[],
  path: AskedPath,
  reading: Reading,
): DecidingRule | undefined {
  let strongest: DecidingRule | undefined
  for (const group of groups) {
    for (let i = group.firstRule; i < group.endOfRules; i++) {
      const written = rules.at(i)
      const octets = matchingOctets(source, written, path, reading)
      if (octets === NO_MATCH || (strongest !== undefined && !isStronger(written, octets, strongest))) continue
      strongest = { written, group, octets }
      if (reading.winner === 'first') return strongest
    }
  }
  return strongest
}

/** Most octets, then allow before disallow, then the first line. */
function isStronger({ directive }: WrittenRule, octets: number, other: DecidingRule): boolean {
  if (octets !== other.octets) return octets > other.octets
  return directive === 'allow' && other.written.directive === 'disallow'
}

/**
 * Whether a rule may match a path, told while it is read from where its own path stands: for one question the others need not be kept.
 * Nearly all that do not match differ somewhere before their first octet that is special, or has another form.
 *
 * @param steady Which octets have no other form.
 */
export function mayMatch(path: AskedPath, steady: Uint8Array, text: string, start: number, end: number): boolean {
  let at = path.start
  for (let i = start; i < end; i++, at++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || octet === DOLLAR || steady[octet] !== 1) return true
    if (at === path.end) return octet === INDEX_PAGE.charCodeAt(1) // `Allow: /dir/index.html` may speak about `/dir/`
    if (octet !== path.bytes[at]) return false
  }
  return true
}

const NO_MATCH = -1

/** How many octets the rule's form has, if it matches. */
function matchingOctets(source: Source, written: WrittenRule, path: AskedPath, reading: Reading): number {
  if (written.start === written.end && reading.emptyRules === 'nothing') return NO_MATCH
  if (reading.wildcards === 'special') {
    const octets = matchingAsWritten(source, written, path, reading.compare)
    if (octets !== undefined) return octets
  }
  for (const { octets, isSpecial } of formsOf(pathOf(source, written), written, reading)) {
    if ((isSpecial ? matchesSpecial : beginsWith)(path, rule.put(octets), 0, octets.length)) return octets.length
  }
  return NO_MATCH
}

/**
 * The same where it can be told from the path as written, octet by octet; else undefined. So it is for nearly all rules, and nothing needs
 * to be copied for them.
 */
function matchingAsWritten(
  { text, unit }: Source,
  { directive, start, end }: WrittenRule,
  path: AskedPath,
  compare: Reading['compare'],
): number | undefined {
  const steady = steadyOctets(compare)
  let at = path.start
  let i = start
  for (; i < end; i++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || (octet === DOLLAR && i === end - 1)) break
    if (steady[octet] === 1) {
      at = at < path.end && path.bytes[at] === octet ? at + 1 : DIFFERS
    } else {
      // A `%` may be decoded. What else is not steady is encoded, in all forms but one.
      if (octet === PERCENT || compare === 'decoded' || (unit === 'character' && isSurrogate(octet))) return undefined
      at = unit === 'octet' || octet < 0x80 ? afterEncoded(path, at, octet) : afterCharacter(path, at, octet)
    }
    if (at === DIFFERS) {
      // `Allow: /dir/index.html` may still speak about `/dir/`.
      return directive === 'allow' && path.bytes[path.end - 1] === SLASH ? undefined : NO_MATCH
    }
  }
  if (i === end) return at - path.start
  const last = text.charCodeAt(end - 1) === DOLLAR ? end - 1 : end
  const bytes = rule.room(end - start)
  for (let k = start; k < last; k++) {
    const octet = text.charCodeAt(k)
    if (steady[octet] !== 1) return undefined
    if (octet !== STAR && directive === 'disallow' && !path.mayHave(octet)) return NO_MATCH
    bytes[k - start] = octet
  }
  if (last < end) bytes[last - start] = DOLLAR
  if (directive === 'allow' && text.slice(start, end).includes(INDEX_PAGE)) return undefined
  return matchesSpecial(path, bytes, 0, end - start) ? end - start : NO_MATCH
}

const DIFFERS = -1
/** Is it half of a character? */
function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

/** Where the path goes on after `%XX` for an octet, or `DIFFERS`. */
function afterEncoded(path: AskedPath, at: number, octet: number): number {
  const { bytes } = path
  const stands =
    at + 3 <= path.end &&
    bytes[at] === PERCENT &&
    bytes[at + 1] === digitOf(octet >> 4) &&
    bytes[at + 2] === digitOf(octet & 15)
  return stands ? at + 3 : DIFFERS
}

/** The same for a character of two or three octets of UTF-8. */
function afterCharacter(path: AskedPath, at: number, character: number): number {
  const isTwo = character < 0x800
  const first = afterEncoded(path, at, isTwo ? 0xc0 | (character >> 6) : 0xe0 | (character >> 12))
  const second = isTwo || first === DIFFERS ? first : afterEncoded(path, first, 0x80 | ((character >> 6) & 0x3f))
  return second === DIFFERS ? DIFFERS : afterEncoded(path, second, 0x80 | (character & 0x3f))
}

/** The rule that is tried. */
const rule = new Scratch()

const DOLLAR = 36
const PERCENT = 37
const STAR = 42
const SLASH = 47
