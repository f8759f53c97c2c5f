// Checks the arguments of `enter`, `check` and `when`.
import { OptionError } from '@politely/core'
import { abortSignal, assertKnown, assertOptions, describeValue } from '@politely/fetcher/option-checks'
import type { EnterOptions, GateCheckOptions } from './gate.ts'

const ENTER_OPTIONS: Readonly<Record<keyof EnterOptions, true>> = { signal: true }
export const CHECK_OPTIONS: Readonly<Record<keyof GateCheckOptions, true>> = { signal: true, redirectedFrom: true }

/** Returns the caller's signal. @throws {OptionError} for a URL that is neither a string nor an object with `href`, and for invalid options. */
export function checkedSignal(
  url: unknown,
  options: EnterOptions | undefined,
  known: Readonly<Record<string, true>> = ENTER_OPTIONS,
): AbortSignal | undefined {
  if (typeof url !== 'string' && typeof (url as { readonly href?: unknown } | null | undefined)?.href !== 'string') {
    const problem = url === undefined ? 'is missing' : `${describeValue(url)} is not a URL`
    throw new OptionError('url', `${problem}; expected a string such as "https://example.com/page", or a URL object`)
  }
  if (options === undefined) return undefined
  if (options instanceof AbortSignal)
    throw new OptionError('options', 'an AbortSignal was given instead of options; write { signal }')
  assertOptions(options, '{ signal }')
  assertKnown(options, known)
  return abortSignal(options.signal ?? undefined)
}
