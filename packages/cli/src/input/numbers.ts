// Reads flags whose value is a number.
import { describeValue } from '@politely/core/engine'
import type { RetryOptions } from '@politely/gate'
import type { Arguments } from '../command-line.ts'
import { UsageError } from '../exit-code.ts'

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

/**
 * Returns the value of a flag that limits something: Infinity if it is not given and has no default.
 * @throws {UsageError} for a value that is not a number, or is out of range.
 */
export function limitOf(args: Arguments, name: string, range: Range): number {
  return numberOf(args, name, range) ?? Infinity
}

/** Returns the value of `--min-delay` in milliseconds. @throws {UsageError} for a value that is out of range. */
export function minDelayMsOf(args: Arguments): number | undefined {
  const seconds = numberOf(args, 'min-delay', { min: 0, max: 86_400, unit: 'seconds', example: 2 })
  return seconds === undefined ? undefined : 1000 * seconds
}

/** Returns the value of `--max-wait` in milliseconds. @throws {UsageError} for a value that is out of range. */
export function maxWaitMsOf(args: Arguments): number | undefined {
  const seconds = numberOf(args, 'max-wait', { min: 0, max: 1e6, unit: 'seconds', example: 30 })
  return seconds === undefined ? undefined : 1000 * seconds
}

/**
 * Returns the value of `--retry` as an option of `politely`; undefined for 0.
 * @throws {UsageError} for a value that is out of range.
 */
export function retryOptionsOf(args: Arguments): RetryOptions | undefined {
  const retries = numberOf(args, 'retry', { min: 0, max: 99, unit: 'requests', example: 2, isInteger: true }) ?? 0
  return retries === 0 ? undefined : { attempts: retries + 1, bufferBytes: 5_000_000 }
}
