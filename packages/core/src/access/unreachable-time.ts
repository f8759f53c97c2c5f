// For how long robots.txt has been unreachable, as far as failed attempts show. RFC 9309 §2.3.1.4.
//
// After 30 days without robots.txt a client may allow everything, so the client must have tried
// throughout the 30 days. The time between two failed attempts (a gap) counts; the time since the
// last one does not. One gap counts for at most a sixth of the 30 days. A single jump of the clock,
// or one long time without an attempt, is therefore never enough: at least seven attempts must have
// failed.

import { DAY_MS } from '../timed-records.ts'
import { type Entry, isOwnFailure, wasClockSetBack } from './entry.ts'
import type { Unreachable } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'

/** The fewest gaps that can add up to `afterDays`. Seven attempts have six gaps between them. */
const MIN_GAPS = 6

/** The most that one gap can count under any policy, and so in any stored entry: five days. */
export const MAX_GAP_MS: number = (30 * DAY_MS) / MIN_GAPS

/** Returns the most that one gap counts under this policy. */
function maxGapMs({ afterDays }: AccessPolicy): number {
  return Math.min(Math.ceil((afterDays * DAY_MS) / MIN_GAPS), MAX_GAP_MS)
}

/**
 * Returns the failure fields of the next entry after one more failed attempt, which ended at `now`.
 */
export function countFailure(
  last: Entry | undefined,
  outcome: Unreachable,
  now: number,
  policy: AccessPolicy,
): Pick<Entry, 'failures' | 'unreachableSince' | 'unreachableForMs'> {
  if (last?.unreachableSince === undefined) return { failures: 1, unreachableSince: now, unreachableForMs: 0 }
  const { failures, unreachableSince, unreachableForMs, latest } = last
  const longestMs = isOwnFailure(outcome) || isOwnFailure(latest) ? 0 : maxGapMs(policy)
  // A negative gap is subtracted in full, so a clock that jumps back and forth adds nothing.
  const gapMs = Math.min(now - latest.at, longestMs)
  return {
    failures: failures + 1,
    unreachableSince: Math.min(unreachableSince, now),
    unreachableForMs: Math.max(0, unreachableForMs + gapMs),
  }
}

/**
 * Returns whether robots.txt has been unreachable for `afterDays`. The count of an entry from a
 * store is bounded by what this policy would have counted for the same number of failures.
 */
export function isUnreachableTooLong(entry: Entry, now: number, policy: AccessPolicy): boolean {
  const { failures, unreachableForMs } = entry
  const knownMs = wasClockSetBack(entry, now, policy) ? 0 : unreachableForMs
  return Math.min(knownMs, (failures - 1) * maxGapMs(policy)) >= policy.afterDays * DAY_MS
}
