// The caller's options for pace and concurrency, and their validation.
import type { LookupFunction } from 'node:net'
import { OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import { callable, integer, number, oneOf, withMethods } from '@politely/fetcher/option-checks'
import { CLIENT_OPTIONS } from '@politely/fetcher/options'
import type { PoliteGateOptions } from './gate.ts'
import type { PaceBy } from './pace-by.ts'
import type { Pacer } from './pacer.ts'
import type { AllowedVerdict } from './robots-check.ts'

/** The options of a gate for pace and concurrency. All have defaults. */
export interface PacingOptions {
  /**
   * The shortest delay between two requests to one origin, whatever its robots.txt says. Milliseconds; default 1,000. The gate keeps
   * delays between the starts of requests, and between the moments at which they are sent, if
   * it can see those. With an HTTP client that does not show them, requests may arrive closer
   * together: the first request of a connection also waits for the connection.
   */
  readonly minDelayMs?: number | undefined
  /**
   * The longest delay that you accept. A site that asks for a longer one gets this one, and the permit says so (`because: 'cap'`).
   * Milliseconds; default: no limit. It does not shorten a Retry-After or a visit-time.
   */
  readonly maxDelayMs?: number | undefined
  /**
   * Makes the delay after each request at least this many times what the request took, so that a slow site gets longer pauses (Heritrix's
   * delay-factor, Mercator's rule). The delay is at most `maxDelayMs`, or 30 seconds if that is not set. How long a request takes is
   * measured from its start until `release`. From 0 to 100. Default 0: off. With `pauseFrom: 'start'` only factors above 1 have an effect.
   */
  readonly delayFactor?: number | undefined
  /**
   * Where the delays begin: at the `start` of a request, or at its `end`, that is at `release`. With `end`, at most one request of each pace
   * key is under way, so `maxConcurrentPerOrigin` can only be 1. Default `start`.
   */
  readonly pauseFrom?: 'start' | 'end' | undefined
  /** The shortest delay between two requests to all hosts of one registrable domain. Milliseconds; default 0: none. */
  readonly minDelayPerDomainMs?: number | undefined
  /**
   * The shortest delay between two requests to all hosts with one IP address. Milliseconds; default 0: none. If a host has several
   * addresses, the first in alphabetical order counts.
   */
  readonly minDelayPerAddressMs?: number | undefined
  /**
   * How many requests to one origin may be under way at once. A request is under way from its start until `release`; with `politely`,
   * until its headers have arrived. Default 2, or 1 with `pauseFrom: 'end'`.
   */
  readonly maxConcurrentPerOrigin?: number | undefined
  /**
   * How many requests to all hosts of one site may be under way at once. A site is a registrable
   * domain (`example.co.uk`), or a tenant of a platform (`a.github.io`). This limit keeps a site
   * with many hosts and slow pages from occupying all of `maxConcurrent`. All tenants of a platform
   * together may have four times as many requests under way, but at most half of `maxConcurrent`.
   * Default 8, or `maxConcurrentPerOrigin` if that is larger.
   */
  readonly maxConcurrentPerDomain?: number | undefined
  /** How many requests to all hosts with one IP address may be under way at once. Default: no limit. */
  readonly maxConcurrentPerAddress?: number | undefined
  /**
   * How many requests may be under way at once in all, not counting exempt slow ones
   * (`slowAfterMs`). Default 64.
   */
  readonly maxConcurrent?: number | undefined
  /**
   * After this time a request that is under way is slow. If another request then waits for
   * `maxConcurrent`, a slow request no longer counts towards it. So sites whose responses never end
   * cannot occupy all of `maxConcurrent`. The same applies to the limit for all tenants of a
   * platform. A slow request still counts towards the limits for its origin, site and address. At
   * most four times `maxConcurrent` slow requests are exempt. Milliseconds; default 10,000. With
   * `Infinity` no request is exempt, and `maxConcurrent` is never exceeded.
   */
  readonly slowAfterMs?: number | undefined
  /** Which requests share a pace and the limit `maxConcurrentPerOrigin`. Default `origin`. */
  readonly paceBy?: PaceBy | undefined
  /** Keeps the pace. Default: a `LocalPacer`, which keeps it for this gate only. */
  readonly pacer?: Pacer | undefined
}

/** The validated options, with defaults applied. */
export interface Pacing {
  readonly minDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly delayFactor: number
  readonly pauseFrom: 'start' | 'end'
  readonly minDelayPerDomainMs: number
  readonly minDelayPerAddressMs: number
  readonly maxConcurrentPerOrigin: number
  readonly maxConcurrentPerDomain: number
  /** Infinity for no limit. */
  readonly maxConcurrentPerAddress: number
  readonly maxConcurrent: number
  /** Infinity for never. */
  readonly slowAfterMs: number
  readonly paceBy: PaceBy
  readonly pacer: Pacer | undefined
  readonly lookup: LookupFunction | undefined
}

const PACING_OPTIONS: Readonly<Record<keyof PacingOptions, true>> = {
  minDelayMs: true,
  maxDelayMs: true,
  delayFactor: true,
  pauseFrom: true,
  minDelayPerDomainMs: true,
  minDelayPerAddressMs: true,
  maxConcurrentPerOrigin: true,
  maxConcurrentPerDomain: true,
  maxConcurrentPerAddress: true,
  maxConcurrent: true,
  slowAfterMs: true,
  paceBy: true,
  pacer: true,
}

/** The names of all options of a gate. */
export const GATE_OPTIONS: Readonly<Record<keyof PoliteGateOptions, true>> = {
  robots: true,
  now: true,
  lookup: true,
  ...PACING_OPTIONS,
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
export function pacingOf(options: PacingOptions, lookup: LookupFunction | undefined): Pacing {
  const { minDelayMs = 1_000, maxDelayMs, maxConcurrent = DEFAULT_CONCURRENT } = options
  const { paceBy = 'origin', pacer, delayFactor = 0, pauseFrom = 'start' } = options
  const { maxConcurrentPerOrigin = pauseFrom === 'end' ? 1 : 2 } = options
  const { maxConcurrentPerDomain = Math.max(DEFAULT_CONCURRENT_PER_DOMAIN, maxConcurrentPerOrigin) } = options
  const { minDelayPerDomainMs = 0, minDelayPerAddressMs = 0, maxConcurrentPerAddress } = options
  const { slowAfterMs = DEFAULT_SLOW_AFTER_MS } = options
  if (pauseFrom === 'end' && Number(maxConcurrentPerOrigin) > 1)
    throw new OptionError(
      'maxConcurrentPerOrigin',
      `is ${maxConcurrentPerOrigin}; with pauseFrom: 'end' only 1 is possible`,
    )
  const isUncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  return {
    minDelayMs: number('minDelayMs', minDelayMs, { min: 0 }),
    maxDelayMs: isUncapped ? undefined : number('maxDelayMs', maxDelayMs, { min: 0 }),
    delayFactor: number('delayFactor', delayFactor, { min: 0, max: 100, example: 5 }),
    pauseFrom: oneOf('pauseFrom', pauseFrom, PAUSE_FROM_VALUES),
    minDelayPerDomainMs: number('minDelayPerDomainMs', minDelayPerDomainMs, { min: 0 }),
    minDelayPerAddressMs: number('minDelayPerAddressMs', minDelayPerAddressMs, { min: 0 }),
    maxConcurrentPerOrigin: integer('maxConcurrentPerOrigin', maxConcurrentPerOrigin, { min: 1, example: 2 }),
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
    paceBy: oneOf('paceBy', paceBy, PACE_BY_VALUES),
    pacer: withMethods('pacer', pacer, PACER_METHODS, `a Pacer, with the methods ${PACER_METHODS.join(', ')}`),
    lookup: callable('lookup', lookup, 'a function like dns.lookup'),
  }
}

/** Combines the caller's delays with what robots.txt asks for. */
export function paceLimitsOf(
  { crawlDelayMs, requestRates, visitTimes }: AllowedVerdict,
  { minDelayMs, maxDelayMs, delayFactor, pauseFrom }: Pacing,
): PaceLimits {
  return { ownDelayMs: minDelayMs, maxDelayMs, crawlDelayMs, requestRates, visitTimes, pauseFrom, delayFactor }
}
