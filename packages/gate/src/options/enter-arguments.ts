// Checks the options of `enter`, `check` and `when`.
import { OptionError } from '@politely/core'
import type { DecisionReceipt } from '@politely/fetcher'
import { abortSignal, assertOptions, describeValue, NO_URLS, redirectChain } from '@politely/fetcher/internal'
import type { EnterOptions, WhenOptions } from './gate-options.ts'
import { CHECKS } from './option-table.ts'

const WHEN_OPTIONS: Readonly<Record<keyof WhenOptions, true>> = { signal: true, redirectedFrom: true }
const ENTER_OPTIONS: Readonly<Record<keyof EnterOptions, true>> = { ...WHEN_OPTIONS, maxWaitMs: true }

/** The checked options of `check` and `when`. */
export interface WhenArguments {
  readonly signal: AbortSignal | undefined
  readonly redirectedFrom: readonly string[]
}

/** The checked options of `enter`. */
interface EnterArguments extends WhenArguments {
  /** Undefined for the limit of the gate. */
  readonly maxWaitMs: number | undefined
}

/** One call of `enter`. */
export interface EnterCall extends EnterArguments {
  readonly url: string
  /** How much later than its slot the request may be sent. Milliseconds; 0 in this process. */
  readonly allowanceMs: number
  /** How long it counts as under way: see `LeaseTerms`. Only for a request outside of the gate. */
  readonly leaseMs?: number | undefined
  /** Whether it waits outside of the gate: it starts now, or learns how long it has to wait. */
  readonly isOuter: boolean
  /** The stack of the call; usually undefined. */
  readonly enteredAt: string | undefined
  /** Of the last decision about the request, with the option `evidence`. */
  receipt: DecisionReceipt | undefined
}

const NO_ARGUMENTS: EnterArguments = { signal: undefined, redirectedFrom: NO_URLS, maxWaitMs: undefined }

/** @throws {OptionError} for invalid options. */
export function enterArguments(options: EnterOptions | undefined): EnterArguments {
  if (options === undefined) return NO_ARGUMENTS
  const checked = whenArguments(options, ENTER_OPTIONS)
  const { maxWaitMs } = options
  if (maxWaitMs !== undefined) CHECKS.maxWaitMs('maxWaitMs', maxWaitMs, Number.POSITIVE_INFINITY)
  return { ...checked, maxWaitMs }
}

/** @throws {OptionError} for invalid options. */
export function whenArguments(
  options: WhenOptions | undefined,
  known: Readonly<Record<string, true>> = WHEN_OPTIONS,
): WhenArguments {
  if (options === undefined) return NO_ARGUMENTS
  if (options instanceof AbortSignal)
    throw new OptionError('options', 'an AbortSignal was given instead of options; write { signal }')
  if (typeof options === 'string' && /^https?:/i.test(options))
    throw new OptionError(
      'options',
      `${describeValue(options)} is a URL, which comes first; the client knows the name of the crawler`,
    )
  assertOptions(options, '{ signal }', known)
  const { signal, redirectedFrom } = options
  return {
    signal: abortSignal(signal ?? undefined),
    redirectedFrom: redirectChain(redirectedFrom),
  }
}
