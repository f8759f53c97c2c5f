// Checks the option `backoff`, and fills in its defaults.
import { OptionError } from '@politely/core'
import { defaultBackoff, defaultPushbackStatuses, MAX_RETRY_AFTER_MS } from '@politely/core/engine'
import { describeValue, integer, number } from '@politely/fetcher/internal'
import type { Backoff, BackoffOptions } from '../pace/pacing-options.ts'
import { assertFields, flag } from './fields.ts'

const KNOWN: Readonly<Record<keyof BackoffOptions, true>> = {
  statuses: true,
  firstMs: true,
  maxMs: true,
  factor: true,
  jitter: true,
  failures: true,
}
const EXAMPLE = '{ statuses: [429, 503], firstMs: 5_000, maxMs: 300_000 }'

/** @throws {OptionError} for an invalid or unknown field. */
export function backoffOf(options: BackoffOptions = {}): Backoff {
  assertFields('backoff', options, EXAMPLE, KNOWN)
  const { statuses = defaultPushbackStatuses, factor = defaultBackoff.factor, jitter = 0, failures = false } = options
  // A default adapts to the other value, if the caller writes only one of them.
  const { maxMs = Math.max(defaultBackoff.maxMs, Number(options.firstMs) || 0) } = options
  const { firstMs = Math.min(defaultBackoff.firstMs, maxMs) } = options
  number('backoff.firstMs', firstMs, { min: 1, max: MAX_RETRY_AFTER_MS, example: defaultBackoff.firstMs })
  number('backoff.maxMs', maxMs, { min: 1, max: MAX_RETRY_AFTER_MS, example: defaultBackoff.maxMs })
  if (firstMs > maxMs) {
    throw new OptionError(
      'backoff.firstMs',
      `${firstMs} is greater than backoff.maxMs, which is ${maxMs}; write a smaller firstMs or a larger maxMs`,
    )
  }
  return {
    statuses: checkedStatuses(statuses),
    firstMs,
    maxMs,
    factor: number('backoff.factor', factor, { min: 1, max: 100, example: 2 }),
    jitter: number('backoff.jitter', jitter, { min: 0, max: 1, example: 0.5 }),
    failures: flag('backoff.failures', failures),
  }
}

function checkedStatuses(statuses: readonly number[]): readonly number[] {
  if (!Array.isArray(statuses)) {
    throw new OptionError(
      'backoff.statuses',
      `${describeValue(statuses)} is not a list; expected statuses such as [429, 503]`,
    )
  }
  return statuses.map((status, n) => integer(`backoff.statuses[${n}]`, status, { min: 100, max: 599, example: 429 }))
}
