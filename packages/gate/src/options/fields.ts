// Checks options that are objects or booleans.
import { OptionError } from '@politely/core'
import { assertKnown, describeValue } from '@politely/fetcher/internal'

/** @throws {OptionError} for a value that is not a boolean. */
export function flag(option: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new OptionError(option, `${describeValue(value)} is not a boolean; write true or false`)
}

/**
 * Checks that an option is an object with these fields only.
 * @throws {OptionError} that names the option and the field.
 */
export function assertFields(
  option: string,
  value: object,
  example: string,
  known: Readonly<Record<string, true>>,
): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'then' in value)
    throw new OptionError(
      option,
      `${describeValue(value)} is not an object of options; expected one such as ${example}`,
    )
  if (Object.keys(value).every((name) => Object.hasOwn(known, name))) return
  const named = (names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [`${option}.${name}`, true as const]))
  assertKnown(named(value), named(known))
}
