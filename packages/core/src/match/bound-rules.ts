// What one file says to one crawler, as plain data.
import type { Dialect, DialectName } from '../dialect.ts'
import type { DayRange } from '../parse/day-range.ts'
import type { RequestRate } from '../parse/request-rate.ts'

/** The version of `BoundRules` and of the format of `packed`. Data of another version is not read. */
export const BOUND_VERSION = 3

/** The part of a dialect that rules need. */
export type BoundDialect = Pick<Dialect, 'name' | 'parsing'>

/**
 * A crawler's rules as plain data, for caches and other threads: it survives JSON and `structuredClone`. Read it with `restoreRules`. It
 * holds copies: no part of the file stays in memory because of it.
 */
export interface BoundRules {
  readonly version: typeof BOUND_VERSION
  /** How the file was read: by name, or the rules of reading of a custom dialect. */
  readonly dialect: DialectName | BoundDialect
  /** The crawler that the rules are for. */
  readonly productTokens: readonly string[]
  /** The origin that the file speaks for, if it was given. */
  readonly origin: string | undefined
  /** The rules in the order of the file, then the groups that they are in. Bytes, one character for each. */
  readonly packed: string
  /** Where in `packed` the groups begin. */
  readonly groupsAt: number
  readonly crawlDelayMs: number | undefined
  readonly requestRates: readonly RequestRate[]
  readonly visitTimes: readonly DayRange[]
  /** The whole file, bytes, one character for each; only where the caller asked to keep it. */
  readonly file: string | undefined
}
