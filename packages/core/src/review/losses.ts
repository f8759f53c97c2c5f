// Sentences about rules that lost, and about dialects that decide differently: for
// `politely explain` and the playground.
import type { Deviation } from '../dialect.ts'
import type { Match, WonBy } from '../match/explanation.ts'

/** Says why a rule that matches does not decide. RFC 9309 §2.2.2. */
export function lossOf(match: Match, winner: Match, wonBy: WonBy): string {
  if (wonBy === 'first-match') return 'comes later; in this dialect the first rule that matches decides'
  if (match.bytes < winner.bytes) return `shorter: ${match.bytes} bytes, and line ${winner.line} has ${winner.bytes}`
  if (match.directive !== winner.directive) return `as long as line ${winner.line}, and Allow wins a tie`
  const what = match.form === winner.form ? 'the same as' : 'as long as'
  return `${what} line ${winner.line}, which comes first`
}

/** What a dialect does differently, by question and answer. */
export const differences: Readonly<Record<string, string>> = {
  'keys: exact': 'fields must be spelled exactly',
  'groupEnd: blank-line': 'a blank line ends a group',
  'agents: token': 'a digit ends the name in a user-agent line',
  'agents: whole-value': 'a user-agent line must equal the name of the crawler',
  'agents: name': 'a user-agent line must equal the name of the crawler',
  'agents: substring': 'a user-agent line may be a part of the name of the crawler',
  'severalTokens: all': 'the groups of all product tokens apply',
  'groups: first-for-all': 'only the first group for * applies',
  'groups: first': 'only the first group applies',
  'winner: first': 'the first rule that matches decides',
  'allow: unknown': 'Allow is an unknown field',
  'wildcards: literal': '* and $ have no special meaning',
  'compare: decoded': 'paths are compared after decoding',
  'compare: plain': 'paths are compared as they are written',
  'compare: google': 'paths are compared as they are written',
  'emptyRules: reported': 'an empty rule is named if no other matches',
  'emptyRules: allows-all': 'an empty rule allows everything',
  'indexPages: plain': 'Allow: /index.html does not allow /',
  'robotsTxtItself: by-rules': 'rules also apply to /robots.txt',
}

/** Says in a few words what each deviation of a dialect does. */
export function describeDeviations(parts: readonly Deviation[]): string {
  return parts.map(({ question, answer }) => differences[`${question}: ${answer}`] ?? question).join(', ')
}
