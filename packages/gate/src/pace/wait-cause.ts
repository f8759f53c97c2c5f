// What a request waits for, and whose limit that is.
import type { PaceReason } from './pacer.ts'
import type { PaceBy } from './pacing-options.ts'

/**
 * What a request waits for: a concurrency limit, the circuit of its origin, or a slot. For a slot, the
 * pacer gives the reason.
 * @inline
 */
export type WaitReason = WaitCause['because']

/** The level of a pace key. `key`: a function of `paceBy` has chosen it. */
export type PaceLevel = PaceBy | 'key'

/**
 * The level of the limit that a request waits for: its origin, or what `paceBy` says (`key` for a
 * function); its registrable domain, site, platform or IP address; or the whole gate
 * (`maxConcurrent`).
 * @inline
 */
export type WaitLevel = WaitCause['level']

/** What a request waits for, and at which level. */
export interface WaitCause {
  readonly because: PaceReason | 'concurrency' | 'circuit'
  readonly level: PaceLevel | 'gate'
}

/** Each `PaceReason`. */
export const PACE_REASONS: Readonly<Record<PaceReason, true>> = {
  'own-delay': true,
  'crawl-delay': true,
  'request-rate': true,
  'visit-time': true,
  'retry-after': true,
  backoff: true,
  'rate-limit': true,
  cap: true,
  'slow-site': true,
  concurrency: true,
  'pacer-failure': true,
}
