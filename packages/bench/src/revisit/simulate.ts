// Visits pages for a simulated year, and says how fresh the copies were.
import type { PastVisit } from '@politely/core/revisit'
import { type Pattern, YEAR_MS } from './patterns.ts'

/** Returns when to visit next, after the last visit of a history. Milliseconds. */
export type Policy = () => (history: readonly PastVisit[]) => number

export interface Figures {
  /** Visits to a page in the year, on average. */
  readonly requests: number
  /** The share of time in which a copy equals its page. */
  readonly freshness: number
  /** For how long a copy has differed from its page, averaged over time. 0 while it is equal. */
  readonly ageMs: number
}

/** The number of visits that a policy sees. */
const MAX_HISTORY = 64

/** @param hasDates Whether responses have `Last-Modified`. */
export function simulate(pages: readonly Pattern[], policy: Policy, hasDates: boolean): Figures {
  const results = pages.map((page) => simulatePage(page, policy(), hasDates))
  const comparable = results.filter((_, i) => !pages[i]?.alwaysDiffers)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    requests: mean(results.map(({ requests }) => requests)),
    freshness: mean(comparable.map(({ freshMs }) => freshMs / YEAR_MS)),
    ageMs: mean(comparable.map(({ ageTimesMs }) => ageTimesMs / YEAR_MS)),
  }
}

function simulatePage({ changes, ends, alwaysDiffers }: Pattern, next: ReturnType<Policy>, hasDates: boolean) {
  let history: PastVisit[] = []
  let [requests, freshMs, ageTimesMs, seen, at] = [0, 0, 0, 0, 0]
  while (at < YEAR_MS) {
    requests++
    const before = seen
    while ((changes[seen] ?? YEAR_MS) <= at) seen++
    const status = ends !== undefined && ends.at <= at ? ends.status : 200
    const lastModified = hasDates && status === 200 ? changes[seen - 1] : undefined
    const changed = requests === 1 || alwaysDiffers === true || seen > before
    history = [
      ...history.slice(1 - MAX_HISTORY),
      { at, status, changed, ...(lastModified !== undefined && { lastModified }) },
    ]
    const nextAt = Math.min(Math.max(next(history), at + 1), YEAR_MS)
    const staleMs = Math.max(0, nextAt - (changes[seen] ?? YEAR_MS))
    freshMs += nextAt - at - staleMs
    ageTimesMs += staleMs ** 2 / 2
    at = nextAt
  }
  return { requests, freshMs, ageTimesMs }
}
