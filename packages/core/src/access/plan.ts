// What to do with an entry: use it, refresh it, or fetch robots.txt first. RFC 9309 §2.3.1.4 and
// §2.4.
import type { Copy } from './copy.ts'
import { type Entry, holdsUntil, isAttemptDue } from './entry.ts'
import type { AccessPolicy } from './policy.ts'
import { stateOf, states } from './state.ts'

/**
 * What the client does when the caller checks a URL:
 * - `answer`: use the entry.
 * - `answer-and-refresh`: use the entry, and fetch robots.txt again in the background.
 * - `obtain`: fetch robots.txt first.
 * @inline
 */
export type Plan = 'answer' | 'answer-and-refresh' | 'obtain'

/**
 * Returns what to do with an entry at the time `now` when the caller checks a URL. RFC 9309 §2.4.
 *
 * @param entry The entry of the URL's origin. Undefined if the origin is unknown.
 * @param now Milliseconds since 1970.
 */
export function plan(entry: Entry | undefined, now: number, policy: AccessPolicy): Plan {
  if (entry === undefined) return 'obtain'
  const isDue = isAttemptDue(entry, now, policy)
  const until = holdsUntil(entry, now, policy)
  if (now >= until) return isDue ? 'obtain' : 'answer'
  const { latest, held } = entry
  // No early refresh in the first half of a result's time, however short that time is, nor during
  // the wait after a failure.
  const isEarly = now < ((held?.attempt ?? latest).at + until) / 2 || now < until - policy.refreshAheadMs
  const isWaiting = held !== undefined && !isDue
  return isEarly || isWaiting ? 'answer' : 'answer-and-refresh'
}

/**
 * Returns the end of the time, from `latest.at` on, in which the plan is always `answer` and a
 * fresh copy decides. Callers need not call `plan` before it. Returns 0 for an entry where this
 * cannot be known in advance. Milliseconds since 1970.
 */
export function freshUntil(entry: Entry, policy: AccessPolicy): number {
  const { latest, held } = entry
  if (latest.kind !== 'success' || held !== undefined) return 0
  const until = holdsUntil(entry, latest.at, policy)
  return Math.min(until, Math.max((latest.at + until) / 2, until - policy.refreshAheadMs))
}

/** What an entry means for all URLs of its origin at a given time. */
export type OriginAccess =
  /** The rules of this copy decide. It is `stale` if the deciding attempt did not confirm it. */
  | { readonly holds: 'rules'; readonly copy: Copy; readonly freshness: 'fresh' | 'stale' }
  /** Everything is allowed: §2.3.1.3, or after `afterDays` of failed attempts §2.3.1.4. */
  | { readonly holds: 'allow-all'; readonly because: 'unavailable' | 'unreachable-too-long' }
  /** Everything is disallowed: §2.3.1.4, or after 401 or 403 in a dialect from before RFC 9309. */
  | { readonly holds: 'disallow-all'; readonly because: 'unreachable' | 'restricted' }

/**
 * Returns what decides about the URLs of the entry's origin at the time `now`: the rules of a copy,
 * or everything is allowed or disallowed.
 *
 * @param now Milliseconds since 1970.
 */
export function originAccessOf(entry: Entry, now: number, policy: AccessPolicy): OriginAccess {
  const state = stateOf(entry, now, policy)
  switch (state) {
    case 'unavailable':
      return { holds: 'allow-all', because: 'unavailable' }
    case 'long-lost':
      return { holds: 'allow-all', because: 'unreachable-too-long' }
    case 'restricted':
      return { holds: 'disallow-all', because: 'restricted' }
    case 'unknown':
    case 'lost':
      return { holds: 'disallow-all', because: 'unreachable' }
    case 'rules':
    case 'unavailable-with-copy':
    case 'lost-with-copy':
    case 'long-lost-with-copy': {
      const freshness = states[state].holds === 'fresh-rules' ? 'fresh' : 'stale'
      return { holds: 'rules', copy: entry.copy as Copy, freshness }
    }
  }
}
