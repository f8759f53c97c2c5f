// The explanation of a verdict: every rule that matches, and why one of them decides.
import type { Group, Rule, RulesVerdict } from './verdict.ts'

/** Everything in a file that affects the verdict for one URL. JSON-safe. */
export interface Explanation {
  readonly verdict: RulesVerdict
  /**
   * The URL's path and query in normal form, as rules are compared with it; undefined for an
   * invalid URL.
   */
  readonly target: string | undefined
  /** The groups that apply to the crawler, in the order of the file. */
  readonly groups: readonly Group[]
  /** Every rule that matches: the deciding one first, the rest in order of strength. */
  readonly matches: readonly Match[]
  readonly wonBy: WonBy
}

/** A rule that matches. */
export interface Match extends Rule {
  /** The pattern in normal form. */
  readonly form: string
  /** The whole line as written, with its comment; undefined if the file was not kept. */
  readonly source: string | undefined
}

/**
 * Why the deciding rule won:
 *
 * - `no-rule`: no rule matched, and the verdict has the reason.
 * - `only-match`: no other rule matched.
 * - `most-octets`: it is longer than the next rule.
 * - `allow-on-a-tie`: it is as long as the next rule, and allows.
 * - `first-line`: it is as long as the next rule and does the same, and comes first in the file.
 * - `first-match`: in this dialect the first rule that matches decides.
 * @inline
 */
export type WonBy = 'no-rule' | 'only-match' | 'most-octets' | 'allow-on-a-tie' | 'first-line' | 'first-match'

/**
 * Returns why the first of the matching rules decides. @param matching The deciding rule, then the
 * rest in order of strength.
 */
export function wonBy([first, next]: readonly Rule[], winner: 'most-octets' | 'first'): WonBy {
  if (first === undefined) return 'no-rule'
  if (next === undefined) return 'only-match'
  if (winner === 'first') return 'first-match'
  if (first.bytes > next.bytes) return 'most-octets'
  return first.directive === next.directive ? 'first-line' : 'allow-on-a-tie'
}
