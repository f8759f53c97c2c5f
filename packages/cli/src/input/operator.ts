// What `keys` and `identity` share: the package that knows keys, key files, and the options of
// checks.
import type { OwnKey } from '@politely/web-bot-auth/operator'
import type { Arguments } from '../command-line.ts'
import { allowedAddresses, timeoutOf } from './client.ts'
import { numberOf } from './numbers.ts'
import { withPackage } from './optional-package.ts'

export type Operator = typeof import('@politely/web-bot-auth/operator')

/**
 * Runs code with the package. @throws {UsageError} if it is not installed, and instead of the
 * errors of files.
 */
export function withOperator<T>(what: string, use: (operator: Operator) => Promise<T>): Promise<T> {
  return withPackage('@politely/web-bot-auth', () => import('@politely/web-bot-auth/operator'), what, use)
}

/** Reads key files in order. @throws {KeyFileError} for a file that cannot be used. */
export function keysIn(operator: Operator, files: readonly string[]): Promise<readonly OwnKey[]> {
  return Promise.all(files.map((file) => operator.readKeyFile(file)))
}

/** Returns the options of the flags `--timeout` and `--allow-address`. */
export function strangerOptionsOf(args: Arguments): NonNullable<Parameters<Operator['checkDirectory']>[2]> {
  return { timeoutMs: timeoutOf(args), allowAddresses: allowedAddresses(args) }
}

const DAY_MS = 86_400_000

/** Returns a flag with days in milliseconds. @throws {UsageError} for a value out of range. */
export function daysMsOf(args: Arguments, name: string, [min, max]: readonly [number, number]): number | undefined {
  const days = numberOf(args, name, { min, max, unit: 'days', example: 7 })
  return days === undefined ? undefined : Math.round(days * DAY_MS)
}
