// In how many cases of the conformance suite Politely gives the verdict of google/robotstxt.
// CONFORMANCE.md has these numbers, and says how they were found; a test compares both.
import type { DialectName } from '@politely/core'

export interface Agreement {
  /** The cases in which the verdict of google/robotstxt is binding for the dialect. */
  readonly cases: number
  readonly same: number
}

/** Undefined for the dialects of older standards, which google/robotstxt does not implement. */
export const agreements: Readonly<Partial<Record<DialectName, Agreement>>> = {
  rfc9309: { cases: 32_244, same: 32_244 },
  google: { cases: 54_213, same: 54_213 },
}
