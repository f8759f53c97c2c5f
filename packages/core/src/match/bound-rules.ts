// One crawler's rules of one file, as plain data.
import type { Dialect, DialectName } from '../dialect.ts'
import type { DayRange, RequestRate } from '../timed-records.ts'

/**
 * The version of `BoundRules` and of the format of `packed`. `restoreRules` rejects data of another
 * version.
 */
export const BOUND_VERSION = 4

/**
 * The part of a dialect that the rules depend on.
 * @inline
 */
export type BoundDialect = Pick<Dialect, 'name' | 'parsing'>

/**
 * A crawler's rules as plain data, for caches and other threads. The data survives JSON and
 * `structuredClone`; `restoreRules` reads it. It contains copies only, so it keeps no part of the
 * file in memory.
 */
export interface BoundRules {
  /** The version of this format. */
  readonly version: typeof BOUND_VERSION
  /**
   * The dialect that the file was parsed in: its name, or the parsing rules of a custom dialect.
   */
  readonly dialect: DialectName | BoundDialect
  /** The crawler's product tokens. */
  readonly productTokens: readonly string[]
  /** The origin that the file applies to; undefined if the caller did not give one. */
  readonly origin: string | undefined
  /**
   * The rules in the order of the file, then their groups (match/packed-rules.ts). One character
   * for each byte.
   */
  readonly packed: string
  /** The offset of the groups in `packed`. */
  readonly groupsAt: number
  /** The site's Crawl-delay for the crawler, in milliseconds; undefined if it has none. */
  readonly crawlDelayMs: number | undefined
  /** The site's Request-rates for the crawler; an empty list if it has none. */
  readonly requestRates: readonly RequestRate[]
  /** The site's Visit-times for the crawler; an empty list means at any time. */
  readonly visitTimes: readonly DayRange[]
  /** The whole file, one character for each byte; undefined unless the caller asked to keep it. */
  readonly file: string | undefined
}
