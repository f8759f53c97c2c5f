// Checks the option `backoff`, and fills in its defaults.
import { OptionError } from '@politely/core'
import { defaultBackoff, defaultPushbackStatuses, MAX_RETRY_AFTER_MS } from '@politely/core/internal'
import { describeValue, integer, number } from '@politely/fetcher/internal'
import type { Backoff, BackoffOptions } from '../pace/pacing-options.ts'
import { type Checks, checkedFields, flag } from './fields.ts'

export const DEFAULT_BACKOFF: Backoff = {
  ...defaultBackoff,
  statuses: defaultPushbackStatuses,
  jitter: 0,
  failures: false,
}

const EXAMPLE = '{ statuses: [429, 503], firstMs: 5_000, maxMs: 300_000 }'

const CHECKS: Checks<BackoffOptions, Backoff> = {
  statuses: checkedStatuses,
  firstMs: (option, ms) => number(option, ms, { min: 1, max: MAX_RETRY_AFTER_MS, example: defaultBackoff.firstMs }),
  maxMs: (option, ms) => number(option, ms, { min: 1, max: MAX_RETRY_AFTER_MS, example: defaultBackoff.maxMs }),
  factor: (option, factor) => number(option, factor, { min: 1, max: 100, example: 2 }),
  jitter: (option, jitter) => number(option, jitter, { min: 0, max: 1, example: 0.5 }),
  failures: flag,
}

/** @throws {OptionError} for an invalid or unknown field. */
export function backoffOf(option: string, given: BackoffOptions, base: Backoff): Backoff {
  const checked = checkedFields(option, given, EXAMPLE, CHECKS, base)
  // A default adapts to the other value, if the caller writes only one of them.
  const firstMs = given.firstMs ?? Math.min(checked.firstMs, checked.maxMs)
  const maxMs = given.maxMs ?? Math.max(checked.maxMs, firstMs)
  if (firstMs <= maxMs) return { ...checked, firstMs, maxMs }
  throw new OptionError(
    `${option}.firstMs`,
    `${firstMs} is greater than ${option}.maxMs, which is ${maxMs}; write a smaller firstMs or a larger maxMs`,
  )
}

function checkedStatuses(option: string, statuses: readonly number[]): readonly number[] {
  if (!Array.isArray(statuses)) {
    throw new OptionError(option, `${describeValue(statuses)} is not a list; expected statuses such as [429, 503]`)
  }
  return statuses.map((status, n) => integer(`${option}[${n}]`, status, { min: 100, max: 599, example: 429 }))
}
