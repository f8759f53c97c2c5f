// The rule that decides one question about a file, found the plain way: each rule is tried, and the strongest one that matches is kept.
// RFC 9309 §2.2.2. Most rules are tried when they are read, since a look at them is enough; what is left is tried here. For more questions,
// see packed-rules.ts and rule-index.ts, which answer the same.
import type { Reading } from '../dialect.ts'
import { Scratch, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { steadyOctets } from '../url/normal-form.ts'
import { digitOf, octetOf, unreserved } from '../url/percent.ts'
import type { WrittenFile, WrittenGroup } from './groups.ts'
import { beginsWith, matchesSpecial } from './pattern.ts'
import { formsOf, INDEX_PAGE, pathOf } from './rule-forms.ts'
import type { WrittenRule } from './written-rules.ts'

/** A rule that matches, and its strength. */
export interface MatchingRule extends WrittenRule {
  /** Of the form in which it matches. */
  readonly octets: number
}

interface DecidingRule {
  readonly rule: MatchingRule
  readonly group: WrittenGroup
}

/** @param file Read for this path: see `groupsOf`. */
export function decidingRule(
  { source, rules }: WrittenFile,
  groups: readonly WrittenGroup[],
  path: AskedPath,
  reading: Reading,
): DecidingRule | undefined {
  let deciding: DecidingRule | undefined
  for (const group of groups) {
    for (let i = group.firstRule; i < group.endOfRules; i++) {
      const written = rules.at(i)
      const octets = matchingOctets(source, written, path, reading)
      if (octets === NO_MATCH || !isStronger(written.directive, octets, written.line, deciding?.rule)) continue
      deciding = { rule: { ...written, octets }, group }
      if (reading.winner === 'first') return deciding
    }
    const { literal } = group
    if (literal === undefined || !isStronger(literal.directive, literal.octets, literal.line, deciding?.rule)) continue
    deciding = { rule: literal, group }
    if (reading.winner === 'first') return deciding
  }
  return deciding
}

/** Most octets, then allow before disallow, then the first line. */
export function isStronger(
  directive: WrittenRule['directive'],
  octets: number,
  line: number,
  other: MatchingRule | undefined,
): boolean {
  if (other === undefined) return true
  if (octets !== other.octets) return octets > other.octets
  return directive === other.directive ? line < other.line : directive === 'allow'
}

/**
 * What a look at a rule tells, from where its path stands: nearly all match as they are written or differ somewhere before their first
 * octet that is special, or has another form.
 *
 * @param steady Which octets have no other form.
 */
export function lookAt(
  path: AskedPath,
  steady: Uint8Array,
  text: string,
  start: number,
  end: number,
): 'matches' | 'differs' | 'unclear' {
  let at = path.start
  for (let i = start; i < end; i++, at++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || octet === DOLLAR || steady[octet] !== 1) return 'unclear'
    // `Allow: /dir/index.html` may speak about `/dir/`.
    if (at === path.end) return octet === INDEX_PAGE.charCodeAt(1) ? 'unclear' : 'differs'
    if (octet !== path.bytes[at]) return 'differs'
  }
  return 'matches'
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
    const before = at
    if (steady[octet] === 1) {
      at = afterOctet(path, at, octet)
    } else if (compare === 'decoded' || (unit === 'character' && isSurrogate(octet))) {
      return undefined
    } else if (octet === PERCENT) {
      const encoded = i + 2 < end ? octetOf(text.charCodeAt(i + 1), text.charCodeAt(i + 2)) : -1
      if (encoded === -1) {
        at = afterOctet(path, at, PERCENT) // a malformed one stays as it is
      } else {
        const isDecoded = compare === 'rfc9309' && unreserved[encoded] === 1
        at = isDecoded ? afterOctet(path, at, encoded) : afterEncoded(path, at, encoded)
        i += 2
      }
    } else {
      at = unit === 'octet' || octet < 0x80 ? afterEncoded(path, at, octet) : afterCharacter(path, at, octet)
    }
    if (at === DIFFERS) {
      // `Allow: /dir/index.html` may still speak about `/dir/`.
      const isFolder = before === path.end && path.bytes[before - 1] === SLASH
      return directive === 'allow' && isFolder ? undefined : NO_MATCH
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

/** Where the path goes on after an octet, or `DIFFERS`. */
function afterOctet(path: AskedPath, at: number, octet: number): number {
  return at < path.end && path.bytes[at] === octet ? at + 1 : DIFFERS
}

/** The same after `%XX` for an octet. */
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
