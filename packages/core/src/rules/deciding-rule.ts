// The rule that decides, found the plain way: each rule is brought to the form for comparing and tried, and the strongest one
// that matches is kept. RFC 9309 §2.2.2. This is for one question about a file, and done while the file is read; for more, see
// packed-rules.ts and rule-index.ts, which answer the same.
import type { Reading } from '../dialect.ts'
import { octetsBetween, Scratch, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { steadyOctets } from '../url/normal-form.ts'
import { digitOf, octetOf, unreserved } from '../url/percent.ts'
import type { WrittenGroup } from './groups.ts'
import { beginsWith, matchesSpecial } from './pattern.ts'
import { formsOf, INDEX_PAGE } from './rule-forms.ts'
import type { WrittenRule } from './written-rules.ts'

/** A rule that matches. */
export interface MatchingRule extends WrittenRule {
  /** Octets of its path in the form for comparing: its strength. */
  readonly octets: number
}

/** The rule that decides, and the group that it stands in. */
export interface DecidingRule {
  readonly rule: MatchingRule
  readonly group: WrittenGroup
}

/** The strongest of what is strongest in each of a crawler's groups. */
export function decidingRule(groups: readonly WrittenGroup[], reading: Reading): DecidingRule | undefined {
  let deciding: DecidingRule | undefined
  for (const group of groups) {
    const rule = group.strongest
    if (rule !== undefined && decides(rule.directive, rule.octets, deciding?.rule, reading)) deciding = { rule, group }
  }
  return deciding
}

/**
 * Whether a rule decides, rather than the one that did so far: most octets, then allow before disallow, then the first line.
 *
 * @param octets From `matchingOctets`.
 */
export function decides(
  directive: WrittenRule['directive'],
  octets: number,
  soFar: MatchingRule | undefined,
  { winner }: Reading,
): boolean {
  if (octets === NO_MATCH) return false
  if (soFar === undefined) return true
  if (winner === 'first') return false
  return octets === soFar.octets ? directive === 'allow' && soFar.directive === 'disallow' : octets > soFar.octets
}

const NO_MATCH = -1

/** How many octets the form has in which a rule matches a path, if it does. */
export function matchingOctets(
  source: Source,
  directive: WrittenRule['directive'],
  start: number,
  end: number,
  path: AskedPath,
  reading: Reading,
): number {
  if (start === end && reading.emptyRules === 'nothing') return NO_MATCH
  if (reading.wildcards === 'special') {
    const octets = matchingAsWritten(source, directive, start, end, path, reading.compare)
    if (octets !== undefined) return octets
  }
  for (const { octets, isSpecial } of formsOf(octetsBetween(source, start, end), directive, reading)) {
    if ((isSpecial ? matchesSpecial : beginsWith)(path, rule.put(octets), 0, octets.length)) return octets.length
  }
  return NO_MATCH
}

/**
 * The same where it can be told from the path as written, octet by octet; else undefined. So it is for nearly all rules, and nothing needs
 * to be copied for them.
 */
function matchingAsWritten(
  source: Source,
  directive: WrittenRule['directive'],
  start: number,
  end: number,
  path: AskedPath,
  compare: Reading['compare'],
): number | undefined {
  const { text } = source
  const steady = steadyOctets(compare)
  let at = path.start
  for (let i = start; i < end; i++, at++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || octet === DOLLAR || steady[octet] !== 1) {
      return matchingFrom(i, at, source, directive, start, end, path, compare)
    }
    if (at === path.end || octet !== path.bytes[at]) return differingAt(at, octet, directive, path)
  }
  return end - start
}

/** What the answer is where a rule's octet is not the path's, and all before it are. */
function differingAt(
  at: number,
  octet: number,
  directive: WrittenRule['directive'],
  path: AskedPath,
): number | undefined {
  // `Allow: /dir/index.html` may still speak about `/dir/`.
  const isFolder = directive === 'allow' && at === path.end && path.bytes[at - 1] === SLASH
  return isFolder && (octet === INDEX_PAGE.charCodeAt(1) || octet === PERCENT) ? undefined : NO_MATCH
}

/** The same from a place on in the rule, and in the path: apart, so that the loop before it is short enough to be compiled into its caller. */
function matchingFrom(
  from: number,
  pathFrom: number,
  { text, unit }: Source,
  directive: WrittenRule['directive'],
  start: number,
  end: number,
  path: AskedPath,
  compare: Reading['compare'],
): number | undefined {
  const steady = steadyOctets(compare)
  let at = pathFrom
  let i = from
  for (; i < end; i++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || (octet === DOLLAR && i === end - 1)) break
    let next: number
    if (steady[octet] === 1) {
      next = afterOctet(path, at, octet)
    } else if (compare === 'decoded' || (unit === 'character' && isSurrogate(octet))) {
      return undefined
    } else if (octet === PERCENT) {
      const encoded = i + 2 < end ? octetOf(text.charCodeAt(i + 1), text.charCodeAt(i + 2)) : -1
      if (encoded === -1) {
        next = afterOctet(path, at, PERCENT) // a malformed one stays as it is
      } else {
        const isDecoded = compare === 'rfc9309' && unreserved[encoded] === 1
        next = isDecoded ? afterOctet(path, at, encoded) : afterEncoded(path, at, encoded)
        i += 2
      }
    } else {
      next = unit === 'octet' || octet < 0x80 ? afterEncoded(path, at, octet) : afterCharacter(path, at, octet)
    }
    if (next === DIFFERS) return differingAt(at, octet, directive, path)
    at = next
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
