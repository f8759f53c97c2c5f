// Checks the rules of one group together: finds rules that never decide. RFC 9309 §2.2.2.
//
// Reports only what is easy to prove. Each rule takes one look-up and one place in a sort, so the
// time is O(n log n) for any file.

import type { ParsedGroup, ParsedRule } from '../parse/records.ts'
import { ruleForm } from '../url/normal-form.ts'
import type { Report } from './finding.ts'
import { namesEveryone } from './name.ts'

/** A rule that has a path. */
interface PathRule extends ParsedRule {
  readonly form: string
  /** The shortest form that matches the same paths. */
  readonly base: string
}

/**
 * @param isAlone Whether no other group is merged with this one, so that crawlers obey these rules
 * only.
 */
export function lintRuleSet(group: ParsedGroup, isAlone: boolean, report: Report): void {
  const rules = group.rules.filter(({ path }) => path !== '').map(withForm)
  if (rules.length > 0) {
    for (const { directive, path, line } of group.rules) {
      if (directive === 'disallow' && path === '') report('empty-disallow-beside-rules', line)
    }
  }
  lintEquivalentRules(rules, report)
  if (!isAlone) return
  const allow = rules.find(({ directive }) => directive === 'allow')
  const disallow = rules.find(({ directive }) => directive === 'disallow')
  if (disallow === undefined && allow !== undefined) report('allow-without-disallow', allow.line)
  if (allow !== undefined) return
  lintRedundantRules(rules, report)
  const blocking = rules.find(({ base }) => base === '/')
  if (blocking !== undefined && group.agents.some(namesEveryone)) report('blocks-everything', blocking.line)
}

function withForm(rule: ParsedRule): PathRule {
  const form = ruleForm(rule.path)
  return { ...rule, form, base: baseOf(form) }
}

/**
 * Returns the shortest form that matches the same paths. Repeated stars match what one star does. A
 * star at the end, or before a final `$`, can be left out.
 */
export function baseOf(form: string): string {
  return form.replace(/\*+/g, '*').replace(/\*\$?$/, '') || '/'
}

/**
 * Reports rules that match the same paths. Of several Allows or several Disallows the longest
 * counts, and the first of equally long ones. Of an Allow and a Disallow the longer decides, and
 * the Allow on a tie.
 */
function lintEquivalentRules(rules: readonly PathRule[], report: Report): void {
  const strongest = { allow: new Map<string, PathRule>(), disallow: new Map<string, PathRule>() }
  for (const rule of rules) {
    const ofKind = strongest[rule.directive]
    const other = ofKind.get(rule.base)
    const isStronger = other === undefined || rule.form.length > other.form.length
    if (isStronger) ofKind.set(rule.base, rule)
    if (other !== undefined) report('duplicate-rule', isStronger ? other.line : rule.line)
  }
  for (const [base, allow] of strongest.allow) {
    const disallow = strongest.disallow.get(base)
    if (disallow === undefined) continue
    const longer = allow.form.length - disallow.form.length
    if (longer === 0) report('conflicting-rules', Math.max(allow.line, disallow.line))
    else report('shadowed-rule', longer < 0 ? allow.line : disallow.line)
  }
}

/**
 * Reports redundant rules in a group without Allow. A rule is redundant if its path begins with the
 * path of another rule. In sorted order, redundant rules come directly after that other rule.
 */
function lintRedundantRules(rules: readonly PathRule[], report: Report): void {
  let cover: string | undefined
  for (const { base, line } of rules.toSorted((a, b) => (a.base < b.base ? -1 : Number(a.base > b.base)))) {
    if (base === cover) continue // a duplicate
    if (cover !== undefined && base.startsWith(cover)) report('redundant-rule', line)
    else cover = /[*$]/.test(base) ? undefined : base
  }
}
