// Checks the options of a gate, and fills in their defaults: see option-table.ts.
import { type CrawlerRules, OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import { CLIENT_OPTIONS } from '@politely/fetcher/internal'
import type { PacingOptions } from '../pace/pacing-options.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'
import { checkedValues } from './fields.ts'
import type { PoliteGateOptions } from './gate-options.ts'
import { CHECKS, type CheckedPacing, defaultsFor, needsLongWay, PACING_OPTIONS } from './option-table.ts'
import { assertSitePacing, type SitePacing } from './site-pacing.ts'

/** The checked options of a gate. */
export interface Pacing extends CheckedPacing, SitePacing {
  readonly paceBy: PaceLevel
  /** The caller's function, if `paceBy` is `key`. */
  readonly keyOf: ((url: string) => string) | undefined
}

/** The names of all options of a gate. */
export const GATE_OPTIONS: Readonly<Record<keyof PoliteGateOptions, true>> = {
  robots: true,
  now: true,
  lookup: true,
  logger: true,
  evidence: true,
  ...PACING_OPTIONS,
}

/** Options of `politely`, which users write elsewhere. */
export const OPTIONS_OF_FETCH: Readonly<Record<string, string>> = {
  isRateLimited:
    'is an option of politely(fetch, { … }); without that fetch, report { rateLimited: true } to the permit of the request',
  onDisallowed: 'is an option of politely(fetch, { … })',
  retry: 'is an option of politely(fetch, { … })',
  callerTimeouts: 'is an option of politely(fetch, { … }); other clients count the wait, which maxWaitMs limits',
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
  const checked = checkedValues(options, CHECKS, defaultsFor(options))
  const { paceBy, pacer, rateLimitHeaders, countRobots, pauseFrom } = checked
  const useless = Object.entries({ rateLimitHeaders, countRobots }).find(([, isOn]) => isOn)
  if (useless !== undefined && pacer && typeof pacer.pause !== 'function')
    throw new OptionError(useless[0], 'has no effect with this `pacer`, which has no method pause; add the method')
  assertSitePacing(options, checked, pauseFrom)
  const isOwn = typeof paceBy === 'function'
  return {
    ...checked,
    paceBy: isOwn ? 'key' : paceBy,
    keyOf: isOwn ? paceBy : undefined,
    needsLongWay: needsLongWay(checked),
  }
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
