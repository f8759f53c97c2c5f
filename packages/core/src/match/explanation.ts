// Why a verdict is what it is: every rule that matches, and why the deciding one won.
import type { Group, Rule, RulesVerdict } from './verdict.ts'

/** What of a file is relevant to one URL. JSON-safe. */
export interface Explanation {
  readonly verdict: RulesVerdict
  /** The URL's path and query in the form in which rules are compared with it; undefined for an invalid URL. */
  readonly target: string | undefined
  /** The groups that hold for the crawler, in the order of the file. */
  readonly groups: readonly Group[]
  /** Every rule that matches, the deciding one first and the rest in order of strength. */
  readonly matches: readonly Match[]
  readonly wonBy: WonBy
}

/** A rule that matches. */
export interface Match extends Rule {
  /** Its path in the form for comparing. */
  readonly form: string
  /** Its whole line in the file, with its comment; undefined where the file was not kept. */
  readonly source: string | undefined
}

/**
 * What decided. `no-rule`: no rule matched; the verdict has the reason. `only-match`: one rule matched. `most-octets`: it is longer than the
 * next one. `allow-on-a-tie`: it is as long, and allows. `first-line`: it says the same as the next one, and stands before it. `first-match`:
 * the dialect takes the first rule that matches.
 */
export type WonBy = 'no-rule' | 'only-match' | 'most-octets' | 'allow-on-a-tie' | 'first-line' | 'first-match'

/** @param matching The rules that match, the deciding one first and the next in strength behind it. */
export function wonBy([first, next]: readonly Rule[], winner: 'most-octets' | 'first'): WonBy {
  if (first === undefined) return 'no-rule'
  if (next === undefined) return 'only-match'
  if (winner === 'first') return 'first-match'
  if (first.bytes > next.bytes) return 'most-octets'
  return first.directive === next.directive ? 'first-line' : 'allow-on-a-tie'
}
