// A crawler's rules in order of strength, so that the first one that matches is the one that decides. RFC 9309 §2.2.2.
import type { Reading } from '../dialect.ts'
import { octetsOf, Scratch, type Source } from '../octets.ts'
import { steadyOctets } from '../url/normal-form.ts'
import type { WrittenFile, WrittenGroup } from './groups.ts'
import { MOST_OVERHEAD, numberOctets, putHead, putNumber } from './packed-rules.ts'
import { formsOf, INDEX_PAGE, pathOf } from './rule-forms.ts'
import type { WrittenRule } from './written-rules.ts'

interface RankedRule {
  readonly written: WrittenRule
  /** Its group, counted from 0. */
  readonly group: number
  /** Octets of the path in the form for comparing, wildcards included: its strength. */
  readonly octets: number
  /** Whether `*` or a final `$` is special in it. */
  readonly isSpecial: boolean
  /** That form, and the path as written; absent where they are the same, and stand in the file so. */
  readonly apart: { readonly form: string; readonly path: string } | undefined
}

/** The rules and, from `groupsAt` on, the groups that they stand in. */
export interface PackedRules {
  readonly packed: string
  readonly groupsAt: number
}

const scratch = new Scratch()

/**
 * Packs the rules of a crawler's groups in order of strength: of rules that match, the first decides. Most octets first, allow
 * before disallow, then the first line; or, for who takes the first match, just as they stand.
 */
export function packRules(
  { source, rules: written }: WrittenFile,
  groups: readonly WrittenGroup[],
  reading: Reading,
): PackedRules {
  const rules: RankedRule[] = []
  for (let g = 0; g < groups.length; g++) {
    const { firstRule, endOfRules } = groups[g] as WrittenGroup
    for (let i = firstRule; i < endOfRules; i++) rank(written.at(i), g, source, reading, rules)
  }
  const into = scratch.room(mostOctets(rules, groups))
  let at = 0
  for (const { written, group, octets, isSpecial, apart } of reading.winner === 'first' ? rules : byStrength(rules)) {
    const { directive, start, end, line } = written
    const path = apart?.path ?? ''
    at = putHead(into, at, directive, isSpecial, octets, numberOctets(line) + numberOctets(group) + path.length)
    at = apart === undefined ? putText(into, at, source.text, start, end) : putText(into, at, apart.form, 0, octets)
    at = putNumber(into, putNumber(into, at, line), group)
    at = putText(into, at, path, 0, path.length)
  }
  const groupsAt = at
  for (const { agents, line } of groups) {
    at = putNumber(into, putNumber(into, at, line), agents.length)
    for (const agent of agents) at = putText(into, putNumber(into, at, agent.length), agent, 0, agent.length)
  }
  return { packed: octetsOf(into.subarray(0, at)), groupsAt }
}

function mostOctets(rules: readonly RankedRule[], groups: readonly WrittenGroup[]): number {
  let most = 0
  for (const { octets, apart } of rules) most += MOST_OVERHEAD + octets + (apart?.path.length ?? 0)
  for (const { agents } of groups) for (const agent of agents) most += MOST_OVERHEAD + agent.length
  return most + MOST_OVERHEAD * groups.length
}

function putText(into: Uint8Array, at: number, octets: string, start: number, end: number): number {
  for (let i = start; i < end; i++) into[at + i - start] = octets.charCodeAt(i)
  return at + end - start
}

function rank(written: WrittenRule, group: number, source: Source, reading: Reading, rules: RankedRule[]): void {
  const { text } = source
  const { directive, start, end } = written
  if (start === end && reading.emptyRules === 'nothing') return
  const steady = steadyOctets(reading.compare)
  const hasEnd = end > start && text.charCodeAt(end - 1) === DOLLAR
  const middle = hasEnd ? end - 1 : end // a final `$` stays
  let isSpecial = hasEnd
  let slash = start
  let i = start
  for (; i < middle; i++) {
    const octet = text.charCodeAt(i)
    if (octet === STAR) isSpecial = true
    else if (octet === SLASH) slash = i
    if (steady[octet] !== 1) break
  }
  const areSpecial = reading.wildcards === 'special'
  if (i === middle && !(directive === 'allow' && text.startsWith(INDEX_PAGE, slash))) {
    rules.push({ written, group, octets: end - start, isSpecial: areSpecial && isSpecial, apart: undefined })
    return
  }
  const path = pathOf(source, written)
  for (const { octets: form, isSpecial: isFormSpecial } of formsOf(path, written, reading)) {
    const apart = form === path && path.length === end - start ? undefined : { form, path }
    rules.push({ written, group, octets: form.length, isSpecial: isFormSpecial, apart })
  }
}

const DOLLAR = 36
const SLASH = 47
const STAR = 42

/**
 * The order of strength. Each rule becomes one number, in which strength counts first and its turn second: to sort numbers takes a third
 * of the time that asking a comparator does.
 */
function byStrength(rules: readonly RankedRule[]): readonly RankedRule[] {
  if (rules.length < 2) return rules
  const keys = new Float64Array(rules.length)
  for (let turn = 0; turn < rules.length; turn++) {
    const { octets, written } = rules[turn] as RankedRule
    keys[turn] = (2 * octets + (written.directive === 'allow' ? 1 : 0)) * -TURNS + turn
  }
  keys.sort()
  const ranked: RankedRule[] = []
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number
    ranked.push(rules[key - Math.floor(key / TURNS) * TURNS] as RankedRule)
  }
  return ranked
}

/** More than a file can have rules: 2 to the 30, of at least 8 octets each. Strength takes 20 bits more. */
const TURNS = 2 ** 30
