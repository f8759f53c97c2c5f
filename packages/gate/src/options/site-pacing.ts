// Checks the options that can differ for one site: the options of a gate, and the options that the
// caller's function `pace` returns for an origin.
import { OptionError } from '@politely/core'
import { LRUCache } from '@politely/fetcher/internal'
import type { SitePacingOptions } from '../pace/pacing-options.ts'
import { assertFields, checkedValues } from './fields.ts'
import { type CheckedPacing, needsLongWay, SITE_CHECKS } from './option-table.ts'

/** The checked options that can differ for one site. */
export interface SitePacing extends Pick<CheckedPacing, keyof SitePacingOptions> {
  /** Whether requests need the long way, by these options and by the options of the gate. */
  readonly needsLongWay: boolean
}

/** For how many origins the options are cached. Our choice. */
export const MAX_CACHED_ORIGINS = 1_000

/**
 * Returns a function that returns the options of an origin. The caller's function `pace` is called
 * once for each origin that is not cached.
 */
export function sitePacingBy(pacing: CheckedPacing & SitePacing): (origin: string) => SitePacing {
  const { pace } = pacing
  if (pace === undefined) return () => pacing
  const cache = new LRUCache<string, SitePacing>({ max: MAX_CACHED_ORIGINS })
  return (origin) => {
    const cached = cache.get(origin)
    if (cached !== undefined) return cached
    const given: unknown = pace(origin)
    const site = given === undefined ? pacing : sitePacingOf(origin, given as SitePacingOptions, pacing)
    cache.set(origin, site)
    return site
  }
}

function sitePacingOf(origin: string, given: SitePacingOptions, pacing: CheckedPacing): SitePacing {
  const place = `pace(${JSON.stringify(origin)})`
  assertFields(place, given, '{ minDelayMs: 5_000 }', SITE_CHECKS)
  const checked = checkedValues<SitePacingOptions, CheckedPacing>(given, SITE_CHECKS, pacing, `${place}.`)
  assertSitePacing(given, checked, pacing.pauseFrom, `${place}.`)
  return { ...checked, needsLongWay: needsLongWay(checked) }
}

/**
 * Checks options that depend on each other.
 * @param given What the caller wrote.
 * @param prefix The text before the names of the options in error messages.
 * @throws {OptionError} for options that contradict each other.
 */
export function assertSitePacing(
  given: SitePacingOptions,
  { minDelayMs, maxDelayMs, maxConcurrentPerKey }: Pick<CheckedPacing, keyof SitePacingOptions>,
  pauseFrom: 'start' | 'end',
  prefix = '',
): void {
  if (pauseFrom === 'end' && maxConcurrentPerKey > 1) {
    throw new OptionError(
      `${prefix}maxConcurrentPerKey`,
      `is ${maxConcurrentPerKey}; with pauseFrom: 'end' only 1 is possible`,
    )
  }
  // A default of minDelayMs may be longer: the cap is for what the site asks for.
  if (given.minDelayMs !== undefined && maxDelayMs !== undefined && minDelayMs > maxDelayMs) {
    throw new OptionError(
      `${prefix}minDelayMs`,
      `${minDelayMs} is greater than maxDelayMs, which is ${maxDelayMs}; write a smaller minDelayMs or a larger maxDelayMs`,
    )
  }
}
