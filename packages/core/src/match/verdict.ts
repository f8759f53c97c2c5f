// The answer to a question, with its reason. Every part is JSON-safe.
import { textOf } from '../bytes.ts'
import type { UrlProblem } from '../url/origin.ts'
import type { PackedGroup, PackedRule } from './packed-rules.ts'

/** The rule that decided. */
export interface Rule {
  readonly directive: 'allow' | 'disallow'
  /** The path as the file has it, decoded from UTF-8. */
  readonly text: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /** How specific the match is: bytes of the path in the form for comparing, wildcards included ("octets" in RFC 9309 §2.2.2). */
  readonly bytes: number
}

/** A group of the file. */
export interface Group {
  /** The values of its user-agent lines as the file has them, decoded from UTF-8. */
  readonly agents: readonly string[]
  /** The line of the first of them, counted from 1. */
  readonly line: number
}

/** What the rules of one file say about one URL. */
export type RulesVerdict =
  /** The most specific rule that matches; allow wins a tie (RFC 9309 §2.2.2). In dialects of the nineties the first that matches. */
  | { readonly allowed: boolean; readonly because: 'rule'; readonly rule: Rule; readonly group: Group }
  /** The crawler has a group (the first one is given), and no rule of its groups matches. RFC 9309 §2.2.2. */
  | { readonly allowed: true; readonly because: 'no-rule-matched'; readonly group: Group }
  /** No group names the crawler, and none is for all crawlers. RFC 9309 §2.2.1. */
  | { readonly allowed: true; readonly because: 'no-group' }
  /** RFC 9309 §2.2.2: `/robots.txt` itself is always allowed. */
  | { readonly allowed: true; readonly because: 'robots-txt-itself' }
  /** The URL belongs to `origin`, and this file speaks for `fileOrigin` only. RFC 9309 §2.3. */
  | { readonly allowed: false; readonly because: 'other-origin'; readonly origin: string; readonly fileOrigin: string }
  | InvalidUrl

/** The URL is invalid, or of a scheme without robots.txt. */
export interface InvalidUrl {
  readonly allowed: false
  readonly because: 'invalid-url'
  readonly problem: UrlProblem
}

/** The verdict by the rule that decides. A rule without a path matches every URL and forbids none. §2.2.2. */
export function verdictByRule(rule: Rule, group: Group): RulesVerdict {
  return { allowed: rule.directive === 'allow' || rule.text === '', because: 'rule', rule, group }
}

/** The verdict where no rule matches. @param group The first of the crawler's groups, if it has any. */
export function verdictWithoutRule(group: Group | undefined): RulesVerdict {
  if (group === undefined) return { allowed: true, because: 'no-group' }
  return { allowed: true, because: 'no-rule-matched', group }
}

/** A packed rule, decoded from UTF-8. */
export function ruleOf({ directive, written, line, form }: PackedRule): Rule {
  return { directive, text: textOf(written), line, bytes: form.length }
}

/** A packed group, decoded from UTF-8. */
export function groupOf({ agents, line }: PackedGroup): Group {
  return { agents: agents.map(textOf), line }
}
