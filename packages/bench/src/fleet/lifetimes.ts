// How long an answer for robots.txt holds, and how long a client waits after failures: what core
// says about entries that it made.
import { dueAt, type Entry, holdsUntil, type Outcome, settle } from '@politely/core/engine'
import { advance, defaultAccessPolicy, startAttempt } from '@politely/core/internal'

const ORIGIN = 'https://www.example.com'

/** Returns how long a response without cache headers is valid. Milliseconds. */
export function lifetimeOf(status: 200 | 404): number {
  return holdsUntil(entryAfter(undefined, status, 0), 0, defaultAccessPolicy)
}

/** Returns the waits after the first, second, … failed attempt. Milliseconds. */
export function retryWaits(count: number): number[] {
  let entry: Entry | undefined
  let now = 0
  return Array.from({ length: count }, () => {
    entry = entryAfter(entry, 503, now)
    const wait = dueAt(entry, defaultAccessPolicy) - now
    now += wait
    return wait
  })
}

function entryAfter(last: Entry | undefined, status: number, now: number): Entry {
  const request = startAttempt(`${ORIGIN}/robots.txt`)
  const outcome = advance(request, { kind: 'response', status, headers: {} }, defaultAccessPolicy) as Outcome
  return settle(last, ORIGIN, outcome, now, defaultAccessPolicy)
}
