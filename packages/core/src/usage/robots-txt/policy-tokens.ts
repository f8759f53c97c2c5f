// Policy tokens: names of groups in robots.txt that stand for a use and not for a crawler.
// Experimental. draft-kelley-aipref-training-preference-signal-00, of which we know the abstract
// only: "ordinary groups keyed by a per-purpose policy token in the User-Agent line", with no new
// field and no new grammar. So the caller says which token stands for which purpose, and whether the
// groups for `*` apply to it.
import { describeValue } from '../../describe-value.ts'
import { OptionError } from '../../errors.ts'
import { isProductToken } from '../../parse/user-agent-name.ts'
import type { Robots } from '../../robots.ts'
import { type Purpose, purposes, type Statement, usageSourceOf } from '../purpose.ts'

/** A name in robots.txt that stands for a use. Experimental: it may change in any version. */
export interface PolicyToken {
  /** As user-agent lines write it: letters, digits, `_` and `-`. */
  readonly token: string
  readonly purpose: Purpose
  /** What applies to the token if no group names it: with `star` the groups for `*`, with `none` nothing. Required. */
  readonly fallback: 'none' | 'star'
}

/** The key of the draft in `usageDocuments`. */
export const POLICY_TOKENS = 'policy-token-kelley-00'

/**
 * Returns what the groups of policy tokens state about a URL. Only a rule that matches the URL states
 * something: `Disallow` refuses the purpose, `Allow` permits it.
 *
 * @throws {OptionError} for an invalid token.
 */
export function policyStatements(
  robots: Robots | undefined,
  url: string,
  tokens: readonly PolicyToken[] = [],
): readonly Statement[] {
  if (!Array.isArray(tokens)) fail(`${describeValue(tokens)} is not a list`)
  return tokens.flatMap((given: PolicyToken): readonly Statement[] => {
    const { token, purpose, fallback } = checked(given)
    if (robots === undefined) return []
    const { dialect } = robots
    const file =
      fallback === 'star'
        ? robots
        : robots.inDialect({ ...dialect, parsing: { ...dialect.parsing, groupsForAll: 'ignored' } })
    const verdict = file.check(url, token)
    if (verdict.because !== 'rule') return []
    const { directive, text, line } = verdict.rule
    const label = `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${text}`
    const source = usageSourceOf('policy-token', 'robots.txt', token, label, line)
    return [{ purpose, answer: verdict.allowed ? 'allowed' : 'disallowed', label, vocabulary: POLICY_TOKENS, source }]
  })
}

function checked(given: PolicyToken): PolicyToken {
  if (typeof given !== 'object' || given === null) fail(`${describeValue(given)} is not a policy token`)
  const { token, purpose, fallback } = given
  if (!isProductToken(token)) fail(`token: ${describeValue(token)} is not a product token`)
  if (!purposes.includes(purpose)) fail(`purpose: ${describeValue(purpose)} is not one of ${purposes.join(', ')}`)
  if (fallback !== 'none' && fallback !== 'star')
    fail(`fallback: ${describeValue(fallback)} is neither "none" nor "star"`)
  return given
}

function fail(problem: string): never {
  throw new OptionError(
    'policyTokens',
    `${problem}; write [{ token: "example-training", purpose: "train-ai", fallback: "none" }]`,
  )
}
