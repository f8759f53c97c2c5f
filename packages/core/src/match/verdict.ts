// The verdict of the rules on one URL, with its reason. All types here are JSON-safe.
import type { UrlProblem } from '../url/url-problem.ts'

/** A rule, as a verdict shows it. */
export interface Rule {
  readonly directive: 'allow' | 'disallow'
  /** The pattern as written in the file, decoded from UTF-8. */
  readonly text: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /**
   * The length of the pattern in normal form, with wildcards. A longer pattern is more specific
   * ("most octets" in RFC 9309 §2.2.2).
   */
  readonly bytes: number
}

/** A group of the file. */
export interface Group {
  /** The values of its user-agent lines as written in the file, decoded from UTF-8. */
  readonly agents: readonly string[]
  /** The line of its first user-agent line, counted from 1. */
  readonly line: number
}

/** Whether the rules of one file allow one URL, and why. */
export type RulesVerdict =
  /**
   * A rule decides: the most specific one that matches; allow wins a tie (RFC 9309 §2.2.2). In the
   * two oldest dialects the first that matches.
   */
  | { readonly allowed: boolean; readonly because: 'rule'; readonly rule: Rule; readonly group: Group }
  /**
   * Groups apply to the crawler, and none of their rules matches. `group` is the first of them.
   * RFC 9309 §2.2.2.
   */
  | { readonly allowed: true; readonly because: 'no-rule-matched'; readonly group: Group }
  /** No group applies: none names the crawler, and none is for all crawlers.
   * `productTokens` are the crawler's names. `ignoresGroupsForAll` if the dialect ignores the
   * groups for all crawlers. RFC 9309 §2.2.1. */
  | {
      readonly allowed: true
      readonly because: 'no-group'
      readonly productTokens?: readonly string[]
      readonly ignoresGroupsForAll?: true
    }
  /** The URL is `/robots.txt`, which is always allowed. RFC 9309 §2.2.2. */
  | { readonly allowed: true; readonly because: 'robots-txt-itself' }
  /** The URL belongs to `origin`, and this file applies to `fileOrigin` only. RFC 9309 §2.3. */
  | { readonly allowed: false; readonly because: 'other-origin'; readonly origin: string; readonly fileOrigin: string }
  | InvalidUrl

/** The URL is invalid, or its scheme has no robots.txt. */
export interface InvalidUrl {
  readonly allowed: false
  readonly because: 'invalid-url'
  /** The URL as the caller gave it. */
  readonly url: string
  readonly problem: UrlProblem
}
