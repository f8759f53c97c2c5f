// The bound form: what one file says to one crawler, as plain data.

import type { Dialect, DialectName } from '../dialect.ts'
import type { DayRange } from './day-range.ts'
import type { RequestRate } from './request-rate.ts'

/** The shape of `BoundRules`, and that of `packed`; another number is another shape, and so a miss. */
export const BOUND_VERSION = 1

/** What of a dialect rules need. */
export type BoundDialect = Pick<Dialect, 'name' | 'reading'>

/**
 * A crawler's rules as plain data, for caches and other threads: it survives JSON and `structuredClone`. Read it with `restoreRules`.
 * It holds copies: nothing of the file stays in memory because of it.
 */
export interface BoundRules {
  readonly version: typeof BOUND_VERSION
  /** How the file was read: by name, or the reading of a dialect of one's own. */
  readonly dialect: DialectName | BoundDialect
  /** Whom the rules are for. */
  readonly productTokens: readonly string[]
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  /** The rules in order of strength, then the groups that they stand in. Octets, one character for each. */
  readonly packed: string
  /** Where in `packed` the groups begin. */
  readonly groupsAt: number
  readonly crawlDelayMs: number | undefined
  readonly requestRates: readonly RequestRate[]
  readonly visitTimes: readonly DayRange[]
  /** The whole file, octets, one character for each; only where it was asked to be kept. */
  readonly file: string | undefined
}
