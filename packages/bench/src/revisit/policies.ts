// When to visit a page again: at fixed intervals, as Nutch does, and as `nextVisit` says.
import { type NextVisitOptions, nextVisit } from '@politely/core/revisit'
import { DAY_MS } from './patterns.ts'
import type { Policy } from './simulate.ts'

/** Visits each page at equal intervals. */
export const fixed =
  (intervalMs: number): Policy =>
  () =>
  (history) =>
    (history.at(-1)?.at ?? 0) + intervalMs

/** Visits each page when `nextVisit` says. */
export const adaptive =
  (options: NextVisitOptions): Policy =>
  () =>
  (history) =>
    nextVisit(history, options).at ?? Number.POSITIVE_INFINITY

/**
 * Nutch's AdaptiveFetchSchedule with its defaults: from 30 days on, a change makes the interval 20 %
 * shorter and no change 40 % longer, and the visits are synchronized with the last change. A page
 * that is gone waits 1.5 times as long each time, up to 90 days (AbstractFetchSchedule).
 */
export const nutchAdaptive: Policy = () => {
  let intervalMs = 30 * DAY_MS
  let modifiedAt = 0
  return (history) => {
    const { at = 0, status, changed, lastModified } = history.at(-1) ?? {}
    if (status !== 200) {
      intervalMs = Math.min(intervalMs * 1.5, 90 * DAY_MS)
      return at + intervalMs
    }
    if (changed) modifiedAt = lastModified ?? at
    if (history.length > 1) intervalMs *= changed ? 1 - 0.2 : 1 + 0.4
    const sinceMs = at - modifiedAt
    intervalMs = Math.min(Math.max(intervalMs, sinceMs, 60_000), 365 * DAY_MS)
    return Math.max(at - sinceMs * 0.3 + intervalMs, at + 60_000)
  }
}
