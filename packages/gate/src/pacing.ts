// What a caller may choose about pace, checked at construction.
import type { LookupFunction } from 'node:net'
import { OptionError } from '@politely/core'
import type { PaceBy } from './pace-by.ts'
import type { Pacer } from './pacer.ts'

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
  readonly maxConcurrent: number
  readonly paceBy: PaceBy
  readonly pacer: Pacer | undefined
  readonly lookup: LookupFunction | undefined
}

const KNOWN: Readonly<Record<keyof PacingOptions, true>> = {
  minDelayMs: true,
  maxDelayMs: true,
  maxConcurrentPerOrigin: true,
  maxConcurrent: true,
  paceBy: true,
  pacer: true,
}

const PACE_BY: readonly PaceBy[] = ['origin', 'host', 'domain', 'address']
const PACER_METHODS: readonly (keyof Pacer)[] = ['reserve', 'giveBack', 'report', 'foresee']

/** These options, taken out of others. */
export function pacingOptionsIn(options: PacingOptions): PacingOptions {
  const { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrent, paceBy, pacer } = options
  return { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrent, paceBy, pacer }
}

/** The options without these. */
export function withoutPacing<T extends PacingOptions>(options: T): Omit<T, keyof PacingOptions> {
  const { minDelayMs, maxDelayMs, maxConcurrentPerOrigin, maxConcurrent, paceBy, pacer, ...others } = options
  return others
}

/** @throws {OptionError} naming the option, what is wrong with it, and what to write instead. */
export function pacingOf(options: PacingOptions, lookup: LookupFunction | undefined): Pacing {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(KNOWN, name)) {
      const known = ['robots', 'now', 'lookup', ...Object.keys(KNOWN)].join(', ')
      throw new OptionError(name, `there is no such option; known are ${known}`)
    }
  }
  const { minDelayMs = 1_000, maxDelayMs, maxConcurrentPerOrigin = 2, maxConcurrent = 64 } = options
  const { paceBy = 'origin', pacer } = options
  if (!PACE_BY.includes(paceBy)) {
    throw new OptionError('paceBy', `${shown(paceBy)} is not known; write one of ${PACE_BY.join(', ')}`)
  }
  if (pacer !== undefined && PACER_METHODS.some((name) => typeof pacer?.[name] !== 'function')) {
    throw new OptionError('pacer', `must be a Pacer, with the methods ${PACER_METHODS.join(', ')}`)
  }
  if (lookup !== undefined && typeof lookup !== 'function') {
    throw new OptionError('lookup', 'must be a function like dns.lookup')
  }
  const uncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  return {
    minDelayMs: milliseconds('minDelayMs', minDelayMs),
    maxDelayMs: uncapped ? undefined : milliseconds('maxDelayMs', maxDelayMs),
    maxConcurrentPerOrigin: count('maxConcurrentPerOrigin', maxConcurrentPerOrigin),
    maxConcurrent: count('maxConcurrent', maxConcurrent),
    paceBy,
    pacer,
    lookup,
  }
}

function milliseconds(option: string, value: number): number {
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value
  throw new OptionError(option, `${shown(value)} does not do; write milliseconds, 0 or more`)
}

function count(option: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value
  throw new OptionError(option, `${shown(value)} does not do; write a whole number, 1 or more`)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
