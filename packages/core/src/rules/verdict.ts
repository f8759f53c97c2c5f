// The answer, with its reason. Every part is JSON-safe.
import { textOf } from '../octets.ts'
import type { UrlProblem } from '../url/origin.ts'

/** The rule that decided. */
export interface Rule {
  readonly directive: 'allow' | 'disallow'
  /** The path as the file has it, decoded from UTF-8. */
  readonly text: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /** How specific the match is: octets of the path in the form for comparing, wildcards included. RFC 9309 §2.2.2. */
  readonly octets: number
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
  /** The crawler has a group (the first one is given), and nothing in its groups matches. RFC 9309 §2.2.2. */
  | { readonly allowed: true; readonly because: 'no-rule-matched'; readonly group: Group }
  /** No group names the crawler or everyone. RFC 9309 §2.2.1. */
  | { readonly allowed: true; readonly because: 'no-group' }
  /** RFC 9309 §2.2.2: `/robots.txt` itself is always allowed. */
  | { readonly allowed: true; readonly because: 'robots-txt-itself' }
  /** The URL belongs to `origin`, and this file speaks for `fileOrigin` only. RFC 9309 §2.3. */
  | { readonly allowed: false; readonly because: 'other-origin'; readonly origin: string; readonly fileOrigin: string }
  | InvalidUrl

/** What was asked about is no URL that a robots.txt could speak about. */
export interface InvalidUrl {
  readonly allowed: false
  readonly because: 'invalid-url'
  readonly problem: UrlProblem
}

/** The verdict by the rule that decides. One without a path matches everything and forbids nothing. §2.2.2. */
export function verdictByRule(rule: Rule, group: Group): RulesVerdict {
  return { allowed: rule.directive === 'allow' || rule.text === '', because: 'rule', rule, group }
}

/** The verdict where no rule matches. @param group The first of the crawler's groups, if it has any. */
export function verdictWithoutRule(group: Group | undefined): RulesVerdict {
  if (group === undefined) return { allowed: true, because: 'no-group' }
  return { allowed: true, because: 'no-rule-matched', group }
}

/** A group of octets, for people. */
export function groupOf({ agents, line }: { readonly agents: readonly string[]; readonly line: number }): Group {
  return { agents: agents.map(textOf), line }
}
