// Validates the caller's options for pace and concurrency, and fills in their defaults.
import { OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import {
  CLIENT_OPTIONS,
  integer,
  MAX_TIMEOUT_MS,
  number,
  oneOf,
  PACING_OPTIONS,
  withMethods,
} from '@politely/fetcher/internal'
import type { Pacer } from '../pace/pacer.ts'
import type { PaceBy, PacingOptions } from '../pace/pacing-options.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import { flag } from './fields.ts'
import type { PoliteGateOptions } from './gate-options.ts'

/** The validated options, with defaults applied. */
export interface Pacing {
  readonly minDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly delayFactor: number
  readonly pauseFrom: 'start' | 'end'
  readonly minDelayPerDomainMs: number
  readonly minDelayPerAddressMs: number
  readonly maxConcurrentPerKey: number
  readonly maxConcurrentPerDomain: number
  /** Infinity for no limit. */
  readonly maxConcurrentPerAddress: number
  readonly maxConcurrent: number
  /** Infinity for never. */
  readonly slowAfterMs: number
  /** Infinity for no limit. */
  readonly maxWaitMs: number
  /** Infinity for no limit. */
  readonly maxQueuedPerKey: number
  /** Infinity for never. */
  readonly releaseWarningMs: number
  readonly progressMs: number | undefined
  readonly countRobots: boolean
  readonly paceBy: PaceBy
  readonly pacer: Pacer | undefined
}

/** The names of all options of a gate. */
export const GATE_OPTIONS: Readonly<Record<keyof PoliteGateOptions, true>> = {
  robots: true,
  now: true,
  lookup: true,
  logger: true,
  ...PACING_OPTIONS, // if an option is missing here, add it to packages/fetcher/src/options/pacing-options.ts
}

/** Options of a RobotsClient, which users write in the options of a gate. */
export const OPTIONS_OF_CLIENT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(CLIENT_OPTIONS).map((name) => [
    name,
    'is an option of RobotsClient; write it in new RobotsClient({ … })',
  ]),
)

const DEFAULT_CONCURRENT = 64
const DEFAULT_CONCURRENT_PER_DOMAIN = 8
const DEFAULT_SLOW_AFTER_MS = 10_000
const DEFAULT_RELEASE_WARNING_MS = 300_000
const PAUSE_FROM_VALUES: readonly Pacing['pauseFrom'][] = ['start', 'end']
const PACE_BY_VALUES: readonly PaceBy[] = ['origin', 'host', 'domain', 'address']
const PACER_METHODS: readonly (keyof Pacer)[] = ['reserve', 'cancel', 'report', 'end', 'estimate']

/** Returns the pacing options among other options, and the others. */
export function splitPacing<T extends PacingOptions>(
  options: T,
): { pacing: PacingOptions; others: Omit<T, keyof PacingOptions> } {
  const isPacing = ([name]: [string, unknown]) => Object.hasOwn(PACING_OPTIONS, name)
  const entries = Object.entries(options)
  const pacing: PacingOptions = Object.fromEntries(entries.filter(isPacing))
  const others = Object.fromEntries(entries.filter((entry) => !isPacing(entry)))
  return { pacing, others: others as Omit<T, keyof PacingOptions> }
}

