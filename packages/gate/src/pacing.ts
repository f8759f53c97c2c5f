// What a caller may choose about pace, checked at construction.
import type { LookupFunction } from 'node:net'
import type { PaceLimits } from '@politely/core'
import { assertKnown, callable, integer, number, oneOf, withMethods } from '@politely/fetcher/option-checks'
import type { PaceBy } from './pace-by.ts'
import type { Pacer } from './pacer.ts'
import type { AllowedVerdict } from './robots-check.ts'

export interface PacingOptions {
  /**
   * The least pause between two requests to one origin, whatever its robots.txt says. Milliseconds; default 1,000. Pauses are kept
   * between the moments at which requests leave: on the way they may come closer, by what connecting takes.
   */
  readonly minDelayMs?: number | undefined
  /**
   * The longest pause you are ready to keep. A site that asks for more gets this, and the pass says so (`because: 'cap'`).
   * Milliseconds; default none: what a site asks is kept. It shortens no Retry-After and no visit-time.
   */
  readonly maxDelayMs?: number | undefined
  /** Requests under way at once to one origin, from leaving to `leave`; for `politely`, until the headers are there. Default 2. */
  readonly maxConcurrentPerOrigin?: number | undefined
  /**
   * Requests under way at once to all hosts of one registrable domain (`example.co.uk`). It keeps a site with many hosts and slow pages from
   * occupying all of `maxConcurrent`. Default 8, or `maxConcurrentPerOrigin` if that is larger.
   */
  readonly maxConcurrentPerDomain?: number | undefined
  /** Requests under way at once to all origins together. Default 64. */
  readonly maxConcurrent?: number | undefined
  /** What shares a pace, and `maxConcurrentPerOrigin`. Default `origin`. */
  readonly paceBy?: PaceBy | undefined
  /** Who keeps the pace. Default: this gate does, for this process. */
  readonly pacer?: Pacer | undefined
}

/** The options with their defaults, checked. */
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

const KNOWN: Readonly<Record<keyof PacingOptions, true>> = {
  minDelayMs: true,
  maxDelayMs: true,
  maxConcurrentPerOrigin: true,
  maxConcurrentPerDomain: true,
  maxConcurrent: true,
  paceBy: true,
  pacer: true,
}

const DEFAULT_PER_DOMAIN = 8
const PACE_BY: readonly PaceBy[] = ['origin', 'host', 'domain', 'address']
const PACER_METHODS: readonly (keyof Pacer)[] = ['reserve', 'cancel', 'report', 'estimate']

/** These options, taken out of others. */
export function pacingOptionsIn(options: PacingOptions): PacingOptions {
  const { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrentPerDomain, maxConcurrent, paceBy, pacer } =
    options
  return { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrentPerDomain, maxConcurrent, paceBy, pacer }
}

/** The options without these. */
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

/** @throws {OptionError} naming the option, what is wrong with it, and what to write instead. */
export function pacingOf(options: PacingOptions, lookup: LookupFunction | undefined): Pacing {
  assertKnown(options, { robots: true, now: true, lookup: true, ...KNOWN })
  const { minDelayMs = 1_000, maxDelayMs, maxConcurrentPerOrigin = 2, maxConcurrent = 64 } = options
  const { maxConcurrentPerDomain = Math.max(DEFAULT_PER_DOMAIN, maxConcurrentPerOrigin) } = options
  const { paceBy = 'origin', pacer } = options
  const uncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  return {
    minDelayMs: number('minDelayMs', minDelayMs, { min: 0 }),
    maxDelayMs: uncapped ? undefined : number('maxDelayMs', maxDelayMs, { min: 0 }),
    maxConcurrentPerOrigin: integer('maxConcurrentPerOrigin', maxConcurrentPerOrigin, { min: 1 }),
    maxConcurrentPerDomain: integer('maxConcurrentPerDomain', maxConcurrentPerDomain, { min: 1 }),
    maxConcurrent: integer('maxConcurrent', maxConcurrent, { min: 1 }),
    paceBy: oneOf('paceBy', paceBy, PACE_BY),
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
