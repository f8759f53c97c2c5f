// The rule by which statements are combined into one answer.
import type { Answer, Statement } from './purpose.ts'

/**
 * How the statements about a purpose make its answer.
 *
 * - `nothing-stated`: there are no statements.
 * - `one-statement`: there is one.
 * - `agreement`: all say the same.
 * - `most-restrictive`: they differ, and a refusal counts. Each channel that has a rule for several
 *   statements of its own has this one (draft-ietf-aipref-vocab-08 §5.1, draft-illyes-repext-03 §3),
 *   except TDMRep, whose last carrier counts. Across channels it is our choice.
 * @inline
 */
export type Combination = 'nothing-stated' | 'one-statement' | 'agreement' | 'most-restrictive'

/** Returns the answer of statements about one purpose. */
export function combinedAnswer(statements: readonly Pick<Statement, 'answer'>[]): Answer {
  if (statements.some(({ answer }) => answer === 'disallowed')) return 'disallowed'
  return statements.length > 0 ? 'allowed' : 'unstated'
}

export function combinationOf(statements: readonly Pick<Statement, 'answer'>[]): Combination {
  if (statements.length < 2) return statements.length === 0 ? 'nothing-stated' : 'one-statement'
  return statements.every(({ answer }) => answer === statements[0]?.answer) ? 'agreement' : 'most-restrictive'
}
