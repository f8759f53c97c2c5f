// Checks the arguments of `enter`, `check` and `when`.
import { OptionError } from '@politely/core'
import { abortSignal, assertKnown, assertOptions, describeValue } from '@politely/fetcher/internal'
import type { EnterOptions, GateCheckOptions } from './gate-options.ts'

const ENTER_OPTIONS: Readonly<Record<keyof EnterOptions, true>> = { signal: true }
export const CHECK_OPTIONS: Readonly<Record<keyof GateCheckOptions, true>> = { signal: true, redirectedFrom: true }

/**
 * Returns the text of a URL argument. An object is read only here, since it may change while the request waits.
 * @throws {OptionError} if it is neither a string nor an object with `href`.
 */
export function checkedUrl(url: unknown): string {
  const text = typeof url === 'string' ? url : (url as { readonly href?: unknown } | null | undefined)?.href
  if (typeof text === 'string') return text
  const problem = url === undefined ? 'is missing' : `${describeValue(url)} is not a URL`
  throw new OptionError('url', `${problem}; expected a string such as "https://example.com/page", or a URL object`)
}

/** Returns the caller's signal. @throws {OptionError} for invalid options. */
export function checkedSignal(
  options: EnterOptions | undefined,
  known: Readonly<Record<string, true>> = ENTER_OPTIONS,
): AbortSignal | undefined {
  if (options === undefined) return undefined
  if (options instanceof AbortSignal)
    throw new OptionError('options', 'an AbortSignal was given instead of options; write { signal }')
  assertOptions(options, '{ signal }')
  assertKnown(options, known)
  return abortSignal(options.signal ?? undefined)
}
