// Checks options that are objects or booleans.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'

/** @throws {OptionError} for a value that is not a boolean. */
export function flag(option: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new OptionError(option, `${describeValue(value)} is not a boolean; write true or false`)
}
