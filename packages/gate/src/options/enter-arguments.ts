// Checks the options of `enter`, `check` and `when`.
import { OptionError } from '@politely/core'
import { abortSignal, assertOptions } from '@politely/fetcher/internal'
import type { EnterOptions, GateCheckOptions } from './gate-options.ts'

const ENTER_OPTIONS: Readonly<Record<keyof EnterOptions, true>> = { signal: true }
export const CHECK_OPTIONS: Readonly<Record<keyof GateCheckOptions, true>> = { signal: true, redirectedFrom: true }

/** Returns the caller's signal. @throws {OptionError} for invalid options. */
export function checkedSignal(
  options: EnterOptions | undefined,
  known: Readonly<Record<string, true>> = ENTER_OPTIONS,
): AbortSignal | undefined {
  if (options === undefined) return undefined
  if (options instanceof AbortSignal)
    throw new OptionError('options', 'an AbortSignal was given instead of options; write { signal }')
  assertOptions(options, '{ signal }', known)
  return abortSignal(options.signal ?? undefined)
}
