// Checks the option `circuit`, and fills in its defaults.
import { OptionError, type PageOutcomeKind } from '@politely/core'
import type { CircuitLimits } from '@politely/core/engine'
import { MAX_RETRY_AFTER_MS } from '@politely/core/internal'
import { integer, number, oneOf } from '@politely/fetcher/internal'
import type { CircuitOptions } from '../pace/pacing-options.ts'
import { type Checks, checkedFields } from './fields.ts'
import { failureOutcomes } from './outcomes.ts'

/** The checked option `circuit`. */
export interface SiteCircuit extends CircuitLimits {
  readonly outcomes: ReadonlySet<PageOutcomeKind>
  readonly whenOpen: 'fail' | 'wait'
}

/** Our choice. packages/core/test/circuit.test.ts simulates flaky and dead sites with these values. */
export const DEFAULT_CIRCUIT: SiteCircuit = {
  failures: 5,
  coolMs: 30_000,
  maxMs: 3_600_000,
  factor: 2,
  outcomes: new Set<PageOutcomeKind>(['connection']),
  whenOpen: 'fail',
}

const EXAMPLE = "{ failures: 5, coolMs: 60_000, outcomes: ['connection', 'denied'] }"

const CHECKS: Checks<CircuitOptions, SiteCircuit> = {
  failures: (option, count) => integer(option, count, { min: 1, max: 1_000, example: 5 }),
  outcomes: failureOutcomes,
  coolMs: (option, ms, example) => number(option, ms, { min: 1, max: MAX_RETRY_AFTER_MS, example }),
  maxMs: (option, ms, example) => number(option, ms, { min: 1, max: MAX_RETRY_AFTER_MS, example }),
  factor: (option, factor) => number(option, factor, { min: 1, max: 100, example: 2 }),
  whenOpen: (option, word) => oneOf(option, word, ['fail', 'wait']),
}

/**
 * @returns Undefined if there is no circuit.
 * @throws {OptionError} for an invalid or unknown field.
 */
export function checkedCircuit(
  option: string,
  given: CircuitOptions | false,
  base: SiteCircuit = DEFAULT_CIRCUIT,
): SiteCircuit | undefined {
  if (given === false) return undefined
  const checked = checkedFields(option, given, EXAMPLE, CHECKS, base)
  // A default adapts to the other value, if the caller writes only one of them.
  const coolMs = given.coolMs ?? Math.min(checked.coolMs, checked.maxMs)
  const maxMs = given.maxMs ?? Math.max(checked.maxMs, coolMs)
  if (coolMs <= maxMs) return { ...checked, coolMs, maxMs }
  throw new OptionError(
    `${option}.coolMs`,
    `${coolMs} is greater than maxMs, which is ${maxMs}; write a smaller coolMs or a larger maxMs`,
  )
}
