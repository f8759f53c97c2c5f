// Checks the argument of functions that take a robots.txt file.
import type { HasBytes } from '../bytes.ts'
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * Checks that a value is a file. Without this check, an ArrayBuffer or a promise would be parsed as
 * an empty file, which allows everything.
 *
 * @throws {OptionError} for a value of another type.
 */
export function assertSource(source: unknown): asserts source is Uint8Array | string | HasBytes {
  if (typeof source === 'string' || source instanceof Uint8Array) return
  if (typeof (source as HasBytes | undefined | null)?.bytes === 'string') return
  const problem = source === undefined ? 'is missing' : `${describeValue(source)} is not a robots.txt file`
  throw new OptionError(
    'source',
    `${problem}; expected its text, such as "User-agent: *", or its bytes: a Uint8Array, or { bytes } with one character for each byte`,
  )
}
