// Checks an object of options: its type, and the names of the options.
import { describeValue } from './describe-value.ts'
import { nearestName } from './edit-distance.ts'
import { OptionError } from './errors.ts'

/**
 * Checks that `options` is an object with known options only.
 *
 * @param known The names of all options.
 * @param example Options to show in the error message.
 * @throws {OptionError} for another type or an unknown name. If the name looks like a misspelling,
 * the message has the right one.
 */
export function assertKnownOptions(options: unknown, known: Readonly<Record<string, true>>, example: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new OptionError('options', `${describeValue(options)} is not an object; expected one such as ${example}`)
  }
  assertKnown(options, known)
}

/**
 * Checks the names of options.
 *
 * @throws {OptionError} for a name that is not in `known`. If it looks like a misspelling, the
 * message has the right one.
 */
export function assertKnown(options: object, known: Readonly<Record<string, true>>): void {
  for (const name of Object.keys(options)) if (!Object.hasOwn(known, name)) throw unknownOption(name, known)
}

function unknownOption(name: string, known: Readonly<Record<string, true>>): OptionError {
  const names = Object.keys(known)
  const nearest = nearestName(name, names)
  const expected = nearest === undefined ? `expected one of ${names.join(', ')}` : `did you mean \`${nearest}\`?`
  return new OptionError(name, `is an unknown option; ${expected}`)
}
