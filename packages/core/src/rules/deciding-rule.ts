// The rule that decides, found the plain way: each rule is brought to the form for comparing and tried, and the strongest one
// that matches is kept. RFC 9309 §2.2.2. This is for one question about a file; for more, see packed-rules.ts and rule-index.ts, which
// answer the same.
import type { Reading } from '../dialect.ts'
import { Scratch, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { steadyOctets } from '../url/normal-form.ts'
import type { WrittenGroup, WrittenRule } from './groups.ts'
import { beginsWith, matchesSpecial } from './pattern.ts'
import { formsOf, INDEX_PAGE, pathOf } from './rule-forms.ts'

export interface DecidingRule {
  readonly written: WrittenRule
  readonly group: WrittenGroup
  /** Octets of its path in the form for comparing: its strength. */
  readonly octets: number
}

export function decidingRule(
  source: Source,
  groups: readonly WrittenGroup[],
  path: AskedPath,
  reading: Reading,
): DecidingRule | undefined {
  let strongest: DecidingRule | undefined
  for (const group of groups) {
    for (const written of group.rules) {
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

const NO_MATCH = -1

/** How many octets the rule's form has, if it matches. */
function matchingOctets(
  source: Source,
  written: WrittenRule,
  path: AskedPath,
  reading: Reading,
): number {
  if (written.start === written.end && reading.emptyRules === 'nothing') return NO_MATCH
  if (reading.wildcards === 'special') {
    const octets = matchingAsWritten(source.text, written, path, steadyOctets(reading.compare))
    if (octets !== undefined) return octets
  }
  for (const { octets, isSpecial } of formsOf(pathOf(source, written), written, reading)) {
    if ((isSpecial ? matchesSpecial : beginsWith)(path, rule.put(octets), 0, octets.length)) return octets.length
  }
  return NO_MATCH
}

/**
 * The same where it can be told from the path as written, since the form does not change the octets that tell it; else undefined. So it
 * is for nearly all rules, and nothing needs to be copied for them.
 */
function matchingAsWritten(
  text: string,
  { directive, start, end }: WrittenRule,
  path: AskedPath,
  steady: Uint8Array,
): number | undefined {
  let i = start
  while (i < end) {
    const octet = text.charCodeAt(i)
    if (octet === STAR || (octet === DOLLAR && i === end - 1)) break
    if (steady[octet] !== 1) return undefined
    if (i - start >= path.length || octet !== path.bytes[path.start + i - start]) {
      // `Allow: /dir/index.html` may still speak about `/dir/`.
      const mayBeFolder = directive === 'allow' && i - start >= path.length && path.bytes[path.end - 1] === SLASH
      return mayBeFolder ? undefined : NO_MATCH
    }
    i++
  }
  if (i === end) return end - start
  const last = text.charCodeAt(end - 1) === DOLLAR ? end - 1 : end
  for (; i < last; i++) if (steady[text.charCodeAt(i)] !== 1) return undefined
  if (directive === 'allow' && text.slice(start, end).includes(INDEX_PAGE)) return undefined
  return matchesSpecial(path, rule.put(text.slice(start, end)), 0, end - start) ? end - start : NO_MATCH
}

/** The rule that is tried. */
const rule = new Scratch()

const DOLLAR = 36
const STAR = 42
const SLASH = 47
