// Checks the options that can differ for one site: the options of a gate, and the options that the
// caller's function `pace` returns for an origin.
import { OptionError } from '@politely/core'
import { integer, number } from '@politely/fetcher/internal'
import { LRUCache } from 'lru-cache'
import type { ObeyOptions, SitePacingOptions } from '../pace/pacing-options.ts'
import { circuitOf, type SiteCircuit } from './circuit.ts'
import { assertFields, flag } from './fields.ts'

/** The checked options that can differ for one site. */
export interface SitePacing {
  readonly minDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly delayFactor: number
  readonly jitter: number
  readonly maxConcurrentPerKey: number
  readonly obey: Obedience
  /** Undefined without a circuit. */
  readonly circuit: SiteCircuit | undefined
}

/** What of robots.txt is obeyed. */
interface Obedience {
  readonly rules: boolean
  readonly delays: boolean
}

const SITE_OPTIONS: Readonly<Record<keyof SitePacingOptions, true>> = {
  minDelayMs: true,
  maxDelayMs: true,
  delayFactor: true,
  jitter: true,
  maxConcurrentPerKey: true,
  obey: true,
  circuit: true,
}
const OBEY_OPTIONS: Readonly<Record<keyof ObeyOptions, true>> = { rules: true, delays: true }

/** For how many origins the options are cached. Our choice. */
export const MAX_CACHED_ORIGINS = 1_000

/**
 * Returns a function that returns the options of an origin. The caller's function `pace` is called
 * once for each origin that is not cached.
 */
export function sitePacingBy(
  pacing: {
    readonly pace: ((origin: string) => SitePacingOptions | undefined) | undefined
    readonly pauseFrom: 'start' | 'end'
  } & SitePacing,
): (origin: string) => SitePacing {
  const { pace, pauseFrom } = pacing
  if (pace === undefined) return () => pacing
  const cache = new LRUCache<string, SitePacing>({ max: MAX_CACHED_ORIGINS })
  return (origin) => {
    const cached = cache.get(origin)
    if (cached !== undefined) return cached
    const given: unknown = pace(origin)
    const site = given === undefined ? pacing : siteOptionsOf(origin, given as SitePacingOptions, pacing, pauseFrom)
    cache.set(origin, site)
    return site
  }
}

function siteOptionsOf(
  origin: string,
  given: SitePacingOptions,
  defaults: SitePacing,
  pauseFrom: 'start' | 'end',
): SitePacing {
  const place = `pace(${JSON.stringify(origin)})`
  assertFields(place, given, '{ minDelayMs: 5_000 }', SITE_OPTIONS)
  return checkedSitePacing(given, defaults, pauseFrom, `${place}.`)
}

/**
 * @param prefix The text before the names of options in error messages.
 * @throws {OptionError} for an invalid option.
 */
export function checkedSitePacing(
  options: SitePacingOptions,
  defaults: SitePacing,
  pauseFrom: 'start' | 'end',
  prefix = '',
): SitePacing {
  const { minDelayMs = defaults.minDelayMs, delayFactor = defaults.delayFactor, jitter = defaults.jitter } = options
  const { maxDelayMs = defaults.maxDelayMs, maxConcurrentPerKey = defaults.maxConcurrentPerKey, obey = {} } = options
  const of = (name: keyof SitePacingOptions) => prefix + name
  if (pauseFrom === 'end' && Number(maxConcurrentPerKey) > 1) {
    throw new OptionError(
      of('maxConcurrentPerKey'),
      `is ${maxConcurrentPerKey}; with pauseFrom: 'end' only 1 is possible`,
    )
  }
  // A default of minDelayMs may be longer: the cap is for what the site asks for.
  if (options.minDelayMs !== undefined && Number(minDelayMs) > Number(maxDelayMs)) {
    throw new OptionError(
      of('minDelayMs'),
      `${minDelayMs} is greater than maxDelayMs, which is ${maxDelayMs}; write a smaller minDelayMs or a larger maxDelayMs`,
    )
  }
  const circuit = circuitOf(options.circuit, defaults.circuit, prefix)
  assertFields(of('obey'), obey, '{ rules: false }', OBEY_OPTIONS)
  const isUncapped = maxDelayMs === undefined || maxDelayMs === Number.POSITIVE_INFINITY
  return {
    minDelayMs: number(of('minDelayMs'), minDelayMs, { min: 0 }),
    maxDelayMs: isUncapped ? undefined : number(of('maxDelayMs'), maxDelayMs, { min: 0 }),
    delayFactor: number(of('delayFactor'), delayFactor, { min: 0, max: 100, example: 5 }),
    jitter: number(of('jitter'), jitter, { min: 0, max: 1, example: 0.5 }),
    maxConcurrentPerKey: integer(of('maxConcurrentPerKey'), maxConcurrentPerKey, { min: 1, example: 2 }),
    circuit,
    obey: {
      rules: flag(`${of('obey')}.rules`, obey.rules ?? defaults.obey.rules),
      delays: flag(`${of('obey')}.delays`, obey.delays ?? defaults.obey.delays),
    },
  }
}
