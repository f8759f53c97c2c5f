// The caller's options for pace and concurrency, and their validation.
import type { LookupFunction } from 'node:net'
import type { PaceLimits } from '@politely/core/engine'
import { callable, integer, number, oneOf, withMethods } from '@politely/fetcher/option-checks'
import type { PoliteGateOptions } from './gate.ts'
import type { PaceBy } from './pace-by.ts'
import type { Pacer } from './pacer.ts'
import type { AllowedVerdict } from './robots-check.ts'

/** The options of a gate for pace and concurrency. All have defaults. */
export interface PacingOptions {
  /**
   * The shortest delay between two requests to one origin, whatever its robots.txt says. Milliseconds; default 1,000. The gate keeps
   * delays between the starts of requests. At the server they may arrive closer together: the first request of a connection also waits for
   * the connection.
   */
  readonly minDelayMs?: number | undefined
  /**
   * The longest delay that you accept. A site that asks for a longer one gets this one, and the permit says so (`because: 'cap'`).
   * Milliseconds; default: no limit. It does not shorten a Retry-After or a visit-time.
   */
  readonly maxDelayMs?: number | undefined
  /**
   * How many requests to one origin may be under way at once. A request is under way from its start until `release`; with `politely`,
   * until its headers have arrived. Default 2.
   */
  readonly maxConcurrentPerOrigin?: number | undefined
  /**
   * How many requests to all hosts of one registrable domain (`example.co.uk`) may be under way at once. It keeps a site with many hosts and
   * slow pages from occupying all of `maxConcurrent`. Default 8, or `maxConcurrentPerOrigin` if that is larger.
   */
  readonly maxConcurrentPerDomain?: number | undefined
  /** How many requests may be under way at once in all. Default 64. */
  readonly maxConcurrent?: number | undefined
  /** Which requests share a pace and the limit `maxConcurrentPerOrigin`. Default `origin`. */
  readonly paceBy?: PaceBy | undefined
  /** Keeps the pace. Default: a `LocalPacer`, which keeps it for this gate only. */
  readonly pacer?: Pacer | undefined
}

/** The validated options, with defaults applied. */
export interface Pacing {
  readonly minDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly maxConcurrentPerOrigin: number
  readonly maxConcurrentPerDomain: number
  readonly maxConcurrent: number
  readonly paceBy: PaceBy
  readonly pacer: Pacer | undefined
  readonly lookup: LookupFunction | undefined
}

/** The names of all options of a gate. */
export const GATE_OPTIONS: Readonly<Record<keyof PoliteGateOptions, true>> = {
  robots: true,
  now: true,
  lookup: true,
  minDelayMs: true,
  maxDelayMs: true,
  maxConcurrentPerOrigin: true,
  maxConcurrentPerDomain: true,
  maxConcurrent: true,
  paceBy: true,
  pacer: true,
}

const DEFAULT_CONCURRENT_PER_DOMAIN = 8
const PACE_BY_VALUES: readonly PaceBy[] = ['origin', 'host', 'domain', 'address']
const PACER_METHODS: readonly (keyof Pacer)[] = ['reserve', 'cancel', 'report', 'estimate']

/** Returns the pacing options among other options. */
export function pacingOptionsIn(options: PacingOptions): PacingOptions {
  const { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrentPerDomain, maxConcurrent, paceBy, pacer } =
    options
  return { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrentPerDomain, maxConcurrent, paceBy, pacer }
}

/** Returns the other options. */
export function withoutPacing<T extends PacingOptions>(options: T): Omit<T, keyof PacingOptions> {
  const {
    minDelayMs,
    maxDelayMs,
    maxConcurrentPerOrigin,
    maxConcurrentPerDomain,
    maxConcurrent,
    paceBy,
    pacer,
    ...others
  } = options
  return others
}

/** @throws {OptionError} for an invalid option. */
export function pacingOf(options: PacingOptions, lookup: LookupFunction | undefined): Pacing {
  const { minDelayMs = 1_000, maxDelayMs, maxConcurrentPerOrigin = 2, maxConcurrent = 64 } = options
  const { maxConcurrentPerDomain = Math.max(DEFAULT_CONCURRENT_PER_DOMAIN, maxConcurrentPerOrigin) } = options
  const { paceBy = 'origin', pacer } = options
  const isUncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  return {
    minDelayMs: number('minDelayMs', minDelayMs, { min: 0 }),
    maxDelayMs: isUncapped ? undefined : number('maxDelayMs', maxDelayMs, { min: 0 }),
    maxConcurrentPerOrigin: integer('maxConcurrentPerOrigin', maxConcurrentPerOrigin, { min: 1 }),
    maxConcurrentPerDomain: integer('maxConcurrentPerDomain', maxConcurrentPerDomain, { min: 1 }),
    maxConcurrent: integer('maxConcurrent', maxConcurrent, { min: 1 }),
    paceBy: oneOf('paceBy', paceBy, PACE_BY_VALUES),
    pacer: withMethods('pacer', pacer, PACER_METHODS, `a Pacer, with the methods ${PACER_METHODS.join(', ')}`),
    lookup: callable('lookup', lookup, 'a function like dns.lookup'),
  }
}

/** Combines the caller's delays with what robots.txt asks for. */
export function paceLimitsOf(
  { crawlDelayMs, requestRates, visitTimes }: AllowedVerdict,
  { minDelayMs, maxDelayMs }: Pacing,
): PaceLimits {
  return { ownDelayMs: minDelayMs, maxDelayMs, crawlDelayMs, requestRates, visitTimes }
}
