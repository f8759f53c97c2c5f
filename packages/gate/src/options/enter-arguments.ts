// Checks the options of `enter`, `check` and `when`.
import { OptionError } from '@politely/core'
import { abortSignal, assertOptions, describeValue } from '@politely/fetcher/internal'
import type { EnterOptions, GateCheckOptions, WhenOptions } from './gate-options.ts'
import { maxWait } from './pacing.ts'

const WHEN_OPTIONS: Readonly<Record<keyof WhenOptions, true>> = { signal: true }
const ENTER_OPTIONS: Readonly<Record<keyof EnterOptions, true>> = { signal: true, maxWaitMs: true }
export const CHECK_OPTIONS: Readonly<Record<keyof GateCheckOptions, true>> = { signal: true, redirectedFrom: true }

/** The checked options of `enter`. */
interface EnterArguments {
  readonly signal: AbortSignal | undefined
  /** Undefined for the limit of the gate. */
  readonly maxWaitMs: number | undefined
}

const NO_ARGUMENTS: EnterArguments = { signal: undefined, maxWaitMs: undefined }

/** @throws {OptionError} for invalid options. */
export function enterArguments(options: EnterOptions | undefined): EnterArguments {
  if (options === undefined) return NO_ARGUMENTS
  const signal = checkedSignal(options, ENTER_OPTIONS)
  return { signal, maxWaitMs: maxWait(options.maxWaitMs) }
}

/** Returns the caller's signal. @throws {OptionError} for invalid options. */
export function checkedSignal(
  options: WhenOptions | undefined,
  known: Readonly<Record<string, true>> = WHEN_OPTIONS,
): AbortSignal | undefined {
  if (options === undefined) return undefined
  if (options instanceof AbortSignal)
    throw new OptionError('options', 'an AbortSignal was given instead of options; write { signal }')
  if (typeof options === 'string' && /^https?:/i.test(options))
    throw new OptionError(
      'options',
      `${describeValue(options)} is a URL, which comes first; the client knows the name of the crawler`,
    )
  assertOptions(options, '{ signal }', known)
  return abortSignal(options.signal ?? undefined)
}
