// Validates the caller's options for pace and concurrency, and fills in their defaults.
import { type CrawlerRules, OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import {
  CLIENT_OPTIONS,
  callable,
  integer,
  MAX_TIMEOUT_MS,
  number,
  oneOf,
  PACING_OPTIONS,
  withMethods,
} from '@politely/fetcher/internal'
import type { Pacer } from '../pace/pacer.ts'
import type { Backoff, PaceBy, PacingOptions, SitePacingOptions } from '../pace/pacing-options.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'
import { backoffOf } from './backoff.ts'
import { DEFAULT_CIRCUIT } from './circuit.ts'
import { flag } from './fields.ts'
import type { PoliteGateOptions } from './gate-options.ts'
import { checkedSitePacing, type SitePacing } from './site-pacing.ts'

/** The validated options, with defaults applied. */
export interface Pacing extends SitePacing {
  readonly pauseFrom: 'start' | 'end'
  readonly minDelayPerDomainMs: number
  readonly minDelayPerAddressMs: number
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
  readonly backoff: Backoff
  readonly rateLimitHeaders: boolean
  readonly countRobots: boolean
  /** Returns the budget of a pace key; undefined for no limit. The function is the caller's. */
  readonly budget: number | ((key: string) => number | undefined) | undefined
  /** The caller's function. */
  readonly pace: ((origin: string) => SitePacingOptions | undefined) | undefined
  readonly paceBy: PaceLevel
  /** The caller's function, if `paceBy` is `key`. */
  readonly keyOf: ((url: string) => string) | undefined
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

/** Options of `politely`, which users write elsewhere. */
export const OPTIONS_OF_FETCH: Readonly<Record<string, string>> = {
  isRateLimited:
    'is an option of politely(fetch, { … }); without that fetch, report { rateLimited: true } to the permit of the request',
  onDisallowed: 'is an option of politely(fetch, { … })',
  retry: 'is an option of politely(fetch, { … })',
  requestTimeoutMs:
    'is an option of politely(fetch, { … }); of politeAgent write agent: { headersTimeout: 30_000, bodyTimeout: 30_000 }',
}

/** Options of a RobotsClient and of `politely`, which users write in the options of a gate. */
export const OPTIONS_ELSEWHERE: Readonly<Record<string, string>> = {
  ...OPTIONS_OF_FETCH,
  ...Object.fromEntries(
    Object.keys(CLIENT_OPTIONS).map((name) => [
      name,
      'is an option of RobotsClient; write it in new RobotsClient({ … })',
    ]),
  ),
}

const DEFAULT_SITE_PACING: Omit<SitePacing, 'maxConcurrentPerKey'> = {
  circuit: DEFAULT_CIRCUIT,
  minDelayMs: 1_000,
  maxDelayMs: undefined,
  delayFactor: 0,
  jitter: 0,
  obey: { rules: true, delays: true },
}
const DEFAULT_CONCURRENT = 64
const DEFAULT_CONCURRENT_PER_DOMAIN = 8
const DEFAULT_SLOW_AFTER_MS = 10_000
const DEFAULT_RELEASE_WARNING_MS = 300_000
const PAUSE_FROM_VALUES: readonly Pacing['pauseFrom'][] = ['start', 'end']
const PACE_BY_VALUES: readonly PaceBy[] = ['origin', 'host', 'domain', 'address']
const PACE_EXAMPLE =
  "a function such as (origin) => (origin === 'https://example.com' ? { minDelayMs: 5_000 } : undefined)"
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
  const { maxConcurrent = DEFAULT_CONCURRENT, paceBy = 'origin', pacer, pauseFrom = 'start' } = options
  const { maxConcurrentPerKey = pauseFrom === 'end' ? 1 : 2 } = options
  const { backoff, rateLimitHeaders = false, countRobots = false, budget, pace } = options
  const { maxConcurrentPerDomain = Math.max(DEFAULT_CONCURRENT_PER_DOMAIN, maxConcurrentPerKey) } = options
  const { minDelayPerDomainMs = 0, minDelayPerAddressMs = 0, maxConcurrentPerAddress } = options
  const { slowAfterMs = DEFAULT_SLOW_AFTER_MS, maxWaitMs, maxQueuedPerKey } = options
  const { releaseWarningMs = DEFAULT_RELEASE_WARNING_MS, progressMs } = options
  const useless = Object.entries({ rateLimitHeaders, countRobots }).find(([, isOn]) => isOn)
  if (useless !== undefined && pacer && typeof pacer.pause !== 'function')
    throw new OptionError(useless[0], 'has no effect with this `pacer`, which has no method pause; add the method')
  return {
    ...checkedSitePacing(options, { ...DEFAULT_SITE_PACING, maxConcurrentPerKey }, pauseFrom),
    pauseFrom: oneOf('pauseFrom', pauseFrom, PAUSE_FROM_VALUES),
    minDelayPerDomainMs: number('minDelayPerDomainMs', minDelayPerDomainMs, { min: 0 }),
    minDelayPerAddressMs: number('minDelayPerAddressMs', minDelayPerAddressMs, { min: 0 }),
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
    backoff: backoffOf(backoff),
    rateLimitHeaders: flag('rateLimitHeaders', rateLimitHeaders),
    countRobots: flag('countRobots', countRobots),
    budget:
      budget === undefined || typeof budget === 'function'
        ? budget
        : integer('budget', budget, { min: 0, example: 1_000 }),
    pace: callable('pace', pace, PACE_EXAMPLE),
    paceBy: typeof paceBy === 'function' ? 'key' : oneOf('paceBy', paceBy, PACE_BY_VALUES),
    keyOf: typeof paceBy === 'function' ? paceBy : undefined,
    pacer: withMethods('pacer', pacer, PACER_METHODS, `a Pacer, with the methods ${PACER_METHODS.join(', ')}`),
  }
}

/** Checks the option `maxWaitMs`, of a gate or of one request. */
export function maxWait(maxWaitMs: number | undefined): number | undefined {
  return maxWaitMs === undefined
    ? undefined
    : number('maxWaitMs', maxWaitMs, { min: 0, infinite: 'allowed', example: 10_000 })
}

/** The pace that a site asks of this crawler: in its rules, or in a verdict. */
export type AskedPace = {
  readonly [Field in 'crawlDelayMs' | 'requestRates' | 'visitTimes']?: CrawlerRules[Field] | undefined
}

/** Combines the caller's delays with what robots.txt asks for. */
export function paceLimitsOf(
  { crawlDelayMs, requestRates, visitTimes }: AskedPace,
  { minDelayMs: ownDelayMs, maxDelayMs, delayFactor, obey }: SitePacing,
  pauseFrom: Pacing['pauseFrom'],
): PaceLimits {
  if (!obey.delays) return { ownDelayMs, maxDelayMs, crawlDelayMs: undefined, pauseFrom, delayFactor }
  return {
    ownDelayMs,
    maxDelayMs,
    crawlDelayMs,
    requestRates: requestRates?.length ? requestRates : undefined,
    visitTimes: visitTimes?.length ? visitTimes : undefined,
    pauseFrom,
    delayFactor,
  }
}
