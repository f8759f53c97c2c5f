// Checks options that are lists of outcomes, for `circuit` and `retry`.
import { OptionError, type PageOutcomeKind } from '@politely/core'
import { outcomesThatMay } from '@politely/core/engine'
import { describeValue, oneOf } from '@politely/fetcher/internal'

const FAILURES = outcomesThatMay('fail')

/** @throws {OptionError} for a value that is not a list of outcomes that may be failures. */
export function failureOutcomes(option: string, outcomes: readonly PageOutcomeKind[]): ReadonlySet<PageOutcomeKind> {
  if (!Array.isArray(outcomes))
    throw new OptionError(
      option,
      `${describeValue(outcomes)} is not a list; expected outcomes such as ['connection', 'server-error']`,
    )
  return new Set(outcomes.map((outcome, n) => oneOf(`${option}[${n}]`, outcome, FAILURES)))
}
