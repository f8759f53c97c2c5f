// Comments that suppress findings of `politely lint`.
import { ignoredFindings } from '@politely/core/review'
import { UsageError } from '../../errors.ts'

/**
 * Returns the codes that comments suppress, by line.
 * @throws {UsageError} for an unknown code, which would otherwise suppress nothing in silence.
 */
export function ignoredIn(lines: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const { byLine, unknown } = ignoredFindings(lines)
  if (unknown === undefined) return byLine
  throw new UsageError(
    `line ${unknown.line}: politely-ignore: ${JSON.stringify(unknown.code)} is no code of a finding; write one that politely lint prints`,
  )
}
