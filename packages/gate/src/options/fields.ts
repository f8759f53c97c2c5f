// Checks options that are objects or booleans.
import { OptionError } from '@politely/core'
import { assertKnown, describeValue } from '@politely/fetcher/internal'

/**
 * Checks a value that the caller wrote. Returns it as the gate uses it.
 * @param option Its name in error messages.
 * @param base The value that it would have otherwise.
 */
export type Check<Given, Checked> = (option: string, given: Given, base: Checked) => Checked

/** A check for each option, or for each field of an option. */
export type Checks<Given, Checked extends Readonly<Record<keyof Given, unknown>>> = {
  readonly [Name in keyof Given]-?: Check<NonNullable<Given[Name]>, Checked[Name]>
}

/**
 * Checks options. @param base The values of absent options. @param prefix The text before their names
 * in error messages. @throws {OptionError} for an invalid value.
 */
export function checkedValues<Given extends object, Checked extends Readonly<Record<keyof Given, unknown>>>(
  given: Given,
  checks: Checks<Given, Checked>,
  base: Checked,
  prefix = '',
): Checked {
  const checked = { ...base }
  for (const name of Object.keys(checks) as (keyof Given & string)[]) {
    const value = given[name]
    if (value !== undefined) checked[name] = checks[name](prefix + name, value as NonNullable<typeof value>, base[name])
  }
  return checked
}

/**
 * Checks an option that is an object. @param base The values of absent fields. @throws {OptionError}
 * for an invalid or unknown field.
 */
export function checkedFields<Given extends object, Checked extends Readonly<Record<keyof Given, unknown>>>(
  option: string,
  given: Given,
  example: string,
  checks: Checks<Given, Checked>,
  base: Checked,
): Checked {
  assertFields(option, given, example, checks)
  return checkedValues(given, checks, base, `${option}.`)
}

/** @throws {OptionError} for a value that is not a boolean. */
export function flag(option: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new OptionError(option, `${describeValue(value)} is not a boolean; write true or false`)
}

/**
 * Checks that an option is an object with these fields only. @param known Has the names of all fields.
 * @throws {OptionError} that names the option and the field.
 */
export function assertFields(option: string, value: object, example: string, known: object): void {
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