/** @throws {OptionError} for an invalid option. */
export function pacingOf(options: PacingOptions): Pacing {
  const { minDelayMs = 1_000, maxDelayMs, maxConcurrent = DEFAULT_CONCURRENT } = options
  const { paceBy = 'origin', pacer, delayFactor = 0, pauseFrom = 'start' } = options
  const { maxConcurrentPerKey = pauseFrom === 'end' ? 1 : 2 } = options
  const { maxConcurrentPerDomain = Math.max(DEFAULT_CONCURRENT_PER_DOMAIN, maxConcurrentPerKey) } = options
  const { minDelayPerDomainMs = 0, minDelayPerAddressMs = 0, maxConcurrentPerAddress } = options
  const { slowAfterMs = DEFAULT_SLOW_AFTER_MS, maxWaitMs, maxQueuedPerKey } = options
  const { releaseWarningMs = DEFAULT_RELEASE_WARNING_MS, progressMs, countRobots = false } = options
  if (pauseFrom === 'end' && Number(maxConcurrentPerKey) > 1)
    throw new OptionError('maxConcurrentPerKey', `is ${maxConcurrentPerKey}; with pauseFrom: 'end' only 1 is possible`)
  const isUncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  // The default of minDelayMs may be longer: the cap is for what the site asks for.
  if (options.minDelayMs !== undefined && Number(minDelayMs) > Number(maxDelayMs)) {
    throw new OptionError(
      'minDelayMs',
      `${minDelayMs} is greater than maxDelayMs, which is ${maxDelayMs}; write a smaller minDelayMs or a larger maxDelayMs`,
    )
  }
  return {
    minDelayMs: number('minDelayMs', minDelayMs, { min: 0 }),
    maxDelayMs: isUncapped ? undefined : number('maxDelayMs', maxDelayMs, { min: 0 }),
    delayFactor: number('delayFactor', delayFactor, { min: 0, max: 100, example: 5 }),
    pauseFrom: oneOf('pauseFrom', pauseFrom, PAUSE_FROM_VALUES),
    minDelayPerDomainMs: number('minDelayPerDomainMs', minDelayPerDomainMs, { min: 0 }),
    minDelayPerAddressMs: number('minDelayPerAddressMs', minDelayPerAddressMs, { min: 0 }),
    maxConcurrentPerKey: integer('maxConcurrentPerKey', maxConcurrentPerKey, { min: 1, example: 2 }),
    maxConcurrentPerDomain: integer('maxConcurrentPerDomain', maxConcurrentPerDomain, {
      min: 1,
      example: DEFAULT_CONCURRENT_PER_DOMAIN,
    }),
    maxConcurrentPerAddress:
      maxConcurrentPerAddress === undefined
        ? Number.POSITIVE_INFINITY
        : integer('maxConcurrentPerAddress', maxConcurrentPerAddress, { min: 1, example: 8 }),
    maxConcurrent: integer('maxConcurrent', maxConcurrent, { min: 1, example: DEFAULT_CONCURRENT }),
    slowAfterMs: number('slowAfterMs', slowAfterMs, { min: 1, infinite: 'allowed', example: DEFAULT_SLOW_AFTER_MS }),
    maxWaitMs: maxWait(maxWaitMs) ?? Number.POSITIVE_INFINITY,
    maxQueuedPerKey:
      maxQueuedPerKey === undefined
        ? Number.POSITIVE_INFINITY
        : integer('maxQueuedPerKey', maxQueuedPerKey, { min: 1, example: 100 }),
    releaseWarningMs: number('releaseWarningMs', releaseWarningMs, {
      min: 1,
      infinite: 'allowed',
      example: DEFAULT_RELEASE_WARNING_MS,
    }),
    progressMs:
      progressMs === undefined
        ? undefined
        : number('progressMs', progressMs, { min: 1, max: MAX_TIMEOUT_MS, example: 60_000 }),
    countRobots: flag('countRobots', countRobots),
    paceBy: oneOf('paceBy', paceBy, PACE_BY_VALUES),
    pacer: withMethods('pacer', pacer, PACER_METHODS, `a Pacer, with the methods ${PACER_METHODS.join(', ')}`),
  }
}

/** Checks the option `maxWaitMs`, of a gate or of one request. */
export function maxWait(maxWaitMs: number | undefined): number | undefined {
  return maxWaitMs === undefined
    ? undefined
    : number('maxWaitMs', maxWaitMs, { min: 0, infinite: 'allowed', example: 10_000 })
}

/** Combines the caller's delays with what robots.txt asks for. */
export function paceLimitsOf(
  { crawlDelayMs, requestRates, visitTimes }: AllowedVerdict,
  { minDelayMs, maxDelayMs, delayFactor, pauseFrom }: Pacing,
): PaceLimits {
  return { ownDelayMs: minDelayMs, maxDelayMs, crawlDelayMs, requestRates, visitTimes, pauseFrom, delayFactor }
}
