// Checks the option `circuit`, and fills in its defaults.
import { OptionError, type PageOutcomeKind } from '@politely/core'
import { type CircuitLimits, MAX_RETRY_AFTER_MS } from '@politely/core/engine'
import { integer, number, oneOf } from '@politely/fetcher/internal'
import type { CircuitOptions } from '../pace/pacing-options.ts'
import { assertFields } from './fields.ts'
import { failureOutcomes } from './outcomes.ts'

/** The checked option `circuit`. */
export interface SiteCircuit extends CircuitLimits {
  readonly outcomes: ReadonlySet<PageOutcomeKind>
  readonly whenOpen: 'fail' | 'wait'
}

const KNOWN: Readonly<Record<keyof CircuitOptions, true>> = {
  failures: true,
  outcomes: true,
  coolMs: true,
  maxMs: true,
  factor: true,
  whenOpen: true,
}

const EXAMPLE = "{ failures: 5, coolMs: 60_000, outcomes: ['connection', 'denied'] }"

/** Our choice. packages/core/test/circuit.test.ts simulates flaky and dead sites with these values. */
export const DEFAULT_CIRCUIT: SiteCircuit = {
  failures: 5,
  coolMs: 30_000,
  maxMs: 3_600_000,
  factor: 2,
  outcomes: new Set<PageOutcomeKind>(['connection']),
  whenOpen: 'fail',
}

/**
 * @param prefix The text before the name of the option in error messages.
 * @returns Undefined if there is no circuit.
 * @throws {OptionError} for an invalid or unknown field.
 */
export function circuitOf(
  options: CircuitOptions | false | undefined,
  defaults: SiteCircuit | undefined,
  prefix = '',
): SiteCircuit | undefined {
  if (options === undefined) return defaults
  if (options === false) return undefined
  const option = `${prefix}circuit`
  const base = defaults ?? DEFAULT_CIRCUIT
  assertFields(option, options, EXAMPLE, KNOWN)
  const { failures = base.failures, factor = base.factor, whenOpen = base.whenOpen, outcomes } = options
  // A default adapts to the other value, if the caller writes only one of them.
  const { maxMs = Math.max(base.maxMs, Number(options.coolMs) || 0) } = options
  const { coolMs = Math.min(base.coolMs, maxMs) } = options
  number(`${option}.coolMs`, coolMs, { min: 1, max: MAX_RETRY_AFTER_MS, example: base.coolMs })
  number(`${option}.maxMs`, maxMs, { min: 1, max: MAX_RETRY_AFTER_MS, example: base.maxMs })
  if (coolMs > maxMs)
    throw new OptionError(
      `${option}.coolMs`,
      `${coolMs} is greater than maxMs, which is ${maxMs}; write a smaller coolMs or a larger maxMs`,
    )
  return {
    failures: integer(`${option}.failures`, failures, { min: 1, max: 1_000, example: 5 }),
    coolMs,
    maxMs,
    factor: number(`${option}.factor`, factor, { min: 1, max: 100, example: 2 }),
    outcomes: outcomes === undefined ? base.outcomes : failureOutcomes(`${option}.outcomes`, outcomes),
    whenOpen: oneOf(`${option}.whenOpen`, whenOpen, ['fail', 'wait']),
  }
}
