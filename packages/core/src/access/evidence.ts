// For how long robots.txt has been unreachable, as far as failed attempts show it. RFC 9309 §2.3.1.4.
//
// After 30 days without an answer everything may be allowed, so the days must be real ones. The time between two failed attempts
// counts, and the time after the last one does not. One gap counts for a sixth of the days at most. A single jump of the clock,
// or a single long time without an attempt, is therefore never enough: at least seven attempts must have failed.
import { type Entry, isBlocked, isClockBack } from './entry.ts'
import type { Unreachable } from './outcome.ts'
import { type AccessPolicy, DAY_MS } from './policy.ts'

/** Seven attempts have six gaps between them. */
const GAPS = 6

/** The most that one gap counts under any policy, and so in any stored entry. */
export const LONGEST_GAP_MS: number = (30 * DAY_MS) / GAPS

/** The most that one gap counts under this policy. */
function longestGapMs({ afterDays }: AccessPolicy): number {
  return Math.min(Math.ceil((afterDays * DAY_MS) / GAPS), LONGEST_GAP_MS)
}

/** Returns what an entry says about failures after one more failed attempt, which ended at `now`. */
export function afterFailure(
  last: Entry | undefined,
  outcome: Unreachable,
  now: number,
  policy: AccessPolicy,
): Pick<Entry, 'failures' | 'unreachableSince' | 'unreachableForMs'> {
  if (last?.unreachableSince === undefined) return { failures: 1, unreachableSince: now, unreachableForMs: 0 }
  const { failures, unreachableSince, unreachableForMs, latest } = last
  // That we refused an address says nothing about the site.
  const longestMs = isBlocked(outcome) || isBlocked(latest) ? 0 : longestGapMs(policy)
  // A step back of the clock is subtracted in full, so a clock that jumps to and fro adds nothing.
  const gapMs = Math.min(now - latest.at, longestMs)
  return {
    failures: failures + 1,
    unreachableSince: Math.min(unreachableSince, now),
    unreachableForMs: Math.max(0, unreachableForMs + gapMs),
  }
}

/**
 * Returns whether robots.txt has been unreachable for `afterDays`. An entry from a store counts for no more than this policy would have
 * counted for as many failures.
 */
export function isLongLost(entry: Entry, now: number, policy: AccessPolicy): boolean {
  const { failures, unreachableForMs } = entry
  const knownMs = isClockBack(entry, now, policy) ? 0 : unreachableForMs
  return Math.min(knownMs, (failures - 1) * longestGapMs(policy)) >= policy.afterDays * DAY_MS
}
