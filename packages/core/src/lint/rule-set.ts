// Checks the rules of one group together: finds rules that never decide. RFC 9309 §2.2.2.
//
// Reports only what is easy to prove. Each rule takes one look-up and one place in a sort, so the
// time is O(n log n) for any file.

import type { ParsingRules } from '../dialect.ts'
import type { ParsedGroup, ParsedRule } from '../parse/records.ts'
import { END, formsOf, type RuleForm } from '../parse/rule-forms.ts'
import type { ReportFinding } from './finding.ts'
import { valueNamesEveryone } from './name.ts'

/** A rule that has a path. */
interface PathRule extends RuleForm {
  readonly line: number
  /** Whether it also allows the folder of an index page. */
  readonly hasFolder: boolean
}

/**
 * @param isAlone Whether no other group is merged with this one, so that crawlers obey these rules
 * only.
 */
export function lintRuleSet(group: ParsedGroup, isAlone: boolean, parsing: ParsingRules, report: ReportFinding): void {
  const rules = group.rules.filter(({ value }) => value !== '').map((rule) => pathRule(rule, parsing))
  const empty = group.rules.filter(({ value }) => value === '')
  // In dialects in which an empty rule allows everything, it is an Allow.
  const isEmptyStrong = parsing.emptyRules === 'allows-all' && empty.length > 0
  if (rules.length > 0 && !isEmptyStrong) {
    for (const { field, line } of empty) if (field === 'disallow') report('empty-disallow-beside-rules', line)
  }
  lintEquivalentRules(rules, parsing, report)
  if (!isAlone) return
  const allow = rules.find(({ allows }) => allows)
  const disallow = rules.find(({ allows }) => !allows)
  if (disallow === undefined && allow !== undefined) report('allow-without-disallow', allow.line)
  if (allow !== undefined || isEmptyStrong) return
  lintRedundantRules(rules, report)
  const blocking = rules.find(({ base }) => base === '/')
  if (blocking !== undefined && group.agents.some(valueNamesEveryone)) report('blocks-everything', blocking.line)
}

function pathRule(rule: ParsedRule, parsing: ParsingRules): PathRule {
  const [form, folder] = formsOf(rule, parsing)
  return { ...(form as RuleForm), line: rule.line, hasFolder: folder !== undefined }
}

/**
 * Reports rules that match the same paths. Of several Allows or several Disallows the longest
 * counts, and the first of equally long ones. Of an Allow and a Disallow the longer decides, and
 * the Allow on a tie. In dialects in which the first rule that matches decides, the first counts.
 */
function lintEquivalentRules(rules: readonly PathRule[], { winner }: ParsingRules, report: ReportFinding): void {
  const strongest = { allow: new Map<string, PathRule>(), disallow: new Map<string, PathRule>() }
  for (const rule of rules) {
    const ofKind = strongest[rule.allows ? 'allow' : 'disallow']
    const other = ofKind.get(rule.base)
    const isStronger = other === undefined || (winner === 'most-octets' && rule.length > other.length)
    if (isStronger) ofKind.set(rule.base, rule)
    if (other !== undefined) report('duplicate-rule', isStronger ? other.line : rule.line)
  }
  if (winner === 'first') return
  for (const [base, allow] of strongest.allow) {
    const disallow = strongest.disallow.get(base)
    if (disallow === undefined) continue
    const longer = allow.length - disallow.length
    if (longer === 0) report('conflicting-rules', Math.max(allow.line, disallow.line))
    else if (longer > 0) report('shadowed-rule', disallow.line)
    else if (!allow.hasFolder) report('shadowed-rule', allow.line)
  }
}

/**
 * Reports redundant rules in a group without Allow. A rule is redundant if its path begins with the
 * path of another rule. In sorted order, redundant rules come directly after that other rule.
 */
function lintRedundantRules(rules: readonly PathRule[], report: ReportFinding): void {
  let cover: string | undefined
  for (const { base, line } of rules.toSorted((a, b) => (a.base < b.base ? -1 : Number(a.base > b.base)))) {
    if (base === cover) continue // a duplicate
    if (cover !== undefined && base.startsWith(cover)) report('redundant-rule', line)
    else cover = base.includes('*') || base.endsWith(END) ? undefined : base
  }
}
