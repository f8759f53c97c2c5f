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
  assertKnownNames(options, known)
}

/**
 * Checks the names of options.
 *
 * @param hintOn Returns the end of the error message about a name that is similar to none. Default:
 * all known names.
 * @throws {OptionError} for a name that is not in `known`. If it looks like a misspelling, the
 * message has the right one.
 */
export function assertKnownNames(
  options: object,
  known: Readonly<Record<string, true>>,
  hintOn?: (name: string) => string | undefined,
): void {
  const names = Object.keys(known)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const nearest = nearestName(name, names)
    const hint = nearest === undefined ? hintOn?.(name) : `did you mean \`${nearest}\`?`
    throw new OptionError(name, `is an unknown option; ${hint ?? `expected one of ${names.join(', ')}`}`)
  }
}
