// Reads flags whose value is a number.
import { describeValue } from '@politely/core/engine'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../errors.ts'

interface Range {
  readonly min: number
  readonly max?: number
  /** What the number counts: `seconds`. */
  readonly unit: string
  readonly example: number
  readonly isInteger?: true
}

/** @throws {UsageError} for a value that is not a number, or is out of range. */
export function numberOf(args: Arguments, name: string, range: Range): number | undefined {
  const given = args.get(name)
  if (given === undefined) return undefined
  const { min, max = Number.MAX_SAFE_INTEGER, unit, example, isInteger } = range
  const value = given.trim() === '' ? Number.NaN : Number(given)
  if (value >= min && value <= max && (!isInteger || Number.isInteger(value))) return value
  const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw new UsageError(
    `--${name}: ${describeValue(given)} is out of range; write ${isInteger ? 'a whole number of ' : ''}${unit} ${bounds}, such as ${example}`,
  )
}
